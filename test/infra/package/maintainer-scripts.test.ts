import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from './rig.ts';

type Script = 'deb/postinst' | 'deb/prerm' | 'deb/postrm' | 'rpm/post' | 'rpm/preun' | 'rpm/postun';

/** Programs of this machine that a script may run, since they reach nothing but what is named to them. */
const harmless = ['basename', 'cat', 'rm', 'rmdir'];

/** Runs a script of a package with every path of it under `root`, and programs that only tell how they were called. */
function maintainerScript(name: Script, args: readonly string[], there: Readonly<Record<string, string>>) {
  const root = newFolder();
  const calls = join(root, 'calls');
  const tells = (code: number): string => `#!/bin/sh\necho "$(basename "$0") $*" >> "${calls}"\nexit ${code}\n`;
  for (const [path, what] of Object.entries(there)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    if (what === 'folder') mkdirSync(join(root, path));
    else
      writeFileSync(join(root, path), what.startsWith('exit ') ? tells(Number(what.slice(5))) : what, { mode: 0o755 });
  }
  const source = readFileSync(join(import.meta.dirname, '../../../infra/package/scripts', name), 'utf8');
  const moved = source.replaceAll(/(?<=[\s=])(\/(usr|opt|var|run|etc)\/[\w./-]+)/g, '"$ROOT"$1');
  const script = join(root, 'script');
  writeFileSync(script, moved);
  mkdirSync(join(root, 'bin'), { recursive: true });
  for (const name of harmless) {
    const [found = ''] = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).filter((path) => existsSync(path));
    symlinkSync(found, join(root, 'bin', name));
  }
  const env = { ROOT: root, PATH: join(root, 'bin') };
  const { status, stdout, stderr } = spawnSync('/bin/sh', [script, ...args], { encoding: 'utf8', env });
  const told = spawnSync('cat', [calls], { encoding: 'utf8' }).stdout.replaceAll(root, '');
  return { status, stdout, stderr, calls: told.split('\n').filter((line) => line !== ''), root };
}

const program = '/usr/lib/scheduled-events-bridge/scheduled-events-bridge';
const current = '/opt/scheduled-events-bridge/current';
const remover = '/opt/scheduled-events-bridge/remove.sh';
const from = '--from /usr/lib/scheduled-events-bridge';

const maintained: readonly {
  name: string;
  script: Script;
  args: readonly string[];
  there: Readonly<Record<string, string>>;
  calls: readonly string[];
  status?: number;
}[] = [
  {
    name: 'the first installation installs',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'an upgrade updates',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
  },
  {
    name: 'in an image nothing is started',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0' },
    calls: [`scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'where an administrator forbids it nothing is started',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/usr/sbin/policy-rc.d': 'exit 101' },
    calls: ['policy-rc.d scheduled-events-bridge start', `scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'where a policy allows it the service is started',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/usr/sbin/policy-rc.d': 'exit 104' },
    calls: ['policy-rc.d scheduled-events-bridge start', `scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'a machine that does not fit is told to dpkg',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 51', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
    status: 51,
  },
  {
    name: 'a machine whose firewall keeps the service from Azure is no failure',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 55', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  ...[22, 51, 52, 53].map((code) => ({
    name: `an update that was refused with ${code}, while the version before runs, does not keep apt from its work`,
    script: 'deb/postinst' as const,
    args: ['configure', '3.2.0'],
    there: { [program]: `exit ${code}`, '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
  })),
  {
    name: 'an update while another installer is at work is tried again by dpkg',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: { [program]: 'exit 56', '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
    status: 56,
  },
  {
    name: 'account, rights and unit are those that systemd and Debian know, before the installer comes',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: {
      [program]: 'exit 0',
      [current]: 'folder',
      '/run/systemd/system': 'folder',
      '/bin/systemd-sysusers': 'exit 0',
      '/bin/systemd-tmpfiles': 'exit 0',
      '/bin/deb-systemd-helper': 'exit 0',
    },
    calls: [
      'systemd-sysusers scheduled-events-bridge.conf',
      'systemd-tmpfiles --create scheduled-events-bridge.conf',
      'deb-systemd-helper debian-installed scheduled-events-bridge.service',
      'deb-systemd-helper unmask scheduled-events-bridge.service',
      'deb-systemd-helper --quiet was-enabled scheduled-events-bridge.service',
      'deb-systemd-helper enable scheduled-events-bridge.service',
      'deb-systemd-helper update-state scheduled-events-bridge.service',
      `scheduled-events-bridge service update ${from}`,
    ],
  },
  {
    name: 'a service that was never enabled is not enabled by an update',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: {
      [program]: 'exit 0',
      [current]: 'folder',
      '/run/systemd/system': 'folder',
      '/bin/deb-systemd-helper': 'exit 1',
    },
    calls: [
      'deb-systemd-helper debian-installed scheduled-events-bridge.service',
      'deb-systemd-helper update-state scheduled-events-bridge.service',
      `scheduled-events-bridge service update ${from}`,
    ],
  },
  {
    name: 'before a removal the service is stopped',
    script: 'deb/prerm',
    args: ['remove'],
    there: { '/run/systemd/system': 'folder', '/bin/deb-systemd-invoke': 'exit 0' },
    calls: ['deb-systemd-invoke stop scheduled-events-bridge.service'],
  },
  {
    name: 'before an upgrade nothing is stopped: the installer does it for as long as it has to',
    script: 'deb/prerm',
    args: ['upgrade', '3.3.0'],
    there: { '/run/systemd/system': 'folder', '/bin/deb-systemd-invoke': 'exit 0' },
    calls: [],
  },
  {
    name: 'a purge forgets whether the service was enabled',
    script: 'deb/postrm',
    args: ['purge'],
    there: { '/bin/deb-systemd-helper': 'exit 0', '/bin/getent': 'exit 2' },
    calls: [
      'deb-systemd-helper purge scheduled-events-bridge.service',
      'getent passwd scheduled-events-bridge',
      'getent group scheduled-events-bridge',
    ],
  },
  {
    name: 'an upgrade that is taken back',
    script: 'deb/postinst',
    args: ['abort-upgrade', '3.2.1'],
    there: {},
    calls: [],
  },
  {
    name: 'a removal uninstalls',
    script: 'deb/postrm',
    args: ['remove'],
    there: { [remover]: 'exit 0' },
    calls: ['remove.sh --keep-state --keep-configuration'],
  },
  {
    name: 'a removal that fails is told to dpkg',
    script: 'deb/postrm',
    args: ['remove'],
    there: { [remover]: 'exit 22' },
    calls: ['remove.sh --keep-state --keep-configuration'],
    status: 22,
  },
  { name: 'a removal of what is not there', script: 'deb/postrm', args: ['remove'], there: {}, calls: [] },
  {
    name: 'an upgrade removes nothing',
    script: 'deb/postrm',
    args: ['upgrade', '3.3.0'],
    there: { [remover]: 'exit 0' },
    calls: [],
  },
  {
    name: 'a word that dpkg does not know',
    script: 'deb/postinst',
    args: ['konfigure'],
    there: {},
    calls: [],
    status: 1,
  },
];

const byRpm: typeof maintained = [
  {
    name: 'the first installation installs',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'account, rights and the preset of the unit are those that systemd knows, before the installer comes',
    script: 'rpm/post',
    args: ['1'],
    there: {
      [program]: 'exit 0',
      '/run/systemd/system': 'folder',
      '/bin/systemd-sysusers': 'exit 0',
      '/bin/systemd-tmpfiles': 'exit 0',
      '/usr/lib/systemd/systemd-update-helper': 'exit 0',
    },
    calls: [
      'systemd-sysusers scheduled-events-bridge.conf',
      'systemd-tmpfiles --create scheduled-events-bridge.conf',
      'systemd-update-helper install-system-units scheduled-events-bridge.service',
      `scheduled-events-bridge service install ${from}`,
    ],
  },
  {
    name: 'an older systemd is asked for the preset of the unit',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/bin/systemctl': 'exit 1' },
    calls: [
      'systemctl --no-reload preset scheduled-events-bridge.service',
      `scheduled-events-bridge service install ${from}`,
    ],
  },
  {
    name: 'before a removal the service is stopped',
    script: 'rpm/preun',
    args: ['0'],
    there: { '/usr/lib/systemd/systemd-update-helper': 'exit 0' },
    calls: ['systemd-update-helper remove-system-units scheduled-events-bridge.service'],
  },
  {
    name: 'before a removal an older systemd stops the service',
    script: 'rpm/preun',
    args: ['0'],
    there: { '/bin/systemctl': 'exit 0' },
    calls: ['systemctl --no-reload disable --now scheduled-events-bridge.service'],
  },
  {
    name: 'before the old version goes after an update nothing is stopped',
    script: 'rpm/preun',
    args: ['1'],
    there: { '/bin/systemctl': 'exit 0' },
    calls: [],
  },
  {
    name: 'an upgrade updates',
    script: 'rpm/post',
    args: ['2'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
  },
  {
    name: 'in an image nothing is started',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 0' },
    calls: [`scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'a machine whose firewall keeps the service from Azure is no failure',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 55', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'a machine that does not fit is told to rpm',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 51', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
    status: 51,
  },
  {
    name: 'the old version that goes after an update removes nothing',
    script: 'rpm/postun',
    args: ['1'],
    there: { [remover]: 'exit 0' },
    calls: [],
  },
  {
    name: 'a removal uninstalls, and leaves what was not delivered',
    script: 'rpm/postun',
    args: ['0'],
    there: { [remover]: 'exit 0' },
    calls: ['remove.sh --keep-state --keep-configuration'],
  },
  { name: 'a removal of what is gone already', script: 'rpm/postun', args: ['0'], there: {}, calls: [] },
];

test.each(byRpm)('$name, with rpm', ({ script, args, there, calls, status = 0 }) => {
  const done = maintainerScript(script, args, there);
  expect({ status: done.status, calls: done.calls }).toEqual({ status, calls });
});

test.each(maintained)('$name, with dpkg', ({ script, args, there, calls, status = 0 }) => {
  const done = maintainerScript(script, args, there);
  expect({ status: done.status, calls: done.calls }).toEqual({ status, calls });
});

/** Tells how it was called, and then what there is. */
const getent = (members = ''): string => `#!/bin/sh\necho "getent $*" >> "$ROOT/calls"\necho "$2:x:977:${members}"\n`;

const removed = {
  '/var/lib/scheduled-events-bridge/outbox.sqlite': 'records',
  '/etc/scheduled-events-bridge/config.json': '{}',
  '/bin/getent': getent(),
  '/bin/userdel': 'exit 0',
  '/bin/groupdel': 'exit 0',
} as const;

test('a purge after a removal takes state, configuration and account, and nothing beside them', () => {
  const { status, calls, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    '/var/lib/other/file': 'of somebody else',
  });
  expect({ status, calls }).toEqual({
    status: 0,
    calls: [
      'getent passwd scheduled-events-bridge',
      'userdel scheduled-events-bridge',
      'getent group scheduled-events-bridge',
      'groupdel scheduled-events-bridge',
    ],
  });
  expect(existsSync(join(root, 'var/lib/scheduled-events-bridge'))).toBe(false);
  expect(existsSync(join(root, 'etc/scheduled-events-bridge'))).toBe(false);
  expect(existsSync(join(root, 'var/lib/other/file'))).toBe(true);
});

test('a removal with rpm removes the folder of the configuration where it is empty', () => {
  const folder = '/etc/scheduled-events-bridge';
  for (const [there, stays] of [
    [{ [folder]: 'folder' }, false],
    [{ [`${folder}/config.json`]: '{}' }, true],
  ] as const) {
    const { status, root, stderr } = maintainerScript('rpm/postun', ['0'], there);
    expect({ status, stderr, isThere: existsSync(join(root, folder)) }).toEqual({
      status: 0,
      stderr: '',
      isThere: stays,
    });
  }
});

test('a purge leaves what somebody has put beside the configuration', () => {
  const certificate = '/etc/scheduled-events-bridge/authority.pem';
  const { status, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    [certificate]: 'PEM',
  });
  expect(status).toBe(0);
  expect(readdirSync(join(root, 'etc/scheduled-events-bridge'))).toEqual(['authority.pem']);
});

test('a purge of what is left leaves a bridge alone that came in another way since', () => {
  const { status, calls, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    [current]: 'folder',
    [remover]: 'exit 0',
  });
  expect({ status, calls }).toEqual({ status: 0, calls: [] });
  expect(existsSync(join(root, 'var/lib/scheduled-events-bridge/outbox.sqlite'))).toBe(true);
  expect(existsSync(join(root, 'etc/scheduled-events-bridge/config.json'))).toBe(true);
});

test('a purge goes on where the account cannot be removed, and says how it is', () => {
  const { status, stdout, stderr, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    '/bin/userdel': 'exit 8',
  });
  expect(stdout).toMatch(/^The state in .* is removed, with what was not delivered\.$/m);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: 'Left to be done by hand: userdel scheduled-events-bridge\n',
  });
  expect(existsSync(join(root, 'var/lib/scheduled-events-bridge'))).toBe(false);
});

test('a purge leaves a group alone that others are in, and says so', () => {
  const { status, stdout, calls } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    '/bin/getent': getent('al,jo'),
  });
  expect(status).toBe(0);
  expect(stdout).toContain('The group scheduled-events-bridge stays, since others are in it: al,jo.');
  expect(calls).toContain('userdel scheduled-events-bridge');
  expect(calls).not.toContain('groupdel scheduled-events-bridge');
});

test('a purge where the account is gone already leaves it at that', () => {
  const { status, calls } = maintainerScript('deb/postrm', ['purge'], { '/bin/getent': 'exit 2' });
  expect({ status, calls }).toEqual({
    status: 0,
    calls: ['getent passwd scheduled-events-bridge', 'getent group scheduled-events-bridge'],
  });
});
