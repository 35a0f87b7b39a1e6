import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import type { PlatformName } from '../../../infra/package/platforms.ts';
import { rpmOf, whyNoRpm } from '../../../infra/package/rpm.ts';
import { moment, printed, smallProgram, smallRuntime } from './harness.ts';

const noRpm = await whyNoRpm();
if (noRpm !== null) console.log(`  skipped: packages for rpm: ${noRpm}`);

/** Of which rpm, if it is let, makes a requirement. */
const runtime = { ...smallRuntime, program: Buffer.from('#!/opt/interpreter\n') };

async function rpmFor(platform: PlatformName, version = smallProgram.version): Promise<Buffer> {
  const files = contentsOf({ platform, program: smallProgram, runtime, at: moment, key: null });
  const rpm = await rpmOf(files, { version, platform, at: moment, licences: ['ISC', 'MIT'] });
  if (!rpm) throw new Error(`no .rpm for ${platform}`);
  return rpm;
}

const besidePackage = [
  '/etc/default/scheduled-events-bridge',
  '/etc/scheduled-events-bridge/config.sample.json',
  '/usr/bin/scheduled-events-bridge',
  '/usr/lib/systemd/system/scheduled-events-bridge.service',
  '/usr/lib/sysusers.d/scheduled-events-bridge.conf',
  '/usr/lib/tmpfiles.d/scheduled-events-bridge.conf',
  '/usr/share/bash-completion',
  '/usr/share/bash-completion/completions',
  '/usr/share/bash-completion/completions/scheduled-events-bridge',
  '/usr/share/fish',
  '/usr/share/fish/vendor_completions.d',
  '/usr/share/fish/vendor_completions.d/scheduled-events-bridge.fish',
  '/usr/share/man/man8/scheduled-events-bridge.8.gz',
  '/usr/share/zsh',
  '/usr/share/zsh/site-functions',
  '/usr/share/zsh/site-functions/_scheduled-events-bridge',
];

describe.skipIf(noRpm !== null)('an .rpm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rpm-test-'));
  const files = { 'linux-x64': join(folder, 'x64.rpm'), 'linux-arm64': join(folder, 'arm64.rpm') } as const;
  const query = (file: string, ...args: readonly string[]): string =>
    printed('rpm', ['--query', '--package', file, ...args], { LC_ALL: 'C', TZ: 'UTC' });
  beforeAll(async () => {
    for (const platform of ['linux-x64', 'linux-arm64'] as const) {
      writeFileSync(files[platform], await rpmFor(platform, '3.2.1-rc.1'));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['linux-x64', 'x86_64'],
    ['linux-arm64', 'aarch64'],
  ] as const)('for %s has its name, version and architecture', (platform, processor) => {
    const said = query(
      files[platform],
      '--queryformat',
      '%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{LICENSE} %{BUILDTIME}',
    );
    expect(said).toBe(`scheduled-events-bridge 3.2.1~rc.1 1 ${processor} ISC AND MIT ${moment.getTime() / 1000}`);
  });

  test('has its vendor, origin and change log', () => {
    const said = query(files['linux-x64'], '--queryformat', '%{URL}\n%{GROUP}\n%{PACKAGER}\n[%{CHANGELOGTEXT}]');
    expect(said.split('\n')).toEqual([
      'https://github.com/scheduled-events-bridge/scheduled-events-bridge',
      'System/Monitoring',
      'The scheduled-events-bridge authors <scheduled-events-bridge@users.noreply.github.com>',
      '- Version 3.2.1-rc.1',
    ]);
  });

  test('keeps changes by an administrator to the sample and the variables', () => {
    expect(query(files['linux-x64'], '--configfiles').trim().split('\n')).toEqual(besidePackage.slice(0, 2));
  });

  test('contains nothing about where and when it was built', () => {
    const [host, ...changed] = query(files['linux-x64'], '--queryformat', '%{BUILDHOST}[ %{FILEMTIMES}]').split(' ');
    expect(host).toBe('reproducible');
    expect(new Set(changed)).toEqual(new Set([String(moment.getTime() / 1000)]));
  });

  test('is installed after what its installer needs', () => {
    const needed = query(files['linux-x64'], '--queryformat', '[%{REQUIRENAME} %{REQUIREFLAGS:deptype}\n]').split('\n');
    const forInstaller = needed.filter((line) => line.endsWith(' post')).map((line) => line.split(' ')[0] ?? '');
    expect(forInstaller.filter((name) => !name.startsWith('/bin/sh')).toSorted()).toEqual([
      '/usr/sbin/useradd',
      'libc.so.6(GLIBC_2.28)(64bit)',
      'libstdc++.so.6(CXXABI_1.3.11)(64bit)',
      'systemd',
    ]);
  });

  test('installs the package where the installer expects it, as root with its permissions', () => {
    const listed = query(files['linux-x64'], '--list', '--verbose').trim().split('\n');
    const owned = listed
      .map((line) => line.split(/\s+/))
      .map(([rights, , user, group, , , , , path]) => [path, rights, user, group].join(' '));
    const at = '/usr/lib/scheduled-events-bridge';
    expect(owned).toEqual(
      expect.arrayContaining([
        `${at} drwxr-xr-x root root`,
        `${at}/node -rwxr-xr-x root root`,
        `${at}/manifest.json -rw-r--r-- root root`,
        `${at}/scheduled-events-bridge -rwxr-xr-x root root`,
        '/usr/bin/scheduled-events-bridge -rwxr-xr-x root root',
      ]),
    );
    const beside = owned.map((line) => line.split(' ')[0] ?? '').filter((path) => !path.startsWith(at));
    expect(beside.toSorted()).toEqual(besidePackage);
    expect(owned.filter((line) => !line.endsWith(' root root'))).toEqual([]);
  });

  test('requires the libraries of the runtime, and none that rpm guessed', () => {
    const required = query(files['linux-x64'], '--requires').trim().split('\n');
    expect([...new Set(required)].filter((one) => !one.startsWith('rpmlib(')).toSorted()).toEqual([
      '/bin/sh',
      '/usr/sbin/useradd',
      'libc.so.6(GLIBC_2.28)(64bit)',
      'libstdc++.so.6(CXXABI_1.3.11)(64bit)',
      'systemd',
    ]);
  });

  test('installs and removes by the scripts that are tested, as they are', () => {
    const scripts = query(files['linux-x64'], '--scripts');
    const [, installs, stops, removes] = scripts.split(/^(?:post|preun|postun)install scriptlet.*\n/m);
    const source = (name: string): string =>
      readFileSync(join(import.meta.dirname, '../../../infra/package/scripts/rpm', name), 'utf8');
    const names = ['post', 'preun', 'postun'];
    expect([installs, stops, removes].map((script) => script?.trim())).toEqual(
      names.map((name) => source(name).trim()),
    );
  });

  test('is the same, byte for byte, whenever it is made', async () => {
    expect((await rpmFor('linux-x64')).equals(await rpmFor('linux-x64'))).toBe(true);
    expect((await rpmFor('linux-x64')).equals(await rpmFor('linux-arm64'))).toBe(false);
  });
});

test('there is no .rpm for Windows', async () => {
  expect(await rpmOf([], { version: '1.0.0', platform: 'win-x64', at: moment, licences: [] })).toBeNull();
});
