import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHarness, type Harness, refusalOf, treeOf } from './harness.ts';
import { inMountNamespace, noMounting } from './mounting.ts';

async function installedHarness(): Promise<Harness> {
  const harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  await harness.install({ from: harness.package('2.0.0') });
  return harness;
}

/** The folders that a machine has before: what an installation adds to them is what counts. */
function withoutEmptyFolders(harness: Harness): Record<string, string> {
  return Object.fromEntries(Object.entries(treeOf(harness.root)).filter(([, what]) => !what.endsWith(' folder')));
}

test('uninstalling keeps the state and its account on request, and nothing else', async () => {
  using fresh = createHarness();
  using harness = await installedHarness();
  const gone = await harness.uninstall({ keepState: true });
  expect(gone).toEqual({
    wasThere: true,
    hasAccount: true,
    state: 'kept',
    configuration: 'removed',
    left: [],
    problems: [],
  });
  expect(harness.runs()).toBeNull();
  expect(existsSync(harness.places.state)).toBe(true);
  expect(readFileSync(harness.places.passwd, 'utf8')).toContain('scheduled-events-bridge');
  const [left, before] = [harness, fresh].map(withoutEmptyFolders);
  for (const file of ['/etc/passwd', '/etc/group']) for (const tree of [left, before]) delete tree?.[file];
  expect(left).toEqual(before);
  for (const place of [harness.places.home, harness.places.settings, harness.places.cache, harness.places.lock])
    expect(existsSync(place)).toBe(false);
});

test('uninstalling removes everything', async () => {
  using fresh = createHarness();
  using harness = await installedHarness();
  expect(await harness.uninstall()).toMatchObject({ state: 'removed' });
  expect(withoutEmptyFolders(harness)).toEqual(withoutEmptyFolders(fresh));
  expect(existsSync(harness.places.state)).toBe(false);
});

test('uninstalling keeps, on request, the configuration and its account; the next installation runs with it', async () => {
  using harness = await installedHarness();
  const gone = await harness.uninstall({ keepConfiguration: true });
  expect(gone).toEqual({
    wasThere: true,
    hasAccount: true,
    state: 'removed',
    configuration: 'kept',
    left: [],
    problems: [],
  });
  expect(readFileSync(harness.places.passwd, 'utf8')).toContain('scheduled-events-bridge');
  expect(lstatSync(harness.places.configuration).mode & 0o7777).toBe(0o640);
  expect(await harness.install({ from: harness.package('1.0.0') })).toMatchObject({ outcome: 'becomes-ready' });
  await harness.uninstall();
  expect(existsSync(harness.places.settings)).toBe(false);
  expect(readFileSync(harness.places.passwd, 'utf8')).not.toContain('scheduled-events-bridge');
});

test('the account goes where there is neither state nor configuration to keep', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0') });
  expect(readFileSync(harness.places.passwd, 'utf8')).toContain('scheduled-events-bridge');
  const kept = { keepState: true, keepConfiguration: true };
  expect(await harness.uninstall(kept)).toMatchObject({ state: 'absent', configuration: 'absent', hasAccount: false });
});

test('the remains of a configuration from an interrupted installation are removed even when the configuration is kept', async () => {
  using harness = await installedHarness();
  for (const name of ['.config.json.new', 'config.json.previous', '.config.json.previous.new']) {
    writeFileSync(join(harness.places.settings, name), 'half of it');
  }
  await harness.uninstall({ keepConfiguration: true });
  expect(readdirSync(harness.places.settings)).toEqual(['config.json']);
});

