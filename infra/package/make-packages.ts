import { createHash, type KeyObject } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../src/process/version.ts';
import { bundle, type ProgramName } from './bundle.ts';
import { bundledIn } from './bundled.ts';
import { contentsOf, type Program, root } from './contents.ts';
import { debOf } from './deb.ts';
import { asPackageVersion, product } from './distribution.ts';
import { extensionName, extensionZip, isExtensionVersion } from './extension.ts';
import { signatureOf } from './manifest.ts';
import { type PlatformName, platforms } from './platforms.ts';
import { rpmOf, whyNoRpm } from './rpm.ts';
import { type Lock, type Runtime, runtimeFor } from './runtime.ts';
import { type ServiceHost, serviceHost } from './service-host.ts';
import type { Sizes } from './sizes.ts';
import { gzipOf, tar } from './tar.ts';
import { zip } from './zip.ts';

/** A file to be handed out. */
export interface Artefact {
  readonly name: string;
  readonly content: Buffer;
}

interface PackageOptions {
  readonly program: Program;
  readonly runtime: Runtime;
  readonly at: Date;
  readonly key: KeyObject | null;
  readonly serviceHost?: Buffer;
  /** Null: with an .rpm. Else why without. */
  readonly whyNoRpm: string | null;
}

/** Both programs, which the image and the npm package of the simulator contain. */
export interface NamedPrograms {
  readonly bridge: Program;
  readonly simulator: Program;
}

export async function makeProgram(name: ProgramName, lock: Lock): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  try {
    const file = join(folder, `${name}.cjs`);
    const metafile = await bundle(file, { program: name });
    return { version, bundle: readFileSync(file), bundled: bundledIn(metafile, { root, lock }) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The archive for a platform, and the packages of the distributions with the same contents. */
export async function artefactsFor(
  platform: PlatformName,
  { program, runtime, serviceHost, at, key, whyNoRpm: noRpm }: PackageOptions,
): Promise<{ readonly artefacts: readonly Artefact[]; readonly sizes: readonly Sizes[] }> {
  const { version: of, bundled } = program;
  const { program: runtimeName, debian, rpm } = platforms[platform];
  const contents = contentsOf({ platform, program, runtime, at, key, ...(serviceHost && { serviceHost }) });
  const top = `${product}-${of}-${platform}/`;
  const about = { version: of, platform, at };
  const licences = [...new Set(['MIT', ...bundled.packages.flatMap(({ licence }) => licence ?? [])])].toSorted();
  const [app, archive, deb, rpmFile, extension] = await Promise.all([
    gzipOf(
      tar(
        contents.filter(({ path }) => path !== runtimeName),
        { top, at },
      ),
    ),
    // Explorer and Expand-Archive make a folder with the name of the archive themselves.
    platform === 'win-x64' ? zip(contents, { top: '', at }) : gzipOf(tar(contents, { top, at })),
    debOf(contents, about),
    noRpm === null ? rpmOf(contents, { ...about, licences }) : null,
    isExtensionVersion(of) ? extensionZip(contents, about) : null,
  ]);
  const named = asPackageVersion(of);
  const artefacts = [
    { name: `${product}-${of}-${platform}.${platform === 'win-x64' ? 'zip' : 'tar.gz'}`, content: archive },
    ...(deb ? [{ name: `${product}_${named}_${debian}.deb`, content: deb }] : []),
    ...(rpmFile ? [{ name: `${product}-${named}-1.${rpm}.rpm`, content: rpmFile }] : []),
    ...(extension ? [{ name: extensionName(about), content: extension }] : []),
  ];
  const sizes = artefacts.map(({ name, content }) => ({ name, app: app.length, package: content.length }));
  return { artefacts, sizes };
}

interface Order {
  readonly platforms: readonly PlatformName[];
  /** Where the packages are put. */
  readonly out: string;
  readonly at: Date;
  readonly key: KeyObject | null;
  readonly say: (sentence: string) => void;
}

/** What packages are made of. */
export interface Sources {
  readonly program: Program;
  readonly runtimeOf: (platform: PlatformName) => Promise<Runtime>;
  /** The service host of Windows, or why it cannot be built here. */
  readonly serviceHost: () => Promise<ServiceHost>;
}

export const lockHere = (): Lock => JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

/** The program as it is in the sources, and the runtimes that the lock file pins. */
export async function sourcesHere(): Promise<Sources> {
  const lock = lockHere();
  return {
    program: await makeProgram(product, lock),
    runtimeOf: (platform) => runtimeFor(platform, { lock, cache: join(root, 'dist/runtimes') }),
    serviceHost,
  };
}

export const checksumsName = 'SHA256SUMS';

/** Makes the packages of these platforms, and beside them their checksums, signed where there is a key. */
export async function makePackages(
  { platforms: wanted, out, at, key, say }: Order,
  { program, runtimeOf, serviceHost: buildServiceHost }: Sources,
): Promise<Sizes[]> {
  const noRpm = await whyNoRpm();
  if (noRpm !== null && wanted.some((platform) => platforms[platform].rpm)) say(`No .rpm is made: ${noRpm}.`);
  const host = wanted.includes('win-x64') ? await buildServiceHost() : null;
  const noWindows = host !== null && 'whyNot' in host;
  if (noWindows) say(`No package for Windows is made. ${host.whyNot}`);
  mkdirSync(out, { recursive: true });
  const sizes: Sizes[] = [];
  let sums = '';
  // One platform after the other: each holds its runtime several times in memory.
  for (const platform of wanted.filter((one) => one !== 'win-x64' || !noWindows)) {
    const made = await artefactsFor(platform, {
      program,
      runtime: await runtimeOf(platform),
      at,
      key,
      whyNoRpm: noRpm,
      ...(host !== null && 'program' in host && { serviceHost: host.program }),
    });
    for (const { name, content } of made.artefacts) {
      writeFileSync(join(out, name), content);
      sums += `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
    }
    sizes.push(...made.sizes);
  }
  const checksums = Buffer.from(sums);
  writeFileSync(join(out, checksumsName), checksums);
  rmSync(join(out, `${checksumsName}.sig`), { force: true });
  if (key !== null) writeFileSync(join(out, `${checksumsName}.sig`), signatureOf(checksums, key));
  return sizes;
}
