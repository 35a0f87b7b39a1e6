import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { createHarness } from './harness.ts';

// Uninstalls twice where the places are mount points, and prints what it said: in a mount namespace of its own, which ends with it.
using harness = createHarness();
const mounted = [harness.places.state, harness.places.home];
for (const place of mounted) {
  mkdirSync(place);
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'none', place]);
}
await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
const results = [];
for (let time = 0; time < 2; time += 1) {
  const { state, left, problems } = await harness.uninstall();
  results.push({
    emptied: problems
      .filter((problem) => /is empty and stays/.test(problem))
      .map((t) => basename(t.split(' ')[0] ?? '')),
    state,
    left,
    isEmpty: mounted.every((place) => readdirSync(place).length === 0),
  });
}
for (const place of mounted) spawnSync('umount', [place]);
process.stdout.write(JSON.stringify(results));
