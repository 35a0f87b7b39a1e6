import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createHarness } from './harness.ts';

// Uninstalls where the state is empty and nothing can be removed beside it, and prints what went wrong: in a mount namespace of its own.
using harness = createHarness();
const above = dirname(harness.places.state);
mkdirSync(harness.places.state, { recursive: true });
spawnSync('mount', ['--bind', above, above]);
spawnSync('mount', ['-o', 'remount,bind,ro', above]);
const result = await harness.uninstall().then(
  ({ problems }) => problems.join(' '),
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
spawnSync('umount', [above]);
process.stdout.write(result);
