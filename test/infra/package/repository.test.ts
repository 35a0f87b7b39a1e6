import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { debOf } from '../../../infra/package/deb.ts';
import { main } from '../../../infra/package/main.ts';
import { rpmOf } from '../../../infra/package/rpm.ts';
import { readPackage } from '../../../src/service/package.ts';
import { lacking, moment, printed, smallProgram, smallRuntime } from './harness.ts';

const product = 'scheduled-events-bridge';
const missing = lacking('gpg', 'apt-ftparchive', 'apt-get', 'createrepo_c', 'rpmbuild', 'rpmsign');
const whyNot = missing === null ? '' : `${missing}: apt-get install apt-utils createrepo-c gnupg rpm`;
if (whyNot !== '') console.log(`  skipped: repositories for apt and dnf: ${whyNot}`);

/** A program of this machine, so that what reads packages finds one in it. */
const runtime = {
  ...smallRuntime,
  program: readFileSync(process.platform === 'linux' ? '/bin/true' : process.execPath),
};

async function packagesOf(version: string, into: string): Promise<void> {
  const about = { platform: 'linux-x64', version, at: moment } as const;
  const files = contentsOf({ ...about, program: { ...smallProgram, version }, runtime, key: null });
  writeFileSync(join(into, `${product}_${version}_amd64.deb`), (await debOf(files, about)) ?? '');
  writeFileSync(
    join(into, `${product}-${version}-1.x86_64.rpm`),
    (await rpmOf(files, { ...about, licences: ['MIT'] })) ?? '',
  );
}

/** Beside this process, which is the web server. */
async function runBeside(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly home: string },
) {
  const child = spawn(program, [...args], {
    cwd: options.cwd,
    env: { ...process.env, LC_ALL: 'C', HOME: options.home },
  });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, said: (await said).join('') };
}

/** Any web server: it hands out files, and knows nothing of packages. */
function webServer(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, decodeURIComponent(new URL(request.url ?? '', 'http://x').pathname))));
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

