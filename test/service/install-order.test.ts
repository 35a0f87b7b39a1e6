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

test.for([
  { name: 'a machine without systemd', facts: { isLive: false } },
  { name: 'a machine without programs', facts: { programs: [] } },
])('a wrong configuration is named before what keeps $name from running it', async ({ facts }) => {
  using harness = createHarness({ facts });
  const wrong = harness.file('config.json', '{ "sinks": { "stdout": {} }, "http": { "port": "9" } }');
  expect(await refusalOf(harness.install({ configuration: wrong }))).toMatchObject({
    reason: 'badConfiguration',
    message: expect.stringContaining('http.port is "9"'),
  });
  expect(await refusalOf(harness.install({ configuration: harness.configuration() }))).toMatchObject({
    reason: 'unsupported',
  });
});

test('the folder of a package may be a relative path', async () => {
  using harness = createHarness();
  const from = relative(process.cwd(), harness.package('1.0.0'));
  expect(await harness.install({ from, configuration: harness.configuration() })).toMatchObject({ folder: '1.0.0' });
});
