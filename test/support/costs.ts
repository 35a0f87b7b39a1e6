import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect, inject } from 'vitest';
import { root } from './source-tree.ts';

/** CPU seconds of this process, and of all its children that have ended. `/proc/self/stat` counts those in hundredths. */
function spent(): { readonly own: number; readonly children: number } {
  const { user, system } = process.cpuUsage();
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [childUser = 0, childSystem = 0] = fields.split(' ').slice(13, 15).map(Number);
  return { own: (user + system) / 1e6, children: (childUser + childSystem) / 100 };
}

/** Runs before each test file when TEST_COSTS is set: what the file spends, with its imports. */
const before = spent();
afterAll(() => {
  const after = spent();
  const file = relative(root, expect.getState().testPath ?? '');
  const cost = { file, own: after.own - before.own, children: after.children - before.children };
  appendFileSync(inject('costs'), `${JSON.stringify(cost)}\n`);
});
