import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Text by path relative to the root, with `/`. */
export type SourceTree = ReadonlyMap<string, string>;

export function readTree(...patterns: readonly string[]): SourceTree {
  const paths = globSync(patterns, { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}
