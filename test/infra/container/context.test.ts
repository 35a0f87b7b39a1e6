import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { inImage, platformOf, writeForImage, writeForSimulator } from '../../../infra/package/image.ts';
import { lockHere, makeProgram, sourcesHere } from '../../../infra/package/make-packages.ts';
import type { PackedFile } from '../../../infra/package/packed-file.ts';
import { root } from '../../support/source-tree.ts';

const lines = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const allowed = lines.slice(1).map((line) => line.replace(/^!/, ''));
const isSent = (path: string): boolean => allowed.some((one) => path === one || path.startsWith(`${one}/`));

test('nothing goes into the build of the image but what is named', () => {
  expect(lines[0]).toBe('*');
  expect(lines.slice(1).every((line) => /^![\w./-]+$/.test(line))).toBe(true);
  expect(allowed.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  for (const path of ['.git', 'node_modules', 'dist', 'test', 'config.json', 'key.pem'])
    expect(isSent(path)).toBe(false);
});

test('every source that the build of the image needs goes into it', async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts', 'src/azure-simulator/main.ts', 'infra/package/image.ts'],
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const sources = Object.keys(metafile.inputs);
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((path) => !isSent(path))).toEqual([]);
  const read = [
    'package-lock.json',
    'CHANGELOG.md',
    'LICENSE',
    'tsconfig.json',
    'infra/systemd/scheduled-events-bridge.service',
  ];
  expect(read.filter((path) => !isSent(path))).toEqual([]);
});

const file = (path: string, mode: PackedFile['mode']): PackedFile => ({ path, mode, content: Buffer.from(path) });
const contents = [...inImage, 'install.sh', 'manifest.json', 'scheduled-events-bridge.service'].map((path) =>
  file(path, path === 'node' ? 0o755 : 0o644),
);

function target(): string {
  const folder = mkdtempSync(join(tmpdir(), 'for-image-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'below');
}

test('the image holds what runs, and its licences, but no installer', () => {
  const folder = target();
  writeForImage(contents, folder);
  expect(readdirSync(folder).toSorted()).toEqual([...inImage].toSorted());
  expect(readFileSync(join(folder, 'LICENSE'), 'utf8')).toBe('LICENSE');
  expect(statSync(join(folder, 'node')).mode & 0o111).toBe(0o111);
});

test('a file that the package has lost is missed at once', () => {
  const without = contents.filter(({ path }) => path !== 'sbom.cdx.json');
  expect(() => writeForImage(without, target())).toThrow('The package holds no sbom.cdx.json, which the image needs.');
});

test.each([
  { platform: 'linux', arch: 'x64', is: 'linux-x64' },
  { platform: 'linux', arch: 'arm64', is: 'linux-arm64' },
] as const)('on $platform with $arch the image contains the package for $is', ({ is, ...machine }) => {
  expect(platformOf(machine)).toBe(is);
});

test('no image is built for a processor without a package', () => {
  expect(() => platformOf({ platform: 'linux', arch: 's390x' })).toThrow(
    'There is no package for linux-s390x, but for',
  );
});

test('the Dockerfile makes the image of these files', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain('node /source/infra/package/image.ts . ');
  expect(dockerfile).toContain('node /source/infra/package/image.ts --simulator .\n');
});

test('the image of the simulator has both programs, and the licences of all that is in them', async () => {
  const folder = target();
  const { program: bridge } = await sourcesHere();
  const simulator = await makeProgram('scheduled-events-simulator', lockHere());
  const runtime = { version: '24.21.0', program: readFileSync(process.execPath), licence: 'The text of Node' };
  writeForSimulator({ bridge, simulator, runtime }, folder);
  const licences = readFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of ['prom-client', 'jose', 'selfsigned', 'ws'])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
  const run = (...args: string[]): string =>
    execFileSync(join(folder, 'node'), args, { cwd: folder, env: {}, encoding: 'utf8' });
  expect(run('scheduled-events-simulator.cjs', 'simulate', '--list')).toMatch(/^SCENARIO/);
  expect(run('scheduled-events-bridge.cjs', 'version')).toMatch(/^scheduled-events-bridge /);
});
