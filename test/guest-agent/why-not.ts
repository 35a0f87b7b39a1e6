import { spawnSync } from 'node:child_process';
import { whyNot } from '../host-install/image.ts';

/** Why the agent of Azure cannot run here, for the names of the tests that are skipped; empty where it can. */
export const whyNoAgent: string =
  whyNot('Debian 13 with waagent') ||
  (spawnSync('openssl', ['version']).status === 0 ? '' : ' (skipped: there is no openssl, which encrypts settings)');
