import { createHash, type KeyObject } from 'node:crypto';
import { closeSync, lstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../log.ts';
import { serviceName } from './names.ts';
import { Refusal } from './refusals.ts';
import { faultOfSignature } from './signature.ts';

/** A file of a package, by its manifest. */
export interface PackageFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly isExecutable: boolean;
}

/** A folder with one version, as its `manifest.json` describes it. */
export interface Package {
  readonly from: string;
  readonly version: string;
  /** As `linux-x64`, `win-x64`. */
  readonly platform: string;
  readonly files: readonly PackageFile[];
  readonly manifest: Buffer;
  /** Two builds of one version differ in this. */
  readonly manifestSha256: string;
  /** Of the unit, or of what defines the service on Windows. */
  readonly unitSha256: string;
  readonly bytes: number;
}

export const manifestName = 'manifest.json';

/** What a version cannot run without. */
interface Layout {
  readonly runtime: string;
  /** What the service manager is to know of the service. */
  readonly definition: string;
  readonly indispensable: readonly string[];
}

const linux: Layout = {
  runtime: 'node',
  definition: `${serviceName}.service`,
  indispensable: ['node', `${serviceName}.cjs`, serviceName, `${serviceName}.service`],
};

const windows: Layout = {
  runtime: 'node.exe',
  definition: 'windows-service.json',
  indispensable: ['node.exe', `${serviceName}.cjs`, `${serviceName}-service.exe`, 'windows-service.json'],
};

/** `platform`: as `linux-x64` or `win-x64`. */
export const layoutOf = (platform: string): Layout => (platform.startsWith('win-') ? windows : linux);

export const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

/** In pieces: the runtime is 120 MB, and the machine may be small. */
export function sha256Of(path: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(1024 * 1024);
  const fd = openSync(path, 'r');
  try {
    for (;;) {
      const read = readSync(fd, piece);
      if (read === 0) return hash.digest('hex');
      hash.update(piece.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads the manifest of a package folder. The files themselves are not read.
 * @param key public key of the required signature; null: no signature is required.
 * @throws Refusal where that is no package, one that would write outside of its folder, or one that is not signed by the key.
 */
export function readPackage(from: string, key: KeyObject | null = null): Package {
  const manifest = manifestIn(from);
  const unsigned = key === null ? null : faultOfSignature(manifest, from, key);
  if (unsigned !== null) {
    throw new Refusal(
      'missing',
      `The package in ${from} is refused: ${unsigned}. Nothing was changed: find out where it comes from, and fetch it again.`,
    );
  }
  const problem = (what: string): Refusal =>
    new Refusal(
      'missing',
      `${join(from, manifestName)} is not the manifest of a package: ${what}. Fetch the package again.`,
    );
  let content: unknown;
  try {
    content = JSON.parse(manifest.toString('utf8'));
  } catch {
    throw problem('it is not JSON');
  }
  if (!isObject(content) || !Array.isArray(content.files)) throw problem('it lists no files');
  const { name, version, platform } = content;
  if (name !== serviceName) throw problem(`it is of ${JSON.stringify(name)}, not of ${serviceName}`);
  // It becomes the name of a folder.
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+[-+.\w]{0,64}$/.test(version)) throw problem('it has no version');
  if (typeof platform !== 'string') throw problem('it names no platform');
  const files = content.files.map(fileOf);
  const bad = files.indexOf(null);
  if (bad >= 0)
    throw problem(`its file ${JSON.stringify(content.files[bad])} has no path in the folder, no SHA-256 or no size`);
  const whole = files.filter((file) => file !== null);
  const layout = layoutOf(platform);
  const lacking = layout.indispensable.filter((path) => !whole.some((file) => file.path === path));
  if (lacking.length > 0) throw problem(`it lists no ${lacking.join(', ')}`);
  return {
    from,
    version,
    platform,
    files: whole,
    manifest,
    manifestSha256: sha256(manifest),
    unitSha256: whole.find(({ path }) => path === layout.definition)?.sha256 ?? '',
    bytes: whole.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function manifestIn(from: string): Buffer {
  try {
    return readFileSync(join(from, manifestName));
  } catch (error) {
    const why = messageOf(error);
    throw new Refusal(
      'missing',
      `${from} contains no package: ${why}. Name the folder that the archive unpacks to with --from.`,
    );
  }
}

function fileOf(entry: unknown): PackageFile | null {
  if (!isObject(entry)) return null;
  const { path, sha256: sum, bytes, mode } = entry;
  if (typeof path !== 'string' || typeof bytes !== 'number' || typeof sum !== 'string') return null;
  if (!/^[0-9a-f]{64}$/.test(sum) || !/^(?!.*(^|\/)\.{1,2}(\/|$))[^/\\\0][^\\\0]*$/.test(path)) return null;
  const bits = typeof mode === 'string' ? Number.parseInt(mode, 8) : mode;
  return { path, bytes, sha256: sum, isExecutable: typeof bits === 'number' && (bits & 0o111) !== 0 };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The problems of a folder that should be this package, each a phrase; empty if it is complete. */
export function faultsIn(folder: string, { files }: Pick<Package, 'files'>): string[] {
  return files.flatMap(({ path, sha256: expected, bytes }) => {
    const file = lstatSync(join(folder, path), { throwIfNoEntry: false });
    if (!file) return [`${path} is missing`];
    if (!file.isFile()) return [`${path} is no file`];
    if (file.size !== bytes) return [`${path} has ${file.size} bytes instead of ${bytes}`];
    return sha256Of(join(folder, path)) === expected ? [] : [`${path} has another content`];
  });
}

/** A folder in `versions/` that holds exactly this build. */
export function isSameBuild(folder: string, desired: Package): boolean {
  const manifest = join(folder, manifestName);
  if (!lstatSync(manifest, { throwIfNoEntry: false })?.isFile()) return false;
  return readFileSync(manifest).equals(desired.manifest) && faultsIn(folder, desired).length === 0;
}

/**
 * The name of the folder for a build: its version. A folder of that name that holds another build, or a damaged one, may be what
 * runs: it is left unchanged, and the build gets another name.
 */
export function folderFor(
  { version, manifestSha256 }: Package,
  standing: (name: string) => 'absent' | 'this' | 'other',
): string {
  const own = `${version}+${manifestSha256.slice(0, 8)}`;
  for (let n = 0; ; n += 1) {
    const name = [version, own][n] ?? `${own}.${n}`;
    if (standing(name) !== 'other') return name;
  }
}
