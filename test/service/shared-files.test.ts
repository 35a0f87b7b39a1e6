import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHarness, type Harness } from './harness.ts';

const inodeOf = ({ places }: Harness, version: string, file: string): number =>
  statSync(join(places.versions, version, file)).ino;

/** Files of any user but root may be changed. */
const whyNot = process.geteuid?.() === 0 ? '' : ' (skipped: only files of root are shared; run it as root)';

test.skipIf(whyNot)(`a version shares with the one before it what is the same, as the runtime${whyNot}`, async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  await harness.install({ from: harness.package('2.0.0') });
  const [node, program] = ['node', 'scheduled-events-bridge.cjs'].map((file) =>
    ['1.0.0', '2.0.0'].map((version) => inodeOf(harness, version, file)),
  );
  expect(node?.[0]).toBe(node?.[1]);
  expect(program?.[0]).not.toBe(program?.[1]);
});

test.skipIf(whyNot)(`a runtime that is damaged on disk is not shared with the next version${whyNot}`, async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const path = join(harness.places.versions, '1.0.0/node');
  writeFileSync(path, 'x'.repeat(statSync(path).size));
  expect(await harness.install({ from: harness.package('2.0.0') })).toMatchObject({ outcome: 'becomes-ready' });
  expect(inodeOf(harness, '1.0.0', 'node')).not.toBe(inodeOf(harness, '2.0.0', 'node'));
});
