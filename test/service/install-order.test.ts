import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { createHarness, refusalOf } from './harness.ts';

test('there is nothing to enable or configure where nothing is installed', async () => {
  using harness = createHarness();
  for (const order of [{}, { configuration: harness.configuration() }]) {
    expect(await refusalOf(harness.install(order))).toMatchObject({
      reason: 'notDone',
      message: expect.stringContaining('is not installed here'),
    });
  }
});

test('the folder of a package may be named from where one stands', async () => {
  using harness = createHarness();
  const from = relative(process.cwd(), harness.package('1.0.0'));
  expect(await harness.install({ from, configuration: harness.configuration() })).toMatchObject({ folder: '1.0.0' });
});
