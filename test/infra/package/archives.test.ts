import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { PackedFile } from '../../../infra/package/packed-file.ts';
import { gzipOf, tar } from '../../../infra/package/tar.ts';
import { zip } from '../../../infra/package/zip.ts';
import { lacking, moment, newFolder, printed } from './harness.ts';

const files: readonly PackedFile[] = [
  { path: 'run.sh', mode: 0o755, content: Buffer.from('#!/bin/sh\n') },
  { path: 'empty', mode: 0o644, content: Buffer.alloc(0) },
  { path: 'deep/in/a folder', mode: 0o644, content: Buffer.from('é'.repeat(600)) },
  { path: 'a block', mode: 0o644, content: Buffer.alloc(512, 'x') },
];
const place = { top: 'top-1.0/', at: moment };

const kinds = [
  {
    kind: 'tar.gz',
    needs: ['tar'],
    make: async (some: readonly PackedFile[]) => gzipOf(tar(some, place)),
    unpack: (file: string, into: string) => printed('tar', ['-xzf', file, '-C', into]),
  },
  {
    kind: 'zip',
    needs: ['unzip'],
    make: async (some: readonly PackedFile[]) => zip(some, place),
    unpack: (file: string, into: string) => printed('unzip', ['-q', file, '-d', into], { TZ: 'UTC' }),
  },
] as const;

for (const { kind, needs, make, unpack } of kinds) {
  test(`a .${kind} unpacks with its permissions, times and bytes`, async ({ skip }) => {
    const missing = lacking(...needs);
    skip(missing !== null, missing ?? '');
    const folder = newFolder();
    const archive = join(folder, `archive.${kind}`);
    writeFileSync(archive, await make(files));
    mkdirSync(join(folder, 'out'));
    unpack(archive, join(folder, 'out'));
    for (const { path, mode, content } of files) {
      const there = join(folder, 'out/top-1.0', path);
      const { mode: rights, mtime } = statSync(there);
      expect(readFileSync(there).equals(content), path).toBe(true);
      expect([path, rights & 0o7777, mtime]).toEqual([path, mode, moment]);
    }
  });

  test(`the order in which files are given does not change a .${kind}`, async () => {
    expect((await make(files)).equals(await make(files.toReversed()))).toBe(true);
  });

  test(`a .${kind} of another content is another`, async () => {
    const [first, ...others] = files;
    if (!first) throw new Error('no file');
    expect((await make(files)).equals(await make([{ ...first, mode: 0o644 }, ...others]))).toBe(false);
  });
}

test('a tar archive contains no user name, regardless of who creates it', async ({ skip }) => {
  const missing = lacking('tar');
  skip(missing !== null, missing ?? '');
  const archive = join(newFolder(), 'archive.tar');
  writeFileSync(archive, tar(files, place));
  const lines = printed('tar', ['-tvf', archive], { TZ: 'UTC', LC_ALL: 'C' }).trim().split('\n');
  expect(lines.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'drwxr-xr-x 0/0 0 2026-03-04 05:06 top-1.0/',
    '-rw-r--r-- 0/0 512 2026-03-04 05:06 top-1.0/a block',
    'drwxr-xr-x 0/0 0 2026-03-04 05:06 top-1.0/deep/',
    'drwxr-xr-x 0/0 0 2026-03-04 05:06 top-1.0/deep/in/',
    '-rw-r--r-- 0/0 1200 2026-03-04 05:06 top-1.0/deep/in/a folder',
    '-rw-r--r-- 0/0 0 2026-03-04 05:06 top-1.0/empty',
    '-rwxr-xr-x 0/0 10 2026-03-04 05:06 top-1.0/run.sh',
  ]);
});

test('a path that a tar archive cannot hold is refused, not cut', () => {
  const long = { path: 'x'.repeat(93), mode: 0o644, content: Buffer.alloc(1) } as const;
  expect(() => tar([long], place)).toThrow('too long for a tar archive: 101 bytes of 100');
  expect(tar([{ ...long, path: 'x'.repeat(92) }], place).length).toBe(2048 + 512);
});

test('an archive that gzip did not finish is refused', async () => {
  const programs = newFolder();
  writeFileSync(join(programs, 'gzip'), '#!/bin/sh\n/bin/cat >/dev/null\necho half\nexit 1\n', { mode: 0o755 });
  vi.stubEnv('PATH', programs);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(gzipOf(Buffer.from('whole'))).rejects.toThrow('gzip ended with 1');
});
