import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceStatus } from '../../../src/service/status.ts';
import { refusalOf } from '../harness.ts';
import { createWindowsHarness, type WindowsHarness } from './harness.ts';

const first = (harness: WindowsHarness) => ({
  from: harness.package('1.0.0'),
  configuration: harness.configuration('a'),
});
const imageOf = ({ places }: WindowsHarness, version: string) =>
  `"${join(places.versions, version, 'scheduled-events-bridge-service.exe')}"`;

test('an installation creates the service, starts it with the machine, and leaves nothing to do', async () => {
  using harness = createWindowsHarness();
  expect(await harness.install(first(harness))).toMatchObject({
    outcome: 'becomes-ready',
    folder: '1.0.0',
    message: 'Polling; no open events.',
  });
  const { places } = harness;
  expect(harness.runs()).toContain('1.0.0');
  expect([
    harness.windows.service()?.image,
    harness.windows.service()?.start,
    harness.windows.service()?.account,
  ]).toEqual([imageOf(harness, '1.0.0'), 'auto', 'NT SERVICE\\scheduled-events-bridge']);
  expect(harness.windows.service()?.sidType).toBe('unrestricted');
  expect(harness.windows.registered.join()).toContain(
    join(places.versions, '1.0.0', 'scheduled-events-bridge-service.exe'),
  );
  expect(readFileSync(places.command, 'utf8')).toContain('versions\\1.0.0\\node.exe');
  expect(readdirSync(places.data).toSorted()).toEqual(['cache', 'config.json', 'logs', 'state']);
  expect(readdirSync(places.versions)).toEqual(['1.0.0']);
  harness.forgetCalls();
  expect(await harness.install(first(harness))).toMatchObject({ outcome: 'ready-already', changed: false });
  expect(harness.calls().filter((call) => !call.includes('installed.json'))).toEqual([]);
});

test('the configuration and the record are given their permissions before they have any content', async () => {
  using harness = createWindowsHarness();
  await harness.install(first(harness));
  const { places } = harness;
  for (const path of [places.configuration, places.record]) expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(harness.calls().filter((call) => call.includes('.config.json.new'))).toEqual([
    expect.stringMatching(
      /^icacls .*\.config\.json\.new \/inheritance:r \/grant:r \*S-1-5-18:\(F\) \*S-1-5-32-544:\(F\) /,
    ),
  ]);
});

test('data folders that an administrator has created before get the permissions of an installation', async () => {
  using harness = createWindowsHarness();
  const { data, state } = harness.places;
  mkdirSync(state, { recursive: true });
  await harness.install(first(harness));
  const calls = harness.calls().filter((call) => call.startsWith(`icacls ${data} `));
  expect(calls.map((call) => call.slice(`icacls ${data} `.length).split(' ').slice(0, 2).join(' '))).toEqual([
    '/inheritance:r /grant:r',
    '/setowner *S-1-5-32-544',
    '/reset /T',
    '/inheritance:r /grant:r',
    '/inheritance:r /grant:r',
  ]);
});

test('data folders that an ordinary user has created before are refused', async () => {
  using harness = createWindowsHarness();
  const { state } = harness.places;
  harness.windows.setForeign(state);
  mkdirSync(state, { recursive: true });
  await expect(harness.install(first(harness))).rejects.toThrow(`${state} belongs to another user`);
  expect(harness.windows.service()).toBeNull();
});

test.each(['before', 'while'])(
  'a folder that a user creates in that of the data %s its permissions are reset is refused',
  async (when) => {
    using harness = createWindowsHarness();
    const { logs } = harness.places;
    harness.windows.setForeign(logs, when === 'before' ? '/inheritance:r' : '/reset');
    await expect(harness.install(first(harness))).rejects.toThrow(`${logs} belongs to another user`);
    expect(harness.windows.service()).toBeNull();
  },
);

test('an update switches the image path, and keeps the version before', async () => {
  using harness = createWindowsHarness();
  await harness.install(first(harness));
  harness.forgetCalls();
  expect(await harness.install({ from: harness.package('2.0.0') })).toMatchObject({ folder: '2.0.0', from: '1.0.0' });
  expect(harness.windows.service()?.image).toBe(imageOf(harness, '2.0.0'));
  expect(harness.runs()).toContain('2.0.0');
  expect(readFileSync(harness.places.command, 'utf8')).toContain('versions\\2.0.0\\');
  expect(harness.calls().some((call) => call.startsWith('sc create'))).toBe(false);
  await harness.install({ from: harness.package('3.0.0') });
  expect(readdirSync(harness.places.versions).toSorted()).toEqual(['2.0.0', '3.0.0']);
});