describe.skipIf(whyNot)('a repository', () => {
  const place = mkdtempSync(join(tmpdir(), 'repository-'));
  const at = (...parts: readonly string[]): string => join(place, ...parts);
  const folder = at('web');
  const env = { ...process.env, GNUPGHOME: at('gnupg') };
  let server: Server;
  let key = '';

  const command = async (...args: readonly string[]) => {
    let said = '';
    const around = {
      env,
      print: () => {},
      say: (sentence: string) => {
        said += sentence;
      },
      sources: () => Promise.reject(),
      consumer: () => Promise.reject(),
      simulator: () => Promise.reject(),
    };
    return { code: await main(['repository', ...args], around), said };
  };
  const make = (packages: string) =>
    command(
      folder,
      '--packages',
      packages,
      '--gpg-key',
      key,
      '--url',
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    );

  beforeAll(async () => {
    for (const one of ['gnupg', 'first', 'second', 'web']) mkdirSync(at(one), { mode: 0o700 });
    const keyArgs = [
      '--batch',
      '--passphrase',
      '',
      '--quick-generate-key',
      'Packager <packager@example.com>',
      'rsa2048',
      'sign',
      'never',
    ];
    printed('gpg', keyArgs, env);
    const listed = printed('gpg', ['--list-keys', '--with-colons'], env);
    key = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? '';
    server = await webServer(folder);
    await packagesOf('3.2.1', at('first'));
    await packagesOf('3.3.0', at('second'));
    expect(await make(at('first'))).toEqual({ code: 0, said: '' });
    expect(await make(at('second'))).toEqual({ code: 0, said: '' });
  }, 120_000);
  afterAll(() => {
    server?.close();
    spawnSync('gpgconf', ['--kill', 'all'], { env });
    rmSync(place, { recursive: true, force: true });
  });

  /** apt with lists, keys and sources of its own, which trusts the key in `keyFile`. */
  async function apt(name: string, keyFile: string) {
    const own = at(name);
    for (const one of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(own, one), { recursive: true });
    const sources = readFileSync(join(folder, `${product}.sources`), 'utf8');
    writeFileSync(join(own, 'status'), '');
    writeFileSync(join(own, 'own.sources'), sources.replace(/^Signed-By: .*/m, `Signed-By: ${keyFile}`));
    const options = [
      ...['APT::Sandbox::User=root', `Dir::State::Lists=${own}/lists`, `Dir::State::status=${own}/status`],
      ...[`Dir::Cache=${own}/cache`, 'Dir::Etc::SourceList=/dev/null', `Dir::Etc::SourceParts=${own}`],
      ...[
        'Dir::Etc::Trusted=/dev/null',
        'Dir::Etc::TrustedParts=/dev/null',
        'APT::Architecture=amd64',
        'Acquire::Retries=0',
      ],
    ].flatMap((option) => ['-o', option]);
    return async (program: 'apt-get' | 'apt-cache', ...args: readonly string[]) => ({
      own,
      ...(await runBeside(program, [...options, ...args], { cwd: own, home: own })),
    });
  }

  test('apt takes every version from it that was ever put there, and trusts it by the key beside it', async () => {
    const run = await apt('apt-ours', join(folder, `${product}.asc`));
    expect(await run('apt-get', 'update')).toMatchObject({ code: 0 });
    const { said } = await run('apt-cache', 'madison', product);
    expect(said.split('\n').flatMap((line) => line.split('|')[1]?.trim() ?? [])).toEqual(['3.3.0', '3.2.1']);
    const { code, own } = await run('apt-get', 'download', `${product}=3.2.1`);
    expect(code).toBe(0);
    const name = `${product}_3.2.1_amd64.deb`;
    expect(readFileSync(join(own, name)).equals(readFileSync(at('first', name)))).toBe(true);
  });

  test('apt refuses it with another key, and where its list was changed', async () => {
    writeFileSync(at('other.asc'), readFileSync('/usr/share/keyrings/debian-archive-keyring.gpg'));
    const untrusting = await apt('apt-theirs', at('other.asc'));
    const refused = await untrusting('apt-get', 'update', '-o', 'APT::Update::Error-Mode=any');
    expect([refused.code, refused.said]).toEqual([
      100,
      expect.stringMatching(/NO_PUBKEY|is not signed|couldn't be verified/),
    ]);
    const list = join(folder, 'apt/dists/stable/main/binary-amd64/Packages');
    const [plain, packed] = [readFileSync(list), readFileSync(`${list}.gz`)];
    for (const file of [list, `${list}.gz`]) writeFileSync(file, `${plain}Changed: yes\n`);
    const run = await apt('apt-changed', join(folder, `${product}.asc`));
    expect((await run('apt-get', 'update')).said).toMatch(/Hash Sum mismatch|unexpected size/);
    writeFileSync(list, plain);
    writeFileSync(`${list}.gz`, packed);
  });

  test('dnf installs from it, and refuses a package that was changed', async ({ skip }) => {
    const noDnf = lacking('dnf') ?? (process.geteuid?.() === 0 ? null : 'only root may install into a folder');
    skip(noDnf !== null, `${noDnf}: apt-get install dnf`);
    // What every machine has that the package is for, and an empty folder has not.
    const needs = [
      'libc.so.6(GLIBC_2.28)(64bit)',
      'libstdc++.so.6(CXXABI_1.3.11)(64bit)',
      'systemd',
      '/usr/sbin/useradd',
      '/bin/sh',
    ];
    const spec = `Name: machine\nVersion: 1\nRelease: 1\nSummary: x\nLicense: MIT\n${needs.map((one) => `Provides: ${one}`).join('\n')}\n%description\nx\n%files\n`;
    writeFileSync(at('machine.spec'), spec);
    printed('rpmbuild', [
      '-bb',
      '--quiet',
      '--target',
      'x86_64-linux',
      '--define',
      `_topdir ${at('top')}`,
      at('machine.spec'),
    ]);
    const dnf = (name: string) => {
      mkdirSync(at(name, 'repos'), { recursive: true });
      writeFileSync(at(name, 'repos/own.repo'), readFileSync(join(folder, `${product}.repo`)));
      const args = [
        ...['install', '--assumeyes', `--installroot=${at(name, 'root')}`, '--releasever=1', '--forcearch=x86_64'],
        ...[
          `--setopt=reposdir=${at(name, 'repos')}`,
          `--setopt=cachedir=${at(name, 'cache')}`,
          '--setopt=tsflags=noscripts',
        ],
        ...['--setopt=retries=1', at('top/RPMS/x86_64/machine-1-1.x86_64.rpm'), product],
      ];
      return runBeside('dnf', args, { home: at(name) });
    };
    expect(await dnf('dnf-ours')).toMatchObject({ code: 0 });
    expect(readPackage(at('dnf-ours/root/usr/lib', product)).version).toBe('3.3.0');

    // The list has its true checksum, but the author of the list has not signed the package.
    const rpm = join(folder, 'rpm', `${product}-3.3.0-1.x86_64.rpm`);
    writeFileSync(rpm, readFileSync(at('second', `${product}-3.3.0-1.x86_64.rpm`)));
    printed('createrepo_c', ['--quiet', '--no-database', '--general-compress-type', 'gz', join(folder, 'rpm')]);
    const index = join(folder, 'rpm/repodata/repomd.xml');
    printed('gpg', ['--batch', '--yes', '--armor', '--detach-sign', '--output', `${index}.asc`, index], env);
    const refused = await dnf('dnf-changed');
    expect(refused.code).not.toBe(0);
    expect(refused.said).toMatch(/is not signed|GPG check FAILED/);
    expect(await make(at('second'))).toEqual({ code: 0, said: '' });
  }, 120_000);

  test('rpmlint finds no error in a package of it', ({ skip }) => {
    const noRpmlint = lacking('rpmlint');
    skip(noRpmlint !== null, `${noRpmlint}: apt-get install rpmlint`);
    const { stdout } = spawnSync('rpmlint', [join(folder, 'rpm', `${product}-3.3.0-1.x86_64.rpm`)], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/1 packages and 0 specfiles checked/);
    // The key of this test is in no database of rpm.
    expect(stdout.split('\n').filter((line) => /: E: (?!unknown-key)/.test(line))).toEqual([]);
  });

  test('a key that gpg does not have, and a folder without packages, are reported in one line', async () => {
    const before = key;
    key = 'F'.repeat(40);
    const unknown = await make(at('first'));
    key = before;
    expect(unknown).toMatchObject({ code: 1, said: expect.stringMatching(/^\w+ failed: .*\n$/) });
    mkdirSync(at('empty'));
    expect(await make(at('empty'))).toMatchObject({ code: 1, said: expect.stringContaining('npm run package') });
    expect(await make(at('second'))).toEqual({ code: 0, said: '' });
  });
});
