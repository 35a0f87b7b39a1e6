import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { doneSentences } from '../../src/service/sentences.ts';
import { createHarness } from './harness.ts';

// Installs twice where the command has no place, and prints what it said: in a mount namespace of its own, which ends with it.
using harness = createHarness();
const programs = dirname(dirname(harness.places.command));
mkdirSync(programs, { recursive: true });
spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', programs]);
const order = { from: harness.package('1.0.0'), configuration: harness.configuration() };
const done = [await harness.install(order), await harness.install(order)];
const hasCommand = existsSync(harness.places.command);
const units = (['administratorUnit', 'unit', 'packagedUnit'] as const).filter((name) =>
  existsSync(harness.places[name]),
);
await harness.uninstall();
spawnSync('umount', [programs]);
process.stdout.write(
  JSON.stringify({
    hasCommand,
    units,
    result: done.map(({ outcome, changed, command }) => ({ outcome, changed, command })),
    message: doneSentences(done[0] as (typeof done)[0], harness.machine.system).at(-1),
  }),
);
