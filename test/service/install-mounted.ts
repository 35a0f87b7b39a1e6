import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createRig } from './rig.ts';

// Installs a damaged package where home is a mount point, and prints what went wrong: in a mount namespace of its own.
using rig = createRig();
mkdirSync(rig.places.home);
spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'none', rig.places.home]);
const from = rig.package('1.0.0');
rmSync(join(from, 'LICENSE'));
const told = await rig.install({ from, configuration: rig.configuration() }).then(
  ({ outcome }) => outcome,
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
spawnSync('umount', [rig.places.home]);
process.stdout.write(told);
