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
import { inMountNamespace, noMounting } from './mounting.ts';
import { createRig, type Rig, refusalOf, treeOf } from './rig.ts';

async function installedRig(): Promise<Rig> {
  const rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  await rig.install({ from: rig.package('2.0.0') });
  return rig;
}

/** The folders that a machine has before: what an installation adds to them is what counts. */
function withoutEmptyFolders(rig: Rig): Record<string, string> {
  return Object.fromEntries(Object.entries(treeOf(rig.root)).filter(([, what]) => !what.endsWith(' folder')));
}

test('uninstalling leaves, on request, the state and its account, and nothing else', async () => {
  using fresh = createRig();
  using rig = await installedRig();
  const gone = await rig.uninstall({ keepState: true });
  expect(gone).toEqual({
    wasThere: true,
    hasAccount: true,
    state: 'kept',
    configuration: 'removed',
    left: [],
    troubles: [],
  });
  expect(rig.runs()).toBeNull();
  expect(existsSync(rig.places.state)).toBe(true);
  expect(readFileSync(rig.places.passwd, 'utf8')).toContain('scheduled-events-bridge');
  const [left, before] = [rig, fresh].map(withoutEmptyFolders);
  for (const file of ['/etc/passwd', '/etc/group']) for (const tree of [left, before]) delete tree?.[file];
  expect(left).toEqual(before);
  for (const place of [rig.places.home, rig.places.settings, rig.places.cache, rig.places.lock])
    expect(existsSync(place)).toBe(false);
});

test('uninstalling leaves nothing at all', async () => {
  using fresh = createRig();
  using rig = await installedRig();
  expect(await rig.uninstall()).toMatchObject({ state: 'removed' });
  expect(withoutEmptyFolders(rig)).toEqual(withoutEmptyFolders(fresh));
  expect(existsSync(rig.places.state)).toBe(false);
});

test('uninstalling keeps, on request, the configuration and its account; the next installation runs with it', async () => {
  using rig = await installedRig();
  const gone = await rig.uninstall({ keepConfiguration: true });
  expect(gone).toEqual({
    wasThere: true,
    hasAccount: true,
    state: 'removed',
    configuration: 'kept',
    left: [],
    troubles: [],
  });
  expect(readFileSync(rig.places.passwd, 'utf8')).toContain('scheduled-events-bridge');
  expect(lstatSync(rig.places.configuration).mode & 0o7777).toBe(0o640);
  expect(await rig.install({ from: rig.package('1.0.0') })).toMatchObject({ outcome: 'becomes-ready' });
  await rig.uninstall();
  expect(existsSync(rig.places.settings)).toBe(false);
  expect(readFileSync(rig.places.passwd, 'utf8')).not.toContain('scheduled-events-bridge');
});

test('the account goes where there is neither state nor configuration to keep', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0') });
  expect(readFileSync(rig.places.passwd, 'utf8')).toContain('scheduled-events-bridge');
  const kept = { keepState: true, keepConfiguration: true };
  expect(await rig.uninstall(kept)).toMatchObject({ state: 'absent', configuration: 'absent', hasAccount: false });
});

test('what an installation that was cut off has left of a configuration goes also where the configuration is kept', async () => {
  using rig = await installedRig();
  for (const name of ['.config.json.new', 'config.json.previous', '.config.json.previous.new']) {
    writeFileSync(join(rig.places.settings, name), 'half of it');
  }
  await rig.uninstall({ keepConfiguration: true });
  expect(readdirSync(rig.places.settings)).toEqual(['config.json']);
});

