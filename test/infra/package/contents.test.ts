import { createHash, generateKeyPairSync } from 'node:crypto';
import { appendFileSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { signatureOf } from '../../../infra/package/manifest.ts';
import { type PlatformName, platformNames } from '../../../infra/package/platforms.ts';
import { faultsOfPackage } from '../../../infra/package/verify.ts';
import { faultsIn, readPackage } from '../../../src/service/package.ts';
import { root } from '../../support/source-tree.ts';
import { lacking, moment, printed, smallProgram, smallRuntime, unpacked } from './harness.ts';

const ours = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');

const contents = (platform: PlatformName, key: typeof ours.privateKey | null = null) =>
  contentsOf({
    platform,
    program: smallProgram,
    runtime: smallRuntime,
    serviceHost: Buffer.from('MZ service host'),
    at: moment,
    key,
  });

const ofLinux = {
  'CHANGELOG.md': 0o644,
  LICENSE: 0o644,
  'THIRD-PARTY-LICENSES.txt': 0o644,
  'install.sh': 0o755,
  'manifest.json': 0o644,
  node: 0o755,
  'remove.sh': 0o755,
  'sbom.cdx.json': 0o644,
  'scheduled-events-bridge': 0o755,
  'scheduled-events-bridge.cjs': 0o644,
  'scheduled-events-bridge.service': 0o644,
  'update.sh': 0o755,
};
const held: Readonly<Record<PlatformName, Readonly<Record<string, number>>>> = {
  'linux-x64': ofLinux,
  'linux-arm64': ofLinux,
  'win-x64': {
    'CHANGELOG.md': 0o644,
    LICENSE: 0o644,
    'THIRD-PARTY-LICENSES.txt': 0o644,
    'install.cmd': 0o755,
    'manifest.json': 0o644,
    'node.exe': 0o755,
    'remove.cmd': 0o755,
    'sbom.cdx.json': 0o644,
    'scheduled-events-bridge-service.exe': 0o755,
    'scheduled-events-bridge.cjs': 0o644,
    'scheduled-events-bridge.cmd': 0o755,
    'update.cmd': 0o755,
    'windows-service.json': 0o644,
  },
};

test.each(platformNames)('the package for %s contains exactly its files', (platform) => {
  const files = contents(platform);
  expect(Object.fromEntries(files.map(({ path, mode }) => [path, mode]))).toEqual(held[platform]);
  expect(faultsOfPackage(unpacked(files), null)).toEqual([]);
});

test('the installer verifies a new package as complete', () => {
  const folder = unpacked(contents('linux-arm64'));
  const read = readPackage(folder);
  expect(read).toMatchObject({ version: '3.2.1', platform: 'linux-arm64', from: folder });
  const executable = read.files.filter(({ isExecutable }) => isExecutable).map(({ path }) => path);
  expect(executable).toEqual(['install.sh', 'node', 'remove.sh', 'scheduled-events-bridge', 'update.sh']);
  expect(read.files.map(({ path }) => path)).toEqual(Object.keys(ofLinux).filter((path) => path !== 'manifest.json'));
  expect(faultsIn(folder, read)).toEqual([]);
});

test('the package for Windows lists its service host and what is compiled into it', () => {
  const [bom, licences] = ['sbom.cdx.json', 'THIRD-PARTY-LICENSES.txt'].map(
    (name) =>
      contents('win-x64')
        .find(({ path }) => path === name)
        ?.content.toString('utf8') ?? '',
  );
  const { components, dependencies } = JSON.parse(bom ?? '');
  const sha256 = createHash('sha256').update('MZ service host').digest('hex');
  expect(components).toContainEqual(
    expect.objectContaining({
      name: 'scheduled-events-bridge-service.exe',
      hashes: [{ alg: 'SHA-256', content: sha256 }],
    }),
  );
  expect(dependencies).toContainEqual({ ref: 'scheduled-events-bridge-service.exe', dependsOn: ['mingw-w64'] });
  expect(licences).toContain('mingw-w64, the start-up code in scheduled-events-bridge-service.exe');
  expect(licences).toContain('Redistributions in binary form must reproduce');
});

test('the manifest names the runtime of the package', () => {
  const manifest = JSON.parse(readFileSync(join(unpacked(contents('win-x64')), 'manifest.json'), 'utf8'));
  expect(manifest).toMatchObject({
    name: 'scheduled-events-bridge',
    version: '3.2.1',
    platform: 'win-x64',
    node: '24.0.1',
  });
});

test('a package in which one byte is another is refused, whichever file it is in', () => {
  for (const path of Object.keys(ofLinux)) {
    const folder = unpacked(contents('linux-x64', ours.privateKey));
    expect(faultsOfPackage(folder, ours.publicKey)).toEqual([]);
    const content = readFileSync(join(folder, path));
    content[content.length - 2] = (content[content.length - 2] ?? 0) ^ 1;
    writeFileSync(join(folder, path), content);
    const fault =
      path === 'manifest.json' ? 'manifest.json is not by the owner of this key' : `${path} has another content`;
    expect(faultsOfPackage(folder, ours.publicKey)).toEqual([fault]);
  }
});

const tampered: readonly { name: string; change: (folder: string) => void; fault: string }[] = [
  {
    name: 'a file more',
    change: (folder) => writeFileSync(join(folder, 'more.so'), ''),
    fault: 'more.so is not in the manifest',
  },
  { name: 'a file less', change: (folder) => rmSync(join(folder, 'LICENSE')), fault: 'LICENSE is missing' },
  {
    name: 'a longer file',
    change: (folder) => appendFileSync(join(folder, 'LICENSE'), '\n'),
    fault: 'LICENSE has 1093 bytes instead of 1092',
  },
  { name: 'a lost right', change: (folder) => chmodSync(join(folder, 'node'), 0o644), fault: 'node is not executable' },
  {
    name: 'a right too much',
    change: (folder) => chmodSync(join(folder, 'LICENSE'), 0o755),
    fault: 'LICENSE is executable',
  },
  { name: 'no manifest', change: (folder) => rmSync(join(folder, 'manifest.json')), fault: 'manifest.json is missing' },
  {
    name: 'no signature',
    change: (folder) => rmSync(join(folder, 'manifest.json.sig')),
    fault: 'manifest.json.sig is missing: the package is not signed',
  },
  {
    name: 'a signature of another key',
    change: (folder) =>
      writeFileSync(
        join(folder, 'manifest.json.sig'),
        signatureOf(readFileSync(join(folder, 'manifest.json')), other.privateKey),
      ),
    fault: 'manifest.json is not by the owner of this key',
  },
];

test.each(tampered)('a signed package with $name is refused', ({ change, fault }) => {
  const folder = unpacked(contents('linux-x64', ours.privateKey));
  change(folder);
  expect(faultsOfPackage(folder, ours.publicKey)).toEqual([fault]);
});

test('openssl can verify the signature of a package', ({ skip }) => {
  const missing = lacking('openssl');
  skip(missing !== null, missing ?? '');
  const folder = unpacked(contents('linux-x64', ours.privateKey));
  writeFileSync(join(folder, 'public.pem'), ours.publicKey.export({ type: 'spki', format: 'pem' }));
  const at = (name: string): string => join(folder, name);
  const asked = ['pkeyutl', '-verify', '-pubin', '-inkey', at('public.pem'), '-rawin', '-in', at('manifest.json')];
  expect(printed('openssl', [...asked, '-sigfile', at('manifest.json.sig')])).toMatch('Verified Successfully');
});

test('a key of another kind signs nothing', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect(() => contents('linux-x64', privateKey)).toThrow('expected a private Ed25519 key');
  expect(() => contents('linux-x64', ours.publicKey)).toThrow('The key is public, ed25519');
});

test.each(platformNames)('the package for %s has the changelog of the project', (platform) => {
  const changelog = contents(platform).find(({ path }) => path === 'CHANGELOG.md');
  expect(changelog?.content).toEqual(readFileSync(join(root, 'CHANGELOG.md')));
});
