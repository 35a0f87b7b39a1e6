import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';

const { status } = spawnSync('unshare', ['--mount', 'true']);

/** Why nothing can be mounted here, for the name of a test that is skipped; empty where it can. */
export const noMounting = status === 0 ? '' : ' (skipped: this process may make no mount namespace; run it as root)';

/** Runs a script beside this file in a mount namespace of its own, which ends with it. @returns what it printed. */
export function inMountNamespace(script: string): string {
  const file = join(import.meta.dirname, script);
  const { stdout, stderr } = spawnSync('unshare', ['--mount', process.execPath, file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}
