import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { doneSentences } from '../../src/cli/service/sentences.ts';
import { createRig } from './rig.ts';

// Installs twice where the command has no place, and prints what it said: in a mount namespace of its own, which ends with it.
using rig = createRig();
const programs = dirname(dirname(rig.places.command));
mkdirSync(programs, { recursive: true });
spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', programs]);
const order = { from: rig.package('1.0.0'), configuration: rig.configuration() };
const done = [await rig.install(order), await rig.install(order)];
const hasCommand = existsSync(rig.places.command);
const units = (['administratorUnit', 'unit', 'packagedUnit'] as const).filter((name) => existsSync(rig.places[name]));
await rig.uninstall();
spawnSync('umount', [programs]);
process.stdout.write(
  JSON.stringify({
    hasCommand,
    units,
    told: done.map(({ outcome, changed, command }) => ({ outcome, changed, command })),
    says: doneSentences(done[0] as (typeof done)[0], rig.places).at(-1),
  }),
);
