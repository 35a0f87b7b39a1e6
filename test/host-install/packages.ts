import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle } from '../../infra/package/bundle.ts';
import { contentsOf, root } from '../../infra/package/contents.ts';
import { debOf } from '../../infra/package/deb.ts';
import { product } from '../../infra/package/distribution.ts';
import { sourcesHere } from '../../infra/package/make-packages.ts';
import { manifestName, manifestOf } from '../../infra/package/manifest.ts';
import type { PackedFile } from '../../infra/package/packed-file.ts';
import { tar } from '../../infra/package/tar.ts';
import { version } from '../../src/process/version.ts';
import { ownName } from './own-name.ts';

const platform = 'linux-x64';
/** Packages of one version are the same whenever they are made. */
const at = new Date('2026-01-02T03:04:05Z');

const [major, minor] = version.split('.').map(Number);

/** What is installed, one after the other. The names are those of files without their ending, and of the folder. */
export const versions = {
  first: version,
  /** It starts and keeps running, and never reports ready. */
  hangs: `${major}.${Number(minor) + 1}.0`,
  /** It ends as soon as it is started. */
  dies: `${major}.${Number(minor) + 1}.1`,
  next: `${major}.${Number(minor) + 2}.0`,
} as const;
export type VersionName = keyof typeof versions;

const faults: Readonly<Record<VersionName, string>> = {
  first: '',
  hangs: 'if (process.argv[2] === "run") { setInterval(() => {}, 1000); return; }',
  dies: 'if (process.argv[2] === "run") { console.error("This version is broken."); process.exit(1); }',
  next: '',
};

/**
 * Puts into `folder`, for every version, the folder that its archive unpacks to; for some also `<version>.tar.gz` and `<version>.deb`. The
 * first .deb is the one that is distributed; the others are packed with fast compression.
 */
export async function makeVersions(folder: string, cache: string): Promise<void> {
  const { program, runtimeOf } = await sourcesHere();
  const runtime = await runtimeOf(platform);
  const first = contentsOf({ platform, program, runtime, at, key: null });
  const numbered = await bundleOf(placeholder);
  const names = Object.keys(versions) as VersionName[];
  for (const name of names) {
    const files = name === 'first' ? first : another(first, name, { numbered, node: runtime.version });
    writeFolder(files, join(folder, versions[name]), join(folder, 'node'));
    const top = `${product}-${versions[name]}-${platform}/`;
    if (archived.includes(name))
      writeFileSync(join(folder, `${versions[name]}.tar.gz`), gzipSync(tar(files, { top, at }), { level: 0 }));
  }
  const deb = join(folder, `${versions.first}.deb`);
  writeFileSync(deb, await firstDeb(first, cache));
  for (const name of packed) repack(deb, folder, versions[name]);
}

/** What is made of which version beside its folder, so that only what is installed takes time. */
const archived: readonly VersionName[] = ['first', 'next'];
const packed: readonly VersionName[] = ['dies', 'next'];

/** `runtime`: where the largest file is the first time, and linked to from then on. */
function writeFolder(files: readonly PackedFile[], folder: string, runtime: string): void {
  mkdirSync(folder);
  for (const { path, mode, content } of files) {
    const to = join(folder, path);
    if (path !== 'node') {
      writeFileSync(to, content, { mode });
      continue;
    }
    if (!existsSync(runtime)) writeFileSync(runtime, content, { mode });
    linkSync(runtime, to);
  }
}

/** The same sources under another number, with a fault of its own. */
function another(
  first: readonly PackedFile[],
  name: VersionName,
  { numbered, node }: { readonly numbered: string; readonly node: string },
): PackedFile[] {
  const program = `#!/usr/bin/env node\n${faults[name]}\n${numbered.replaceAll(placeholder, versions[name])}`;
  const files = first
    .filter(({ path }) => path !== manifestName)
    .map((file) => (file.path === `${product}.cjs` ? { ...file, content: Buffer.from(program) } : file));
  const manifest = manifestOf(files, { version: versions[name], platform, node });
  return [...files, { path: manifestName, mode: 0o644, content: Buffer.from(manifest) }];
}

/** Nothing else in the bundle says this. */
const placeholder = '0.0.0-another';

async function bundleOf(number: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'version-'));
  try {
    const file = join(folder, `${product}.cjs`);
    const manifest = readFileSync(join(root, 'package.json'), 'utf8');
    const numbered = { ...(JSON.parse(manifest) as object), version: number };
    await bundle(file, {
      plugins: [
        {
          name: 'version',
          setup: ({ onLoad }) =>
            onLoad({ filter: /package\.json$/ }, ({ path }) =>
              path === join(root, 'package.json') ? { contents: JSON.stringify(numbered), loader: 'json' } : undefined,
            ),
        },
      ],
    });
    return readFileSync(file, 'utf8').replace(/^#!.*\n/, '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packed as small as it can be, which takes half a minute: kept while its contents are the same. */
async function firstDeb(files: readonly PackedFile[], cache: string): Promise<Buffer> {
  const folders = ['', 'commands', 'files', 'scripts', 'scripts/deb'].map((name) => join(root, 'infra/package', name));
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(folder, entry.name))),
  );
  const hash = createHash('sha256');
  for (const part of [...sources, ...files.map(({ content }) => content)]) hash.update(part);
  const kept = join(cache, `package-${hash.digest('hex').slice(0, 16)}.deb`);
  if (!existsSync(kept)) {
    for (const old of readdirSync(cache).filter((name) => name.startsWith('package-')))
      rmSync(join(cache, old), { force: true });
    const deb = await debOf(files, { version, platform, at });
    if (deb === null) throw new Error(`There is no .deb for ${platform}.`);
    // Another run may be making the same.
    const beside = join(cache, ownName('deb'));
    writeFileSync(beside, deb);
    renameSync(beside, kept);
    return deb;
  }
  return readFileSync(kept);
}

/** Another version of a .deb: its payload from the folder of that version, its scripts as they are. */
function repack(deb: string, folder: string, number: string): void {
  const inside = mkdtempSync(join(folder, 'deb-'));
  try {
    execFileSync('dpkg-deb', ['--raw-extract', deb, inside]);
    const control = join(inside, 'DEBIAN/control');
    writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${number}`));
    const payload = join(inside, 'usr/lib', product);
    rmSync(payload, { recursive: true });
    execFileSync('cp', ['-al', join(folder, number), payload]);
    // As its maker would have it: the unit of the version is the one that systemd reads.
    const unit = `${product}.service`;
    copyFileSync(join(folder, number, unit), join(inside, 'usr/lib/systemd/system', unit));
    const out = join(folder, `${number}.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', inside, out], { stdio: 'ignore' });
  } finally {
    rmSync(inside, { recursive: true });
  }
}
