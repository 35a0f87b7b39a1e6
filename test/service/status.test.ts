import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { disable } from '../../src/service/disable.ts';
import { serviceStatus } from '../../src/service/status.ts';
import { createRig, refusalOf } from './rig.ts';

test('where nothing is installed the status says so', async () => {
  using rig = createRig();
  expect(await serviceStatus(rig.machine)).toMatchObject({
    installed: false,
    version: null,
    enabled: false,
    isAsItWasReady: null,
  });
});

test('the status tells version, the one to fall back to, how it runs and what it says', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  await rig.install({ from: rig.package('2.0.0') });
  expect(await serviceStatus(rig.machine)).toMatchObject({
    installed: true,
    version: '2.0.0',
    previous: '1.0.0',
    versions: ['1.0.0', '2.0.0'],
    isAsItWasReady: true,
    enabled: true,
    service: { active: 'active', sub: 'running', pid: 4711, says: 'Polling; no event under way.' },
    configuration: { file: '/etc/scheduled-events-bridge/config.json', isThere: true, problems: [] },
    stateDirectory: '/var/lib/scheduled-events-bridge',
    command: 'ours',
  });
});

test('a configuration that was changed by hand shows, and what is wrong with it', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  writeFileSync(rig.places.configuration, '{}');
  const { isAsItWasReady, configuration } = await serviceStatus(rig.machine);
  expect(isAsItWasReady).toBe(false);
  expect(configuration.problems).toEqual([expect.stringContaining('There is no sink')]);
});

test('whoever is not root is told what others may see', async () => {
  using rig = createRig({ facts: {} });
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  const other = { ...rig.machine, facts: () => ({ ...rig.machine.facts(), isRoot: false }) };
  expect((await serviceStatus(other)).configuration).toMatchObject({ isThere: null, problems: null });
});

test('what was installed and not started since is not what became ready', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  await disable(rig.machine);
  expect(await serviceStatus(rig.machine)).toMatchObject({ version: '1.0.0', isAsItWasReady: true });
  await rig.install({ from: rig.package('2.0.0'), enable: 'as-it-is' });
  expect(await serviceStatus(rig.machine)).toMatchObject({ version: '2.0.0', isAsItWasReady: false });
});

test('in an image the status is told without a service manager', async () => {
  using rig = createRig({ facts: { isLive: false } });
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration(), start: false });
  expect(await serviceStatus(rig.machine)).toMatchObject({
    installed: true,
    enabled: true,
    service: null,
    isAsItWasReady: null,
  });
});

test('a ledger that was damaged is none', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  for (const text of ['{', '[]', 'null', '{"ready":{"folder":"../..","unit":"a","configuration":"b"}}']) {
    writeFileSync(rig.places.ledger, text);
    expect(await serviceStatus(rig.machine)).toMatchObject({ installed: true, isAsItWasReady: null, previous: null });
  }
});

test('there is nothing to disable where nothing is installed', async () => {
  using rig = createRig();
  expect(await refusalOf(disable(rig.machine))).toMatchObject({
    reason: 'notDone',
    message: expect.stringContaining('not installed'),
  });
});

test('disabling stops it and leaves it stopped', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  rig.forgetCalls();
  await disable(rig.machine);
  expect(rig.calls()).toEqual(['disable', 'stop']);
  expect(await serviceStatus(rig.machine)).toMatchObject({ enabled: false, service: { active: 'inactive' } });
  rmSync(rig.places.ledger);
});
