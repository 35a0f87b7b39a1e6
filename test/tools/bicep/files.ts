import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTree, root } from '../../support/source-tree.ts';

/** Every file of Bicep in the repository, relative to its root. */
export const bicepFiles = (): string[] =>
  [...readTree('bicep/**/*.bicep', 'infra/**/*.bicep', 'infra/**/*.bicepparam').keys()].sort();

/** The text of a file in the repository; null when it does not exist. */
export function textOf(path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return null;
  }
}