test('a folder of the configuration that is a link stays and is named', async () => {
  using harness = await installedHarness();
  const { settings } = harness.places;
  const elsewhere = join(harness.root, 'elsewhere');
  renameSync(settings, elsewhere);
  symlinkSync(elsewhere, settings);
  expect(await harness.uninstall()).toMatchObject({ left: [settings], configuration: 'removed' });
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('a change of the unit that an administrator made stays and is named', async () => {
  using harness = await installedHarness();
  const { dropIns } = harness.places;
  mkdirSync(dropIns);
  writeFileSync(join(dropIns, 'override.conf'), '[Service]\nEnvironment=A=b\n');
  expect(await harness.uninstall()).toMatchObject({ left: [dropIns] });
  rmSync(join(dropIns, 'override.conf'));
  expect(await harness.uninstall()).toMatchObject({ left: [] });
  expect(existsSync(dropIns)).toBe(false);
});

test.skipIf(noMounting)(`state and home that are mount points are emptied, which is reported${noMounting}`, () => {
  const result = inMountNamespace('uninstall-mounted.ts');
  expect(JSON.parse(result)).toEqual([
    { emptied: ['scheduled-events-bridge', 'scheduled-events-bridge'], state: 'removed', left: [], isEmpty: true },
    { emptied: ['scheduled-events-bridge', 'scheduled-events-bridge'], state: 'removed', left: [], isEmpty: true },
  ]);
});

test.skipIf(noMounting)(
  `a folder that cannot be removed for another reason is not reported as a mount point${noMounting}`,
  () => {
    const result = inMountNamespace('uninstall-read-only.ts');
    expect(result).toMatch(/^EROFS: read-only file system, rmdir .*scheduled-events-bridge/);
  },
);

test('the service is stopped before its files are removed', async () => {
  using harness = await installedHarness();
  harness.forgetCalls();
  await harness.uninstall({ keepState: true });
  expect(harness.calls()).toEqual(['stop', 'disable', 'reset-failed', 'daemon-reload']);
});

test('uninstalling twice, or where nothing was installed, is no failure', async () => {
  using harness = await installedHarness();
  await harness.uninstall();
  expect(await harness.uninstall()).toMatchObject({ wasThere: false, left: [] });
  using fresh = createHarness();
  expect(await fresh.uninstall({ keepState: true })).toMatchObject({ wasThere: false, state: 'absent' });
});

test('other files in the folders are kept and named', async () => {
  using harness = await installedHarness();
  const { home, versions, settings } = harness.places;
  for (const file of [join(home, 'notes.txt'), join(settings, 'other.json')]) writeFileSync(file, 'kept');
  mkdirSync(join(versions, 'mine'));
  writeFileSync(join(versions, 'mine/data'), 'kept');
  expect(await harness.uninstall()).toMatchObject({ left: [settings, versions, home] });
  for (const file of ['notes.txt', 'versions/mine/data']) expect(readFileSync(join(home, file), 'utf8')).toBe('kept');
  expect(readdirSync(home)).toEqual(['notes.txt', 'versions']);
  expect(readdirSync(settings)).toEqual(['other.json']);
});

test('the sample of a package belongs to its package manager, and is not reported as left over', async () => {
  using harness = await installedHarness();
  const { settings, sample } = harness.places;
  writeFileSync(sample, '{}');
  expect(await harness.uninstall()).toMatchObject({ left: [] });
  expect(readdirSync(settings)).toEqual(['config.sample.json']);
  writeFileSync(join(settings, 'authority.pem'), '');
  expect(await harness.uninstall()).toMatchObject({ left: [settings] });
});

test('links in the state directory are removed and not followed', async () => {
  using harness = await installedHarness();
  const { state } = harness.places;
  const victim = join(harness.root, 'etc/victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'file'), 'untouched');
  symlinkSync(victim, join(state, 'folder'));
  symlinkSync(join(victim, 'file'), join(state, 'outbox.sqlite'));
  await harness.uninstall();
  expect(existsSync(state)).toBe(false);
  expect(readFileSync(join(victim, 'file'), 'utf8')).toBe('untouched');
});

test('for a state directory that is a link only the link is removed', async () => {
  using harness = await installedHarness();
  const { state } = harness.places;
  const elsewhere = join(harness.root, 'data');
  renameSync(state, elsewhere);
  symlinkSync(elsewhere, state);
  await harness.uninstall();
  expect(existsSync(state)).toBe(false);
  expect(existsSync(elsewhere)).toBe(true);
});

test('an installation that was cut off anywhere can be removed', async () => {
  using harness = await installedHarness();
  rmSync(harness.places.current);
  rmSync(harness.places.unit);
  rmSync(harness.places.record);
  mkdirSync(join(harness.places.versions, '.staging'));
  writeFileSync(join(harness.places.settings, '.config.json.new'), '{');
  expect(await harness.uninstall()).toMatchObject({ left: [], problems: [] });
  expect(existsSync(harness.places.home)).toBe(false);
});

test('remove.sh runs the uninstallation of the version that is installed', async () => {
  using harness = await installedHarness();
  const program = join(harness.places.current, 'scheduled-events-bridge');
  writeFileSync(program, `#!/bin/sh\necho "$@"\n`);
  const script = inRoot(harness, readFileSync(harness.places.remover, 'utf8'));
  expect(spawnSync('sh', ['-c', script, 'remove.sh', '--keep-state'], { encoding: 'utf8' }).stdout).toBe(
    'service uninstall --keep-state\n',
  );
});

test('remove.sh removes the remains when the program is missing', async () => {
  using harness = await installedHarness();
  const { versions, home } = harness.places;
  const script = inRoot(harness, readFileSync(harness.places.remover, 'utf8'));
  rmSync(join(versions, '1.0.0'), { recursive: true });
  renameSync(join(versions, '2.0.0'), join(versions, '.staging'));
  expect(spawnSync('sh', ['-c', script]).status).toBe(0);
  expect(existsSync(home)).toBe(false);
});

/** The script names places as the machine does. */
const inRoot = ({ root }: Harness, script: string): string => script.replaceAll('/opt/', `${root}/opt/`);

test('where there is no service manager the files are removed all the same', async () => {
  using harness = createHarness({ facts: { isLive: false, programs: [] } });
  mkdirSync(harness.places.home);
  writeFileSync(harness.places.record, '{}');
  expect(await harness.uninstall({ keepState: true })).toMatchObject({ wasThere: true, left: [] });
});

test('only root may uninstall', async () => {
  using harness = createHarness({ facts: { isRoot: false } });
  expect(await refusalOf(harness.uninstall({ keepState: true }))).toMatchObject({
    reason: 'notDone',
    message: expect.stringContaining('sudo'),
  });
});
