import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { debOf } from '../../../infra/package/deb.ts';
import { asPackageVersion } from '../../../infra/package/distribution.ts';
import type { PlatformName } from '../../../infra/package/platforms.ts';
import { readPackage } from '../../../src/service/package.ts';
import { lacking, moment, newFolder, printed, smallProgram, smallRuntime } from './harness.ts';

const at = moment;

async function debFor(platform: PlatformName, version = smallProgram.version): Promise<Buffer> {
  const program = { ...smallProgram, version };
  const files = contentsOf({ platform, program, runtime: smallRuntime, at, key: null });
  const deb = await debOf(files, { version, platform, at });
  if (!deb) throw new Error(`no .deb for ${platform}`);
  return deb;
}

const made = new Map<PlatformName, Promise<Buffer>>();
/** Made once for all tests. */
function debOnce(platform: PlatformName): Promise<Buffer> {
  const deb = made.get(platform) ?? debFor(platform);
  made.set(platform, deb);
  return deb;
}

async function written(platform: PlatformName = 'linux-x64'): Promise<string> {
  const file = join(newFolder(), 'made.deb');
  writeFileSync(file, await debOnce(platform));
  return file;
}

test.for([
  ['linux-x64', 'amd64'],
  ['linux-arm64', 'arm64'],
] as const)('dpkg reads the fields of the .deb for %s', async ([platform, architecture], { skip }) => {
  const missing = lacking('dpkg-deb');
  skip(missing !== null, missing ?? '');
  const fields = printed('dpkg-deb', ['--field', await written(platform)]);
  expect(fields.split('\n').slice(0, 6)).toEqual([
    'Package: scheduled-events-bridge',
    'Version: 3.2.1',
    `Architecture: ${architecture}`,
    'Maintainer: The scheduled-events-bridge authors <scheduled-events-bridge@users.noreply.github.com>',
    expect.stringMatching(/^Installed-Size: \d+$/),
    'Depends: libc6 (>= 2.28), libstdc++6 (>= 7), passwd, systemd',
  ]);
});

test('a .deb installs the package where the installer expects it, as root with its permissions', async ({ skip }) => {
  const missing = lacking('dpkg-deb');
  skip(missing !== null, missing ?? '');
  const listed = printed('dpkg-deb', ['--contents', await written()])
    .trim()
    .split('\n');
  const owned = listed.map((line) => line.split(/\s+/)).map(([rights, owner, , , , path]) => [path, rights, owner]);
  expect(owned).toEqual(
    expect.arrayContaining([
      ['./usr/lib/scheduled-events-bridge/', 'drwxr-xr-x', '0/0'],
      ['./usr/lib/scheduled-events-bridge/node', '-rwxr-xr-x', '0/0'],
      ['./usr/lib/scheduled-events-bridge/manifest.json', '-rw-r--r--', '0/0'],
      ['./usr/share/doc/scheduled-events-bridge/copyright', '-rw-r--r--', '0/0'],
      ['./usr/bin/scheduled-events-bridge', '-rwxr-xr-x', '0/0'],
    ]),
  );
  expect(new Set(owned.map(([, , owner]) => owner))).toEqual(new Set(['0/0']));
  const files = owned.map(([path = '']) => path).filter((path) => !path.endsWith('/'));
  expect(files.filter((path) => !path.startsWith('./usr/lib/scheduled-events-bridge/')).toSorted()).toEqual([
    './etc/default/scheduled-events-bridge',
    './etc/scheduled-events-bridge/config.sample.json',
    './usr/bin/scheduled-events-bridge',
    './usr/lib/systemd/system/scheduled-events-bridge.service',
    './usr/lib/sysusers.d/scheduled-events-bridge.conf',
    './usr/lib/tmpfiles.d/scheduled-events-bridge.conf',
    './usr/share/bash-completion/completions/scheduled-events-bridge',
    './usr/share/doc/scheduled-events-bridge/changelog.gz',
    './usr/share/doc/scheduled-events-bridge/copyright',
    './usr/share/fish/vendor_completions.d/scheduled-events-bridge.fish',
    './usr/share/lintian/overrides/scheduled-events-bridge',
    './usr/share/man/man8/scheduled-events-bridge.8.gz',
    './usr/share/zsh/vendor-completions/_scheduled-events-bridge',
  ]);
});

