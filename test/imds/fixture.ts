import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../fixtures/documents');

/** The text of an answer kept as a file. */
export const fixture = (name: string): string => readFileSync(join(folder, `${name}.json`), 'utf8');

export const fixtureNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace(/\.json$/, ''));
