import { expect } from 'vitest';
import { readTree } from '../support/source-tree.ts';

const documents = readTree('infra/*.md');

/** A document of `infra/`. */
export function textOfDocument(name: string): string {
  const text = documents.get(`infra/${name}`);
  if (text === undefined) throw new Error(`There is no infra/${name}`);
  return text;
}
/** All documents of `infra/`, except the table of costs, which is generated. */
export const allDocuments = [...documents.values()]
  .map((text) => text.replace(/<!-- costs -->[\s\S]*<!-- \/costs -->/, ''))
  .join('\n');

/** What is set as code within a line. */
export const inBackticks = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, inside = '']) => inside);
/** Without blocks of code. */
export const withoutBlocks = allDocuments.replace(/^ *```[\s\S]*?^ *```$/gm, '');
/** The section under a heading, up to the next heading of that depth or a lesser one; of one document, or of the first that has it. */
export function section(heading: string, text = allDocuments): string {
  const [, depth = '', rest = ''] = new RegExp(`^(#+) ${heading}\\n([\\s\\S]*)`, 'm').exec(text) ?? [];
  expect(depth, `a document of infra/ has the heading ${heading}`).not.toBe('');
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
