import { existsSync, globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createWindowsHarness, type WindowsHarness } from './harness.ts';

const installed = async (harness: WindowsHarness): Promise<void> => {
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  await harness.install({ from: harness.package('2.0.0') });
};
const everything = ({ places }: WindowsHarness) => [
  ...readdirSync(dirname(places.home)),
  ...readdirSync(dirname(places.data)),
];

test('an uninstallation leaves nothing: the service stops first, and the event source goes with it', async () => {
  using harness = createWindowsHarness();
  await installed(harness);
  harness.forgetCalls();
  expect(await harness.uninstall()).toEqual({
    wasThere: true,
    state: 'removed',
    configuration: 'removed',
    hasAccount: false,
    left: [],
    problems: [],
  });
  expect(everything(harness)).toEqual([]);
  expect([harness.windows.service(), harness.windows.registered]).toEqual([null, []]);
  expect(harness.calls().map((call) => call.split(' ').slice(0, 2).join(' '))).toEqual([
    'sc stop',
    'sc delete',
    'reg query',
    'reg delete',
    // The profile of the account, which is not there.
    'reg query',
  ]);
  expect(await harness.uninstall()).toMatchObject({ wasThere: false, state: 'absent', problems: [] });
});

test('state and configuration are kept if that is requested, and the next installation continues with them', async () => {
  using harness = createWindowsHarness();
  await installed(harness);
  const { places } = harness;
  writeFileSync(join(places.state, 'outbox.db'), 'records');
  expect(await harness.uninstall({ keepState: true, keepConfiguration: true })).toMatchObject({
    state: 'kept',
    configuration: 'kept',
    left: [],
  });
  expect(readdirSync(places.data).toSorted()).toEqual(['config.json', 'state']);
  expect(existsSync(places.home)).toBe(false);
  expect(await harness.install({ from: harness.package('2.0.0') })).toMatchObject({ outcome: 'becomes-ready' });
  expect(existsSync(join(places.state, 'outbox.db'))).toBe(true);
});

test('files of others stay, and their folders are named', async () => {
  using harness = createWindowsHarness();
  await installed(harness);
  const { places } = harness;
  mkdirSync(join(places.versions, 'mine'));
  writeFileSync(join(places.versions, 'mine', 'notes.txt'), '');
  writeFileSync(join(places.data, 'notes.txt'), '');
  expect((await harness.uninstall()).left).toEqual([places.versions, places.home, places.data]);
});

test.each([
  'installed.json',
  'scheduled-events-bridge.cmd',
  'versions/2.0.0/node.exe',
  'versions/2.0.0/scheduled-events-bridge.cjs',
  'versions/2.0.0/*',
  'windows-service.json',
])('an uninstallation that was cut off after %s can be repeated', async (path) => {
  using harness = createWindowsHarness();
  await installed(harness);
  for (const file of globSync(path, { cwd: harness.places.home }))
    rmSync(join(harness.places.home, file), { recursive: true });
  expect(await harness.uninstall()).toMatchObject({ left: [], problems: [] });
  expect(everything(harness)).toEqual([]);
});
