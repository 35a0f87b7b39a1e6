import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { servicePage } from '../../src/cli/service/page.ts';
import { disable } from '../../src/service/disable.ts';
import { serviceStatus } from '../../src/service/status.ts';
import { createHarness, refusalOf } from './harness.ts';

test('without an installation the status reports that', async () => {
  using harness = createHarness();
  expect(await serviceStatus(harness.machine)).toMatchObject({
    installed: false,
    version: null,
    enabled: false,
    isAsItWasReady: null,
  });
});

test('the status has the version, the one to fall back to, how it runs and its report', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  await harness.install({ from: harness.package('2.0.0') });
  expect(await serviceStatus(harness.machine)).toMatchObject({
    installed: true,
    version: '2.0.0',
    previous: '1.0.0',
    versions: ['1.0.0', '2.0.0'],
    isAsItWasReady: true,
    enabled: true,
    service: { active: 'active', sub: 'running', pid: 4711, message: 'Polling; no open events.' },
    configuration: { file: '/etc/scheduled-events-bridge/config.json', isThere: true, problems: [] },
    stateDirectory: '/var/lib/scheduled-events-bridge',
    command: 'ours',
  });
});

test('after an update that was cut off the status names the version that was ready, which is what the next one falls back to', async () => {
  using harness = createHarness();
  const configuration = harness.configuration();
  for (const version of ['1.0.0', '2.0.0']) await harness.install({ from: harness.package(version), configuration });
  const record = readFileSync(harness.places.record, 'utf8');
  await harness.install({ from: harness.package('3.0.0') });
  writeFileSync(harness.places.record, record.replace('"isSettled": true', '"isSettled": false'));
  expect(await serviceStatus(harness.machine)).toMatchObject({ version: '3.0.0', previous: '2.0.0' });
});

test('a version that did not become ready is named until a version is installed', async () => {
  using harness = createHarness();
  const status = async () => {
    const observed = await serviceStatus(harness.machine);
    return { refused: observed.refused, page: servicePage(observed, harness.machine.system.words) };
  };
  const order = { from: harness.package('1.0.0'), configuration: harness.configuration() };
  await harness.install(order);
  expect(await status()).toMatchObject({ refused: null, page: expect.not.stringContaining('does not run') });
  await refusalOf(harness.install({ from: harness.package('2.0.0', { behaviour: 'dies' }) }));
  const refused = {
    version: '2.0.0',
    because: expect.stringMatching(/^Version 2\.0\.0 did not become ready: .* Back to/),
  };
  expect(await status()).toMatchObject({
    refused,
    page: expect.stringContaining('Version 2.0.0 was installed but does not run: Version 2.0.0 did not'),
  });
  await harness.install({ configuration: harness.configuration('b') });
  expect(await status()).toMatchObject({ refused });
  await harness.install(order);
  expect(await status()).toMatchObject({ refused: null });
});

test('a version that is refused before it is started is named too, even with the same number', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  await refusalOf(harness.install({ from: harness.package('1.0.0', { build: 2, message: '7.7.7' }) }));
  expect(await serviceStatus(harness.machine)).toMatchObject({ refused: null });
  await refusalOf(harness.install({ from: harness.package('2.0.0', { message: '7.7.7' }) }));
  expect(await serviceStatus(harness.machine)).toMatchObject({
    version: '1.0.0',
    refused: { version: '2.0.0', because: expect.stringContaining('7.7.7') },
  });
});

test('a configuration that was edited manually is reported with its errors', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  writeFileSync(harness.places.configuration, '{}');
  const { isAsItWasReady, configuration } = await serviceStatus(harness.machine);
  expect(isAsItWasReady).toBe(false);
  expect(configuration.problems).toEqual([expect.stringContaining('There is no sink')]);
});

test('a user who is not root sees what is readable by all', async () => {
  using harness = createHarness({ facts: {} });
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const other = harness.machineWith({ isRoot: false });
  expect((await serviceStatus(other)).configuration).toMatchObject({ isThere: null, problems: null });
});

test('a version that was installed but not started is not shown as ready', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  await disable(harness.machine);
  expect(await serviceStatus(harness.machine)).toMatchObject({ version: '1.0.0', isAsItWasReady: true });
  await harness.install({ from: harness.package('2.0.0'), enable: 'as-it-is' });
  expect(await serviceStatus(harness.machine)).toMatchObject({ version: '2.0.0', isAsItWasReady: false });
});

test('in an image the status works without a service manager', async () => {
  using harness = createHarness({ facts: { isLive: false } });
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration(), start: false });
  expect(await serviceStatus(harness.machine)).toMatchObject({
    installed: true,
    enabled: true,
    service: null,
    isAsItWasReady: null,
  });
});

test('a damaged installation record counts as missing', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  for (const text of ['{', '[]', 'null', '{"ready":{"folder":"../..","unit":"a","configuration":"b"}}']) {
    writeFileSync(harness.places.record, text);
    expect(await serviceStatus(harness.machine)).toMatchObject({
      installed: true,
      isAsItWasReady: null,
      previous: null,
    });
  }
});

test('there is nothing to disable where nothing is installed', async () => {
  using harness = createHarness();
  expect(await refusalOf(disable(harness.machine))).toMatchObject({
    reason: 'notDone',
    message: expect.stringContaining('not installed'),
  });
});

test('disabling stops it and leaves it stopped', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  harness.forgetCalls();
  await disable(harness.machine);
  expect(harness.calls()).toEqual(['disable', 'stop']);
  expect(await serviceStatus(harness.machine)).toMatchObject({ enabled: false, service: { active: 'inactive' } });
  rmSync(harness.places.record);
});
