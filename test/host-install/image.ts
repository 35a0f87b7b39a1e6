import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { because, whyNoNamespaces } from '../support/namespaces.ts';
import { isGone, makeControlGroup } from './control-group.ts';
import { ownName } from './own-name.ts';

/** What is kept from run to run. */
export const cache = process.env.HOST_TESTS_CACHE ?? '/var/cache/scheduled-events-bridge-tests';

/** Systems that were never booted, made by `prepare`; all but the first two by `prepare all`. */
export const images = {
  'Debian 13': join(cache, 'trixie-1'),
  'Debian 13 with waagent': join(cache, 'trixie-agent-1'),
  'Debian 12': join(cache, 'bookworm-1'),
  'Debian 11': join(cache, 'bullseye-1'),
} as const;
export type System = keyof typeof images;

/** Made by `prepare all`: the libraries of another processor, and what runs its programs. */
export const arm64 = { libraries: join(cache, 'arm64-1/libraries'), emulator: join(cache, 'arm64-1/emulator') };

/** Mounts, processes, host name, semaphores and control groups of its own. */
export const namespaces = ['-m', '-p', '-u', '-i', '-C', '-f', '--kill-child'] as const;

/** Why a system cannot be booted here, for the name of a test that is skipped; empty where it can. */
export const whyNot = (system: System): string => because(existsSync(images[system]) ? root() : missing(system));

/** The same of the one that most tests boot. */
export const whyNoMachine: string = whyNot('Debian 13');

/** Why nothing of another processor can be run here. */
export const whyNoArm64: string = because(
  existsSync(arm64.emulator) ? '' : 'test/host-install/prepare has made no arm64',
);

function missing(system: System): string {
  return `test/host-install/prepare has made no ${system}`;
}

function root(): string {
  const reason = whyNoNamespaces(namespaces);
  if (reason !== '') return reason;
  try {
    isGone(makeControlGroup(ownName('trial')));
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
