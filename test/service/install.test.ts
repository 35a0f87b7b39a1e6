import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { disable } from '../../src/service/disable.ts';
import { install } from '../../src/service/install.ts';
import { readInstallationRecord } from '../../src/service/installation-record.ts';
import { createHarness, refusalOf, treeOf } from './harness.ts';
import { inMountNamespace, noMounting } from './mounting.ts';

test('a first installation installs every file and starts the service', async () => {
  using harness = createHarness();
  const { places } = harness;
  const done = await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  expect(done).toMatchObject({ outcome: 'becomes-ready', folder: '1.0.0', from: null, wasThere: false });
  expect(done.message).toBe('Polling; no open events.');
  expect(harness.runs()).toContain('1.0.0');
  expect(readlinkSync(places.current)).toBe('versions/1.0.0');
  expect(readlinkSync(places.command)).toBe('/opt/scheduled-events-bridge/current/scheduled-events-bridge');
  expect(readFileSync(places.unit, 'utf8')).toContain('of version 1.0.0');
  expect(lstatSync(places.configuration).mode & 0o7777).toBe(0o640);
  expect(lstatSync(places.settings).mode & 0o7777).toBe(0o750);
  expect(lstatSync(join(places.versions, '1.0.0/node')).mode & 0o7777).toBe(0o755);
  expect(lstatSync(join(places.versions, '1.0.0/LICENSE')).mode & 0o7777).toBe(0o644);
  expect(lstatSync(places.remover).mode & 0o7777).toBe(0o755);
  expect(existsSync(places.lock)).toBe(false);
  expect(harness.calls()).toEqual(['daemon-reload', 'enable', 'reset-failed', 'restart']);
});

test.each([
  { name: 'is made', before: () => {} },
  { name: 'was left by an older installation', before: (home: string) => mkdirSync(home, { mode: 0o700 }) },
])('regardless of the umask of root, the account of the service can use what $name', async ({ before }) => {
  using harness = createHarness();
  const { home, versions } = harness.places;
  const umask = process.umask(0o077);
  try {
    before(home);
    await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  } finally {
    process.umask(umask);
  }
  for (const folder of [home, versions, join(versions, '1.0.0'), join(versions, '1.0.0/licences')]) {
    expect([folder, lstatSync(folder).mode & 0o7777]).toEqual([folder, 0o755]);
  }
});

test('a version that is ready is installed, even when systemd reports it late', async () => {
  const marks: (() => void)[] = [];
  using harness = createHarness({
    reach: () => {
      for (const mark of marks) mark();
      return { kind: 'connected' };
    },
  });
  marks.push(() => harness.mark('show-fails'));
  expect(
    await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() }),
  ).toMatchObject({
    outcome: 'becomes-ready',
    message: '',
  });
});

test('the same again changes nothing and restarts nothing', async () => {
  using harness = createHarness();
  const order = { from: harness.package('1.0.0'), configuration: harness.configuration() };
  await harness.install(order);
  const before = treeOf(harness.root);
  const inode = statSync(harness.places.configuration).ino;
  harness.forgetCalls();
  expect(await harness.install(order)).toMatchObject({ outcome: 'ready-already', changed: false, wasThere: true });
  expect(await harness.install({ from: order.from })).toMatchObject({ outcome: 'ready-already', changed: false });
  expect(harness.calls()).toEqual([]);
  expect(treeOf(harness.root)).toEqual(before);
  expect(statSync(harness.places.configuration).ino).toBe(inode);
});

test('only another configuration is written and the service restarted', async () => {
  using harness = createHarness();
  const from = harness.package('1.0.0');
  await harness.install({ from, configuration: harness.configuration('a') });
  harness.forgetCalls();
  const done = await harness.install({ configuration: harness.configuration('b'), enable: 'as-it-is' });
  expect(done).toMatchObject({ outcome: 'becomes-ready', folder: '1.0.0', changed: true });
  expect(harness.calls()).toEqual(['reset-failed', 'restart']);
  expect(readFileSync(harness.places.configuration, 'utf8')).toBe(readFileSync(harness.configuration('b'), 'utf8'));
  expect(existsSync(harness.places.keptConfiguration)).toBe(false);
});