test('a folder of the configuration that is a link stays and is named', async () => {
  using rig = await installedRig();
  const { settings } = rig.places;
  const elsewhere = join(rig.root, 'elsewhere');
  renameSync(settings, elsewhere);
  symlinkSync(elsewhere, settings);
  expect(await rig.uninstall()).toMatchObject({ left: [settings], configuration: 'removed' });
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('a change of the unit that an administrator made stays and is named', async () => {
  using rig = await installedRig();
  const { dropIns } = rig.places;
  mkdirSync(dropIns);
  writeFileSync(join(dropIns, 'override.conf'), '[Service]\nEnvironment=A=b\n');
  expect(await rig.uninstall()).toMatchObject({ left: [dropIns] });
  rmSync(join(dropIns, 'override.conf'));
  expect(await rig.uninstall()).toMatchObject({ left: [] });
  expect(existsSync(dropIns)).toBe(false);
});

test.skipIf(noMounting)(
  `state and home that are file systems of their own are emptied, and that is said${noMounting}`,
  () => {
    const told = inMountNamespace('uninstall-mounted.ts');
    expect(JSON.parse(told)).toEqual([
      { emptied: ['scheduled-events-bridge', 'scheduled-events-bridge'], state: 'removed', left: [], isEmpty: true },
      { emptied: ['scheduled-events-bridge', 'scheduled-events-bridge'], state: 'removed', left: [], isEmpty: true },
    ]);
  },
);

test.skipIf(noMounting)(
  `a folder that cannot be removed for another reason is not said to be a file system of its own${noMounting}`,
  () => {
    const told = inMountNamespace('uninstall-read-only.ts');
    expect(told).toMatch(/^EROFS: read-only file system, rmdir .*scheduled-events-bridge/);
  },
);

test('the service is stopped before anything is taken from under it', async () => {
  using rig = await installedRig();
  rig.forgetCalls();
  await rig.uninstall({ keepState: true });
  expect(rig.calls()).toEqual(['stop', 'disable', 'reset-failed', 'daemon-reload']);
});

test('uninstalling twice, or where nothing was installed, is no failure', async () => {
  using rig = await installedRig();
  await rig.uninstall();
  expect(await rig.uninstall()).toMatchObject({ wasThere: false, left: [] });
  using fresh = createRig();
  expect(await fresh.uninstall({ keepState: true })).toMatchObject({ wasThere: false, state: 'absent' });
});

test('what somebody else has put into the folders stays and is named', async () => {
  using rig = await installedRig();
  const { home, versions, settings } = rig.places;
  for (const file of [join(home, 'notes.txt'), join(settings, 'other.json')]) writeFileSync(file, 'kept');
  mkdirSync(join(versions, 'mine'));
  writeFileSync(join(versions, 'mine/data'), 'kept');
  expect(await rig.uninstall()).toMatchObject({ left: [settings, versions, home] });
  for (const file of ['notes.txt', 'versions/mine/data']) expect(readFileSync(join(home, file), 'utf8')).toBe('kept');
  expect(readdirSync(home)).toEqual(['notes.txt', 'versions']);
  expect(readdirSync(settings)).toEqual(['other.json']);
});

test('the sample of a package is its package manager’s, and no reason to say that something is left', async () => {
  using rig = await installedRig();
  const { settings, sample } = rig.places;
  writeFileSync(sample, '{}');
  expect(await rig.uninstall()).toMatchObject({ left: [] });
  expect(readdirSync(settings)).toEqual(['config.sample.json']);
  writeFileSync(join(settings, 'authority.pem'), '');
  expect(await rig.uninstall()).toMatchObject({ left: [settings] });
});

test('links in the state directory are removed and not followed', async () => {
  using rig = await installedRig();
  const { state } = rig.places;
  const victim = join(rig.root, 'etc/victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'file'), 'untouched');
  symlinkSync(victim, join(state, 'folder'));
  symlinkSync(join(victim, 'file'), join(state, 'outbox.sqlite'));
  await rig.uninstall();
  expect(existsSync(state)).toBe(false);
  expect(readFileSync(join(victim, 'file'), 'utf8')).toBe('untouched');
});

test('a state directory that is itself a link loses the link alone', async () => {
  using rig = await installedRig();
  const { state } = rig.places;
  const elsewhere = join(rig.root, 'data');
  renameSync(state, elsewhere);
  symlinkSync(elsewhere, state);
  await rig.uninstall();
  expect(existsSync(state)).toBe(false);
  expect(existsSync(elsewhere)).toBe(true);
});

test('an installation that was cut off anywhere can be removed', async () => {
  using rig = await installedRig();
  rmSync(rig.places.current);
  rmSync(rig.places.unit);
  rmSync(rig.places.record);
  mkdirSync(join(rig.places.versions, '.staging'));
  writeFileSync(join(rig.places.settings, '.config.json.new'), '{');
  expect(await rig.uninstall()).toMatchObject({ left: [], troubles: [] });
  expect(existsSync(rig.places.home)).toBe(false);
});

test('remove.sh runs the uninstallation of the version that is installed', async () => {
  using rig = await installedRig();
  const program = join(rig.places.current, 'scheduled-events-bridge');
  writeFileSync(program, `#!/bin/sh\necho "$@"\n`);
  const script = inRoot(rig, readFileSync(rig.places.remover, 'utf8'));
  expect(spawnSync('sh', ['-c', script, 'remove.sh', '--keep-state'], { encoding: 'utf8' }).stdout).toBe(
    'service uninstall --keep-state\n',
  );
});

test('remove.sh removes the crumbs where the program has gone already', async () => {
  using rig = await installedRig();
  const { versions, home } = rig.places;
  const script = inRoot(rig, readFileSync(rig.places.remover, 'utf8'));
  rmSync(join(versions, '1.0.0'), { recursive: true });
  renameSync(join(versions, '2.0.0'), join(versions, '.staging'));
  expect(spawnSync('sh', ['-c', script]).status).toBe(0);
  expect(existsSync(home)).toBe(false);
});

/** The script names places as the machine does. */
const inRoot = ({ root }: Rig, script: string): string => script.replaceAll('/opt/', `${root}/opt/`);

test('where there is no service manager the files are removed all the same', async () => {
  using rig = createRig({ facts: { isLive: false, programs: [] } });
  mkdirSync(rig.places.home);
  writeFileSync(rig.places.record, '{}');
  expect(await rig.uninstall({ keepState: true })).toMatchObject({ wasThere: true, left: [] });
});

test('only root may uninstall', async () => {
  using rig = createRig({ facts: { isRoot: false } });
  expect(await refusalOf(rig.uninstall({ keepState: true }))).toMatchObject({
    reason: 'notDone',
    message: expect.stringContaining('sudo'),
  });
});