test.each(['dies', 'hangs', 'dies-when-up', 'is-deaf', 'exits-78', 'cannot-start'] as const)(
  'a version that %s falls back to the one before, with its configuration',
  async (behaviour) => {
    using harness = createWindowsHarness();
    await harness.install(first(harness));
    const { message } = await refusalOf(
      harness.install({ from: harness.package('2.0.0', { behaviour }), configuration: harness.configuration('b') }),
    );
    expect(message).toContain('Back to version 1.0.0, which is ready');
    expect(harness.runs()).toContain('1.0.0');
    expect(harness.windows.service()?.image).toBe(imageOf(harness, '1.0.0'));
    expect(readFileSync(harness.places.configuration, 'utf8')).toContain('"a becomes-ready"');
    expect(readFileSync(harness.places.command, 'utf8')).toContain('versions\\1.0.0\\');
    expect((await serviceStatus(harness.machine)).refused?.version).toBe('2.0.0');
  },
);

test('why a start failed is said: the exit code of the bridge, or the error of Windows', async () => {
  using harness = createWindowsHarness();
  const refused = async (behaviour: 'exits-78' | 'cannot-start') =>
    (await refusalOf(harness.install({ ...first(harness), configuration: harness.configuration('b', behaviour) })))
      .message;
  expect(await refused('exits-78')).toContain('it failed (exit code 78): it finds its configuration wrong');
  expect(await refused('cannot-start')).toContain('it failed (Windows error 5, access to its program is denied)');
});

test('a configuration that is wrong is refused with all its problems, and nothing is changed', async () => {
  using harness = createWindowsHarness();
  await harness.install(first(harness));
  const file = join(harness.path, 'bad.json');
  writeFileSync(file, '{}');
  harness.forgetCalls();
  const refusal = await refusalOf(harness.install({ configuration: file, enable: 'as-it-is' }));
  expect([refusal.reason, refusal.message]).toEqual(['badConfiguration', expect.stringContaining('There is no sink')]);
  expect(harness.calls()).toEqual([]);
});

test('a disabled service stays so after an update, and starts when it is enabled', async () => {
  using harness = createWindowsHarness();
  await harness.install(first(harness));
  await harness.disable();
  expect([harness.runs(), harness.windows.service()?.start]).toEqual([null, 'demand']);
  expect(await harness.install({ from: harness.package('2.0.0'), enable: 'as-it-is' })).toMatchObject({
    outcome: 'rests',
  });
  expect(harness.runs()).toBeNull();
  expect(await harness.install({})).toMatchObject({ outcome: 'becomes-ready' });
  expect([harness.runs(), harness.windows.service()?.start]).toEqual([expect.stringContaining('2.0.0'), 'auto']);
});

test('a service whose start type is Disabled is updated and not started, and enabling it is refused', async () => {
  using harness = createWindowsHarness();
  await harness.install(first(harness));
  await harness.disable();
  harness.windows.setStart('disabled');
  await harness.disable();
  expect(harness.windows.service()?.start).toBe('disabled');
  expect(await harness.install({ from: harness.package('2.0.0') })).toMatchObject({ outcome: 'masked' });
  expect((await refusalOf(harness.install({}))).message).toContain('Set-Service scheduled-events-bridge -StartupType');
});

test('where the service host of a package is blocked, that of an installed version takes its place', async () => {
  using harness = createWindowsHarness();
  harness.windows.blockHost();
  expect(await refusalOf(harness.install(first(harness)))).toMatchObject({
    reason: 'missing',
    message: expect.stringMatching(/service\.exe does not run/),
  });
  using other = createWindowsHarness();
  await other.install(first(other));
  await other.disable();
  other.windows.blockHost();
  expect(await other.install({})).toMatchObject({ outcome: 'becomes-ready', folder: '1.0.0' });
  expect(other.runs()).toContain('1.0.0');
});

test('permissions that were loosened are given again, and the service is not restarted', async () => {
  using harness = createWindowsHarness();
  await harness.install(first(harness));
  chmodSync(harness.places.configuration, 0o644);
  chmodSync(harness.places.data, 0o755);
  harness.forgetCalls();
  expect(await harness.install({})).toMatchObject({ outcome: 'ready-already', changed: true });
  expect(harness.calls().some((call) => call.startsWith('sc '))).toBe(false);
  expect(statSync(harness.places.configuration).mode & 0o777).toBe(0o640);
});

test('status shows what runs', async () => {
  using harness = createWindowsHarness();
  expect(await serviceStatus(harness.machine)).toMatchObject({ installed: false, version: null });
  await harness.install(first(harness));
  expect(await serviceStatus(harness.machine)).toMatchObject({
    installed: true,
    version: '1.0.0',
    enabled: true,
    isAsItWasReady: true,
    service: { active: 'active', sub: 'running', pid: 4711, message: 'Polling; no open events.' },
    configuration: { isThere: true, problems: [] },
    command: 'ours',
  });
});

test('without the rights of an administrator nothing is changed', async () => {
  using harness = createWindowsHarness();
  harness.windows.setElevated(false);
  for (const work of [() => harness.install(first(harness)), harness.disable, harness.uninstall]) {
    expect((await refusalOf(work())).message).toContain('Run as administrator');
  }
  expect(harness.calls()).toEqual([]);
  expect(existsSync(harness.places.home)).toBe(false);
});
