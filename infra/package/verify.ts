import type { KeyObject } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { faultsIn } from '../../src/service/package.ts';
import { faultOfSignature } from '../../src/service/signature.ts';
import { manifestName, signatureName } from './manifest.ts';

interface ListedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly mode: string;
}

/**
 * What is wrong with a package that was unpacked to `folder`, each a phrase; none where every file is as the manifest says, nothing
 * else is there, and, with a `key`, the manifest is by who has the private one. Without it the author of a changed file may have changed the
 * manifest too.
 */
export function faultsOfPackage(folder: string, key: KeyObject | null): string[] {
  const path = join(folder, manifestName);
  if (!existsSync(path)) return [`${manifestName} is missing`];
  const manifest = readFileSync(path);
  const unsigned = key === null ? null : faultOfSignature(manifest, folder, key);
  if (unsigned !== null) return [unsigned];
  const { files }: { readonly files: readonly ListedFile[] } = JSON.parse(manifest.toString('utf8'));
  const listed = new Set([manifestName, signatureName, ...files.map((file) => file.path)]);
  const unlisted = filesIn(folder).filter((file) => !listed.has(file));
  return [
    ...faultsIn(folder, {
      files: files.map((file) => ({ ...file, isExecutable: isExecutable(Number.parseInt(file.mode, 8)) })),
    }),
    ...files.flatMap((file) => faultOfMode(join(folder, file.path), file)),
    ...unlisted.map((file) => `${file} is not in the manifest`),
  ];
}

/** Windows has no such rights. */
function faultOfMode(path: string, { path: name, mode }: ListedFile): string[] {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (!file || process.platform === 'win32' || isExecutable(file.mode) === isExecutable(Number.parseInt(mode, 8)))
    return [];
  return [`${name} ${isExecutable(file.mode) ? 'is' : 'is not'} executable`];
}

const isExecutable = (mode: number): boolean => (mode & 0o111) !== 0;

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
