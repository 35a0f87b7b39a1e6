import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createHarness } from './harness.ts';

// Uninstalls what lies in the lower layer of an overlay, as in an image that is booted on one, and prints what it said: in a mount
// namespace of its own, which ends with it.
using harness = createHarness();
const { home, versions } = harness.places;
await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
await harness.install({ from: harness.package('2.0.0') });
const layers = join(harness.root, 'layers');
spawnSync('mkdir', [layers]);
spawnSync('mount', ['-t', 'tmpfs', 'none', layers]);
const [lower, upper, work] = ['lower', 'upper', 'work'].map((name) => join(layers, name));
for (const folder of [upper, work]) mkdirSync(String(folder));
spawnSync('cp', ['-a', home, String(lower)]);
const options = `redirect_dir=off,lowerdir=${lower},upperdir=${upper},workdir=${work}`;
spawnSync('mount', ['-t', 'overlay', '-o', options, 'overlay', home]);
let tried = '';
try {
  renameSync(join(versions, '1.0.0'), join(versions, 'elsewhere'));
} catch (error) {
  tried = String((error as NodeJS.ErrnoException).code);
}
const { left } = await harness.uninstall();
const isThere = existsSync(join(versions, '1.0.0')) || existsSync(join(versions, '2.0.0'));
for (const place of [home, layers]) spawnSync('umount', [place]);
process.stdout.write(JSON.stringify({ renaming: tried, left, isThere }));