test('a configuration that was edited manually also restarts the service', async () => {
  using harness = createHarness();
  const from = harness.package('1.0.0');
  await harness.install({ from, configuration: harness.configuration('a') });
  writeFileSync(harness.places.configuration, readFileSync(harness.configuration('b')));
  expect(await harness.install({ from })).toMatchObject({ outcome: 'becomes-ready' });
});

const badConfigurations = [
  { name: 'that is not JSON', text: '{', message: /is not JSON/ },
  {
    name: 'with an unknown key',
    text: '{"sinks":{"stdout":{}},"imds":{"polInterval":1}}',
    message: /imds.polInterval is not an option/,
  },
  {
    name: 'with several mistakes',
    text: '{"http":{"port":-1},"log":{"level":"loud"}}',
    message: /has 3 problems: .*\n {2}- /,
  },
  {
    name: 'with dozens of mistakes, of which 20 are shown',
    text: JSON.stringify({
      sinks: { stdout: {} },
      ...Object.fromEntries([...Array(25).keys()].map((n) => [`x${n}`, 1])),
    }),
    message: /has 25 problems: x0 is [^\n]*(\n {2}- x\d+ is [^\n]*){19}\n {2}- and 5 more/,
  },
  {
    name: 'with its state elsewhere',
    text: '{"sinks":{"stdout":{}},"stateDirectory":"/mnt/state"}',
    message: /may write to .*scheduled-events-bridge only.* mount that there/,
  },
];

test.each(badConfigurations)('a configuration $name is refused and nothing is changed', async ({ text, message }) => {
  using harness = createHarness();
  const bad = harness.file('bad.json', text);
  const untouched = treeOf(harness.root);
  const first = await refusalOf(harness.install({ from: harness.package('1.0.0'), configuration: bad }));
  expect([first.reason, first.message]).toEqual(['badConfiguration', expect.stringMatching(message)]);
  expect(treeOf(harness.root)).toEqual(untouched);
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const installed = treeOf(harness.root);
  harness.forgetCalls();
  const later = await refusalOf(harness.install({ from: harness.package('2.0.0'), configuration: bad }));
  expect(later.reason).toBe('badConfiguration');
  const refused = { version: '2.0.0', because: later.message.split('\n')[0] };
  expect(readInstallationRecord(harness.places)?.refused).toEqual(refused);
  const isLedger = (path: string): boolean => harness.places.record.endsWith(path);
  const withoutLedger = (tree: Record<string, string>) => Object.entries(tree).filter(([path]) => !isLedger(path));
  expect(withoutLedger(treeOf(harness.root))).toEqual(withoutLedger(installed));
  expect(harness.calls()).toEqual([]);
});

test('a configuration file that is not there is refused', async () => {
  using harness = createHarness();
  const { reason, message } = await refusalOf(
    harness.install({ from: harness.package('1.0.0'), configuration: '/no/config.json' }),
  );
  expect([reason, message]).toEqual(['badConfiguration', expect.stringContaining('there is no such file')]);
});

test('a configuration that cannot be read is refused', async () => {
  using harness = createHarness();
  const loop = join(harness.root, 'loop.json');
  symlinkSync(loop, loop);
  const { reason, message } = await refusalOf(harness.install({ from: harness.package('1.0.0'), configuration: loop }));
  expect([reason, message]).toEqual(['badConfiguration', expect.stringMatching(/cannot be read: ELOOP/)]);
});

test('a configuration from a pipe, and one that changes while it is read, are refused', async () => {
  using harness = createHarness();
  const from = harness.package('1.0.0');
  const pipe = harness.configuration('pipe');
  rmSync(pipe);
  spawnSync('mkfifo', [pipe]);
  expect((await refusalOf(harness.install({ from, configuration: pipe }))).message).toContain('it is no regular file');
  expect((await refusalOf(harness.install({ from, configuration: harness.root }))).message).toContain(
    'it is a directory',
  );
  const moving = harness.configuration('a');
  const checkConfiguration = (file: string) => {
    const checked = harness.machine.checkConfiguration(file);
    writeFileSync(file, '{"sinks":{"stdout":{}},"http":{"port":"never looked at"}}');
    return checked;
  };
  const order = { from, key: null, configuration: moving, enable: 'always', start: true } as const;
  const { reason, message } = await refusalOf(install({ ...harness.machine, checkConfiguration }, order));
  expect([reason, message]).toEqual(['badConfiguration', expect.stringContaining('was changed while it was read')]);
  expect(existsSync(harness.places.configuration)).toBe(false);
});

