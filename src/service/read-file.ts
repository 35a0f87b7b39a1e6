import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { sha256 } from './package.ts';

/** Null without a regular file, and where this user may not read it: only administrators are asked to change anything. */
export function contentOf(path: string): Buffer | null {
  try {
    return lstatSync(path).isFile() ? readFileSync(path) : null;
  } catch {
    return null;
  }
}

/** SHA-256 of a file; null without one. */
export function sumOf(path: string): string | null {
  const content = contentOf(path);
  return content === null ? null : sha256(content);
}

/** The names of the folders in a folder, sorted; empty without it. */
export function foldersIn(path: string): string[] {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}