test('the installer verifies the package of an installed .deb as complete', async ({ skip }) => {
  const missing = lacking('dpkg-deb', 'md5sum');
  skip(missing !== null, missing ?? '');
  const deb = await written();
  const into = newFolder();
  printed('dpkg-deb', ['--raw-extract', deb, into]);
  expect(readPackage(join(into, 'usr/lib/scheduled-events-bridge')).version).toBe('3.2.1');
  const checked = execFileSync('md5sum', ['--check', '--quiet', 'DEBIAN/md5sums'], { cwd: into, encoding: 'utf8' });
  expect(checked).toBe('');
  const copyright = readFileSync(join(into, 'usr/share/doc/scheduled-events-bridge/copyright'), 'utf8');
  expect(copyright).toContain('License: Expat\n Permission is hereby granted, free of charge, to any person');
  expect(copyright).toContain('\n .\n THE SOFTWARE IS PROVIDED "AS IS"');
  expect(readdirSync(join(into, 'DEBIAN')).toSorted()).toEqual([
    'conffiles',
    'control',
    'md5sums',
    'postinst',
    'postrm',
    'prerm',
  ]);
});

test('a .deb is the same, byte for byte, whenever it is made', async () => {
  expect((await debFor('linux-x64')).equals(await debOnce('linux-x64'))).toBe(true);
  expect((await debFor('linux-x64')).equals(await debOnce('linux-arm64'))).toBe(false);
});

test('a .deb is an archive whose members start at the offsets of ar, regardless of their lengths', async () => {
  const lengths: number[] = [];
  for (const version of ['3.2.0', '3.2.1', '3.2.2', '3.2.3', '3.20.0', '3.200.0']) {
    const deb = await debFor('linux-x64', version);
    const names: string[] = [];
    for (let at = 8; at < deb.length; ) {
      const head = deb.subarray(at, at + 60).toString('latin1');
      expect(head.slice(58)).toBe('`\n');
      const length = Number(head.slice(48, 58));
      names.push(head.slice(0, 16).trim());
      lengths.push(length);
      at += 60 + length + (length % 2);
    }
    expect(names).toEqual(['debian-binary', 'control.tar.gz', 'data.tar.gz']);
  }
  expect(lengths.filter((length) => length % 2 === 1)).not.toEqual([]);
});

test('a .deb has its installed size', async ({ skip }) => {
  const missing = lacking('dpkg-deb');
  skip(missing !== null, missing ?? '');
  const deb = await written();
  const files = printed('dpkg-deb', ['--contents', deb])
    .split('\n')
    .filter((line) => line.startsWith('-'));
  const kilobytes = files.map((line) => Math.ceil(Number(line.split(/\s+/)[2]) / 1024));
  const declared = Number(printed('dpkg-deb', ['--field', deb, 'Installed-Size']));
  expect(declared).toBe(kilobytes.reduce((sum, each) => sum + each, 0));
});

test('there is no .deb for Windows', async () => {
  expect(await debOf([], { version: '1.0.0', platform: 'win-x64', at })).toBeNull();
});

test('a pre-release comes before the release', ({ skip }) => {
  const missing = lacking('dpkg');
  skip(missing !== null, missing ?? '');
  const before = asPackageVersion('1.0.0-rc.1');
  expect(spawnSync('dpkg', ['--compare-versions', before, 'lt', '1.0.0']).status).toBe(0);
});

test('changes by an administrator to the sample and the variables are kept, since dpkg has both as configuration', async ({
  skip,
}) => {
  const missing = lacking('dpkg-deb');
  skip(missing !== null, missing ?? '');
  expect(
    printed('dpkg-deb', ['--info', await written(), 'conffiles'])
      .trim()
      .split('\n'),
  ).toEqual(['/etc/default/scheduled-events-bridge', '/etc/scheduled-events-bridge/config.sample.json']);
});

test('lintian finds no error and nothing to warn of in the .deb', async ({ skip }) => {
  const missing = lacking('lintian');
  skip(missing !== null, `${missing}: apt-get install lintian`);
  // It prints "I:" for what needs no action: an override for the runtime that this small one does not need.
  const { stdout } = spawnSync('lintian', ['--allow-root', await written()], { encoding: 'utf8' });
  expect(stdout.split('\n').filter((line) => /^[EW]:/.test(line))).toEqual([]);
}, 180_000);