test.each([0o600, 0o644])(
  'an existing configuration, with the permissions %o, becomes readable only by the service',
  async (mode) => {
    using harness = createHarness();
    const { settings, configuration } = harness.places;
    mkdirSync(settings);
    chmodSync(settings, 0o755);
    writeFileSync(configuration, readFileSync(harness.configuration()), { mode });
    expect(await harness.install({ from: harness.package('1.0.0') })).toMatchObject({ outcome: 'becomes-ready' });
    const rights = () => [settings, configuration].map((path) => (lstatSync(path).mode & 0o7777).toString(8));
    expect(rights()).toEqual(['750', '640']);
  },
);

test('without a configuration it is installed, neither enabled nor started; configuring it starts it', async () => {
  using harness = createHarness();
  expect(await harness.install({ from: harness.package('1.0.0') })).toMatchObject({
    outcome: 'waits',
    folder: '1.0.0',
  });
  expect(harness.calls()).toEqual(['daemon-reload']);
  expect(await harness.install({ configuration: harness.configuration(), enable: 'as-it-is' })).toMatchObject({
    outcome: 'becomes-ready',
  });
  expect(harness.calls()).toEqual(['daemon-reload', 'enable', 'reset-failed', 'restart']);
});

test('a new version runs instead, and the one before is kept', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  for (const version of ['1.1.0', '2.0.0']) {
    const done = await harness.install({ from: harness.package(version), enable: 'as-it-is' });
    expect(done).toMatchObject({ outcome: 'becomes-ready', folder: version });
    expect(harness.runs()).toContain(version);
  }
  expect(readdirSync(harness.places.versions)).toEqual(['1.1.0', '2.0.0']);
  expect(readFileSync(harness.places.unit, 'utf8')).toContain('of version 2.0.0');
});

test('an older version is installed on request', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('2.0.0'), configuration: harness.configuration() });
  expect(await harness.install({ from: harness.package('1.0.0') })).toMatchObject({ folder: '1.0.0', from: '2.0.0' });
  expect(harness.runs()).toContain('1.0.0');
  expect(readdirSync(harness.places.versions)).toEqual(['1.0.0', '2.0.0']);
});

test('an update where nothing is installed installs', async () => {
  using harness = createHarness();
  const done = await harness.install({
    from: harness.package('1.0.0'),
    configuration: harness.configuration(),
    enable: 'as-it-is',
  });
  expect(done).toMatchObject({ outcome: 'becomes-ready', wasThere: false });
  expect(harness.calls()).toContain('enable');
});

test('a disabled service stays disabled through an update, and is enabled on request', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });

  await disable(harness.machine);
  expect(harness.runs()).toBeNull();
  harness.forgetCalls();
  expect(await harness.install({ from: harness.package('2.0.0'), enable: 'as-it-is' })).toMatchObject({
    outcome: 'rests',
    folder: '2.0.0',
  });
  expect(harness.calls()).toEqual(['daemon-reload']);
  expect(await harness.install({})).toMatchObject({ outcome: 'becomes-ready' });
  expect(harness.runs()).toContain('2.0.0');
});

test('another build of the same version gets its own folder', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const { folder } = await harness.install({ from: harness.package('1.0.0', { build: 2 }) });
  expect(folder).toMatch(/^1\.0\.0\+[0-9a-f]{8}$/);
  expect(harness.runs()).toContain('build 2');
  expect(await harness.install({ from: harness.package('1.0.0', { build: 2 }) })).toMatchObject({
    outcome: 'ready-already',
    folder,
  });
});

test.each([
  { name: 'was changed', damage: (folder: string) => writeFileSync(join(folder, 'node'), '#!/bin/sh\nexit 1\n') },
  { name: 'cannot be executed', damage: (folder: string) => chmodSync(join(folder, 'node'), 0o644) },
  { name: 'cannot be entered by its account', damage: (folder: string) => chmodSync(folder, 0o700) },
])('an installed version that $name is not taken for the one of the package', async ({ damage }) => {
  using harness = createHarness();
  const from = harness.package('1.0.0');
  await harness.install({ from, configuration: harness.configuration() });
  damage(join(harness.places.versions, '1.0.0'));
  expect((await harness.install({ from })).folder).toMatch(/^1\.0\.0\+/);
});

