import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isPlaced } from '../../src/service/linux/apply.ts';
import { faultsIn, folderFor, readPackage } from '../../src/service/package.ts';
import { createHarness, type Harness } from './harness.ts';

/** A package with its manifest changed. */
function changed(
  harness: Harness,
  change: (manifest: Record<string, unknown> & { files: Record<string, unknown>[] }) => unknown,
): string {
  const from = harness.package('1.0.0');
  const file = join(from, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify(change(manifest) ?? manifest));
  return from;
}

const withFile = (file: Record<string, unknown>) => (manifest: { files: Record<string, unknown>[] }) => {
  manifest.files.push({ path: 'more', sha256: 'a'.repeat(64), bytes: 1, mode: '0644', ...file });
};

const bad: readonly {
  readonly name: string;
  readonly change: Parameters<typeof changed>[1];
  readonly message: RegExp;
}[] = [
  {
    name: 'that belongs to another program',
    change: (manifest) => ({ ...manifest, name: 'other' }),
    message: /it is of "other"/,
  },
  { name: 'without files', change: (manifest) => ({ ...manifest, files: null }), message: /lists no files/ },
  { name: 'without a version', change: (manifest) => ({ ...manifest, version: 1 }), message: /no version/ },
  {
    name: 'with a version that leads elsewhere',
    change: (manifest) => ({ ...manifest, version: '../../etc' }),
    message: /no version/,
  },
  { name: 'without a platform', change: (manifest) => ({ ...manifest, platform: undefined }), message: /no platform/ },
  {
    name: 'without a runtime',
    change: (manifest) => ({ ...manifest, files: manifest.files.filter(({ path }) => path !== 'node') }),
    message: /lists no node/,
  },
  {
    name: 'with a file above the folder',
    change: withFile({ path: '../more' }),
    message: /its file .*no path in the folder/,
  },
  {
    name: 'with a file somewhere above the folder',
    change: withFile({ path: 'a/../../more' }),
    message: /no path in the folder/,
  },
  { name: 'with an absolute file', change: withFile({ path: '/etc/passwd' }), message: /no path in the folder/ },
  { name: 'with a file that is the folder', change: withFile({ path: '.' }), message: /no path in the folder/ },
  { name: 'with an invalid checksum', change: withFile({ sha256: 'A' }), message: /no SHA-256/ },
  { name: 'with a file without a size', change: withFile({ bytes: '1' }), message: /no size/ },
];

test.each(bad)('a manifest $name is refused', ({ change, message }) => {
  using harness = createHarness();
  expect(() => readPackage(changed(harness, change))).toThrow(message);
});

test('a folder without a manifest is no package, nor is one with half a manifest', () => {
  using harness = createHarness();
  expect(() => readPackage(harness.root)).toThrow(/contains no package/);
  const from = harness.package('1.0.0');
  writeFileSync(join(from, 'manifest.json'), '{"name":');
  expect(() => readPackage(from)).toThrow(/it is not JSON/);
});

test.each(['node.exe', 'scheduled-events-bridge.cjs', 'scheduled-events-bridge-service.exe', 'windows-service.json'])(
  'a manifest for Windows without %s is refused',
  (path) => {
    using harness = createHarness();
    const names = ['node.exe', 'scheduled-events-bridge-service.exe', 'windows-service.json'];
    const folder = changed(harness, (manifest) => ({
      ...manifest,
      platform: 'win-x64',
      files: [...manifest.files, ...names.map((name) => ({ path: name, sha256: 'a'.repeat(64), bytes: 1 }))].filter(
        (file) => file.path !== path,
      ),
    }));
    expect(() => readPackage(folder)).toThrow(`it lists no ${path}`);
  },
);

test('the definition of a package for Windows is its windows-service.json', () => {
  using harness = createHarness();
  const names = ['node.exe', 'scheduled-events-bridge-service.exe', 'windows-service.json'];
  const folder = changed(harness, (manifest) => ({
    ...manifest,
    platform: 'win-x64',
    files: [...manifest.files, ...names.map((name, n) => ({ path: name, sha256: `${n}`.repeat(64), bytes: 1 }))],
  }));
  expect(readPackage(folder).unitSha256).toBe('2'.repeat(64));
});

test('rights are taken as text or as a number, and files may be in folders', () => {
  using harness = createHarness();
  const { files } = readPackage(
    changed(harness, (manifest) => {
      for (const [n, mode] of [0o755, 0o644, '0755', '0644', undefined].entries())
        withFile({ path: `folder/..file${n}`, mode })(manifest);
    }),
  );
  expect(files.slice(-5).map(({ path, isExecutable }) => [path, isExecutable])).toEqual([
    ['folder/..file0', true],
    ['folder/..file1', false],
    ['folder/..file2', true],
    ['folder/..file3', false],
    ['folder/..file4', false],
  ]);
});

test('a wrong file is reported: missing, not a file, longer, different', () => {
  using harness = createHarness();
  const from = harness.package('1.0.0');
  const desired = readPackage(from);
  expect(faultsIn(from, desired)).toEqual([]);
  rmSync(join(from, 'LICENSE'));
  symlinkSync('/etc/passwd', join(from, 'LICENSE'));
  writeFileSync(join(from, 'install.sh'), 'longer than it was before');
  rmSync(join(from, 'node'));
  expect(faultsIn(from, desired)).toEqual([
    'node is missing',
    'install.sh has 25 bytes instead of 17',
    'LICENSE is no file',
  ]);
});

test('a folder with another build of the version is not the one', () => {
  using harness = createHarness();
  const [one, other] = [harness.package('1.0.0'), harness.package('1.0.0', { build: 2 })];
  expect(isPlaced(one, readPackage(one))).toBe(true);
  expect(isPlaced(one, readPackage(other))).toBe(false);
  expect(isPlaced(mkdtempSync(join(harness.root, 'empty-')), readPackage(one))).toBe(false);
});

test('a build is named after its version, with a suffix when that name is taken', () => {
  using harness = createHarness();
  const desired = readPackage(harness.package('1.0.0'));
  const own = `1.0.0+${desired.manifestSha256.slice(0, 8)}`;
  const named = (standing: Record<string, 'this' | 'other'>) =>
    folderFor(desired, (name) => standing[name] ?? 'absent');
  expect(named({})).toBe('1.0.0');
  expect(named({ '1.0.0': 'this' })).toBe('1.0.0');
  expect(named({ '1.0.0': 'other' })).toBe(own);
  expect(named({ '1.0.0': 'other', [own]: 'other' })).toBe(`${own}.2`);
});
