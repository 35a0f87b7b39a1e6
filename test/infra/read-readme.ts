import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { root } from '../support/source-tree.ts';

/** The text of infra/README.md. */
export const readme = readFileSync(join(root, 'infra/README.md'), 'utf8');

/** What is set as code within a line. */
export const inBackticks = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, inside = '']) => inside);
/** Without blocks of code. */
export const withoutBlocks = readme.replace(/^ *```[\s\S]*?^ *```$/gm, '');
/** The section under a heading, up to the next heading of that depth or a lesser one. */
export function section(heading: string): string {
  const [, depth = '', rest = ''] = new RegExp(`^(#+) ${heading}\\n([\\s\\S]*)`, 'm').exec(readme) ?? [];
  expect(depth, `infra/README.md has the heading ${heading}`).not.toBe('');
  return rest.split(new RegExp(`^#{1,${depth.length}} `, 'm'))[0] ?? '';
}
/** Cells of the rows of every table in a text, heads left out. */
export const rows = (text: string): string[][] =>
  [...text.matchAll(/^ *\|[-| ]+\|\n((?: *\|.*\n?)+)/gm)].flatMap(([, body = '']) =>
    body
      .trim()
      .split('\n')
      .map((line) =>
        line
          .trim()
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );
