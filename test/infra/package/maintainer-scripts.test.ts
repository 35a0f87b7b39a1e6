import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from './rig.ts';

/** Runs a maintainer script with every path of it under `root`, and programs that only tell how they were called. */
function maintainerScript(
  name: 'postinst' | 'postrm',
  args: readonly string[],
  there: Readonly<Record<string, string>>,
) {
  const root = newFolder();
  const calls = join(root, 'calls');
  const tells = (code: number): string => `#!/bin/sh\necho "$(basename "$0") $*" >> "${calls}"\nexit ${code}\n`;
  for (const [path, what] of Object.entries(there)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    if (what === 'folder') mkdirSync(join(root, path));
    else
      writeFileSync(join(root, path), what.startsWith('exit ') ? tells(Number(what.slice(5))) : what, { mode: 0o755 });
  }
  const source = readFileSync(join(import.meta.dirname, '../../../infra/package/scripts/deb', name), 'utf8');
  const moved = source.replaceAll(/(?<=[\s=])(\/(usr|opt|var|run)\/[\w./-]+)/g, '"$ROOT"$1');
  writeFileSync(join(root, name), moved);
  // No program of the machine that could change it.
  const env = { ROOT: root, PATH: `${root}/bin:/usr/bin:/bin` };
  const { status, stderr } = spawnSync('sh', [join(root, name), ...args], { encoding: 'utf8', env });
  const told = spawnSync('cat', [calls], { encoding: 'utf8' }).stdout.replaceAll(root, '');
  return { status, stderr, calls: told.split('\n').filter((line) => line !== ''), root };
}

const program = '/usr/lib/scheduled-events-bridge/scheduled-events-bridge';
const current = '/opt/scheduled-events-bridge/current';
const remover = '/opt/scheduled-events-bridge/remove.sh';
const from = '--from /usr/lib/scheduled-events-bridge';

const maintained: readonly {
  name: string;
  script: 'postinst' | 'postrm';
  args: readonly string[];
  there: Readonly<Record<string, string>>;
  calls: readonly string[];
  status?: number;
}[] = [
  {
    name: 'the first installation installs',
    script: 'postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'an upgrade updates',
    script: 'postinst',
    args: ['configure', '3.2.0'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
  },
  {
    name: 'in an image nothing is started',
    script: 'postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0' },
    calls: [`scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'where an administrator forbids it nothing is started',
    script: 'postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/usr/sbin/policy-rc.d': 'exit 101' },
    calls: ['policy-rc.d scheduled-events-bridge start', `scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'where a policy allows it the service is started',
    script: 'postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/usr/sbin/policy-rc.d': 'exit 104' },
    calls: ['policy-rc.d scheduled-events-bridge start', `scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'a machine that does not fit is told to dpkg',
    script: 'postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 51', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
    status: 51,
  },
  { name: 'an upgrade that is taken back', script: 'postinst', args: ['abort-upgrade', '3.2.1'], there: {}, calls: [] },
  {
    name: 'a removal uninstalls',
    script: 'postrm',
    args: ['remove'],
    there: { [remover]: 'exit 0' },
    calls: ['remove.sh --keep-state'],
  },
  {
    name: 'a removal that fails is told to dpkg',
    script: 'postrm',
    args: ['remove'],
    there: { [remover]: 'exit 22' },
    calls: ['remove.sh --keep-state'],
    status: 22,
  },
  { name: 'a removal of what is not there', script: 'postrm', args: ['remove'], there: {}, calls: [] },
  {
    name: 'an upgrade removes nothing',
    script: 'postrm',
    args: ['upgrade', '3.3.0'],
    there: { [remover]: 'exit 0' },
    calls: [],
  },
  {
    name: 'a purge of what is still installed takes the state too',
    script: 'postrm',
    args: ['purge'],
    there: { [remover]: 'exit 0' },
    calls: ['remove.sh '],
  },
  { name: 'a word that dpkg does not know', script: 'postinst', args: ['konfigure'], there: {}, calls: [], status: 1 },
];

test.each(maintained)('$name, with dpkg', ({ script, args, there, calls, status = 0 }) => {
  const done = maintainerScript(script, args, there);
  expect({ status: done.status, calls: done.calls }).toEqual({ status, calls });
});

test('a purge after a removal takes the state and the account, and nothing beside them', () => {
  const { status, calls, root } = maintainerScript('postrm', ['purge'], {
    '/var/lib/scheduled-events-bridge/outbox.sqlite': 'records',
    '/var/lib/other/file': 'of somebody else',
    '/bin/getent': 'exit 0',
    '/bin/userdel': 'exit 0',
  });
  expect({ status, calls }).toEqual({
    status: 0,
    calls: ['getent passwd scheduled-events-bridge', 'userdel scheduled-events-bridge'],
  });
  expect(existsSync(join(root, 'var/lib/scheduled-events-bridge'))).toBe(false);
  expect(existsSync(join(root, 'var/lib/other/file'))).toBe(true);
});

test('a purge where the account is gone already leaves it at that', () => {
  const there = { '/bin/getent': 'exit 2', '/bin/userdel': 'exit 6' };
  const { status, calls } = maintainerScript('postrm', ['purge'], there);
  expect({ status, calls }).toEqual({ status: 0, calls: ['getent passwd scheduled-events-bridge'] });
});
