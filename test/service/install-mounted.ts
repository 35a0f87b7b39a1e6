import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createHarness } from './harness.ts';

// Installs a damaged package where home is a mount point, and prints what went wrong: in a mount namespace of its own.
using harness = createHarness();
mkdirSync(harness.places.home);
spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'none', harness.places.home]);
const from = harness.package('1.0.0');
rmSync(join(from, 'LICENSE'));
const result = await harness.install({ from, configuration: harness.configuration() }).then(
  ({ outcome }) => outcome,
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
spawnSync('umount', [harness.places.home]);
process.stdout.write(result);
