import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { byPath } from './packed-file.ts';
import type { Lock } from './runtime.ts';

/** An npm package of which something is in the bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** As the package says it: an SPDX expression, if all is well; null where it says nothing. */
  readonly licence: string | null;
  readonly author: string | null;
  /** Where it is installed, from the root of the sources. */
  readonly path: string;
  /** `sha512-…` of what npm has. */
  readonly integrity: string | null;
  /** The paths of those that it imports. */
  readonly imports: readonly string[];
}

/** What is in the bundle, by what the bundler says of it, not by what is installed: each package, and those that our sources import. */
export interface Bundled {
  readonly packages: readonly BundledPackage[];
  readonly importedByUs: readonly string[];
}

/** `root`: of the sources, where `node_modules` is. */
export function bundledIn(
  { inputs, outputs }: Metafile,
  { root, lock }: { readonly root: string; readonly lock: Lock },
): Bundled {
  const files = Object.values(outputs)
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([file]) => file);
  const inBundle = new Set(files.flatMap((file) => packageOf(file) ?? []));
  const importsOf = (path: string | null): string[] => {
    const imported = files
      .filter((file) => packageOf(file) === path)
      .flatMap((file) => inputs[file]?.imports ?? [])
      .map((one) => packageOf(one.path))
      .filter((one) => one !== null && one !== path && inBundle.has(one));
    return [...new Set(imported)].filter((one) => one !== null).toSorted();
  };
  const packages = [...inBundle].map((path): BundledPackage => {
    const manifest: Record<string, unknown> = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
    const { name, version, license, author } = manifest;
    if (typeof name !== 'string' || typeof version !== 'string') throw new Error(`${path} has no name and version`);
    return {
      name,
      version,
      licence: typeof license === 'string' ? license : null,
      author: typeof author === 'string' ? author : nameIn(author),
      path,
      integrity: lock.packages[path]?.integrity ?? null,
      imports: importsOf(path),
    };
  });
  return { packages: packages.toSorted(byPath), importedByUs: importsOf(null) };
}

function nameIn(author: unknown): string | null {
  return typeof author === 'object' && author !== null && 'name' in author && typeof author.name === 'string'
    ? author.name
    : null;
}

/** The innermost package that a file is in; null: it is ours. */
const packageOf = (file: string): string | null =>
  /^(?:\(disabled\):)?((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? null;