test('in an image everything is installed and enabled, and nothing is started', async () => {
  using harness = createHarness({ facts: { isLive: false } });
  const done = await harness.install({
    from: harness.package('1.0.0'),
    configuration: harness.configuration(),
    start: false,
  });
  expect(done).toMatchObject({ outcome: 'later' });
  expect(harness.calls()).toEqual(['enable']);
  expect(existsSync(harness.places.state)).toBe(false);
});

test('a command of the same name that belongs to another product is kept', async () => {
  using harness = createHarness();
  mkdirSync(join(harness.root, 'usr/local/bin'), { recursive: true });
  writeFileSync(harness.places.command, 'not ours');
  expect(
    await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() }),
  ).toMatchObject({
    command: 'foreign',
  });
  await harness.uninstall({ keepState: true });
  expect(readFileSync(harness.places.command, 'utf8')).toBe('not ours');
});

test.skipIf(noMounting)(
  `with a read-only /usr/local everything but the command is installed, which is reported${noMounting}`,
  () => {
    const result = inMountNamespace('install-read-only.ts');
    expect(JSON.parse(result)).toEqual({
      hasCommand: false,
      // There `systemctl mask` finds it in its way, which is better than no service.
      units: ['administratorUnit'],
      result: [
        { outcome: 'becomes-ready', changed: true, command: 'no-place' },
        { outcome: 'ready-already', changed: false, command: 'no-place' },
      ],
      message: expect.stringMatching(/read-only file system: the command is .opt.scheduled-events-bridge.current/),
    });
  },
);

test.skipIf(noMounting)(
  `an invalid package is refused with the reason, also when home is a mount point${noMounting}`,
  () => {
    const result = inMountNamespace('install-mounted.ts');
    expect(result).toMatch(/^The package in .* is damaged: LICENSE is missing/);
  },
);

test('files of a package that a package manager keeps are linked, all others are copied', async () => {
  const isRoot = process.geteuid?.() === 0;
  using harness = createHarness();
  const [from, packaged] = [harness.package('1.0.0'), harness.places.packaged];
  rmSync(packaged, { recursive: true, force: true });
  cpSync(from, packaged, { recursive: true });
  await harness.install({ from, configuration: harness.configuration() });
  expect(statSync(join(harness.places.versions, '1.0.0/node')).nlink).toBe(1);
  await harness.uninstall();
  // They could be changed afterwards.
  if (isRoot) chownSync(join(packaged, 'LICENSE'), 4711, 4711);
  chmodSync(join(packaged, 'install.sh'), 0o777);
  await harness.install({ from: packaged, configuration: harness.configuration() });
  const links = (file: string) => statSync(join(harness.places.versions, '1.0.0', file)).nlink;
  expect(['node', 'LICENSE', 'install.sh'].map(links)).toEqual([isRoot ? 2 : 1, 1, 1]);
});

interface Planted {
  readonly name: string;
  readonly make: (home: string, root: string) => void;
  readonly skip?: string;
}

test.for<Planted>([
  { name: 'a link', make: (home: string, root: string) => symlinkSync(root, home) },
  { name: 'a link to nowhere', make: (home: string, root: string) => symlinkSync(join(root, 'gone'), home) },
  {
    name: 'a folder that others can write',
    make: (home: string) => {
      mkdirSync(home);
      chmodSync(home, 0o777);
    },
  },
  {
    name: 'another user’s',
    make: (home: string) => {
      mkdirSync(home);
      chownSync(home, 4711, 4711);
    },
    skip: process.geteuid?.() === 0 ? '' : 'only root can give folders away',
  },
])('an installation folder that is $name is refused', async ({ make, skip }, { skip: skipTest }) => {
  if (skip) skipTest(skip);
  using harness = createHarness();
  make(harness.places.home, join(harness.root, 'var'));
  const { reason, message } = await refusalOf(
    harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() }),
  );
  expect([reason, message]).toEqual(['notDone', expect.stringContaining('only root can write')]);
});
