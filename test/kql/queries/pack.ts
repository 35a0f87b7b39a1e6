import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../../support/source-tree.ts';
import type { Answer, Cell } from '../../tools/kql/index.ts';
import { openKql } from '../../tools/kql/index.ts';

const folder = join(root, 'infra/kql/queries');
export const kql = openKql({ functionsFrom: [join(root, 'infra/kql/functions')] });

/** Names of the queries of the query pack. */
export const queryNames: readonly string[] = readdirSync(folder)
  .map((file) => basename(file, '.kql'))
  .sort();

export const textOf = (query: string): string => readFileSync(join(folder, `${query}.kql`), 'utf8');

/**
 * A cell as a person reads it: times without fractions, and without the day where it is the first of March 2026; lists with a blank between,
 * the long ones of times by their ends; numbers to the tenth; nothing as a dash.
 */
export function cellText(cell: Cell): string {
  if (cell === null || cell === '') return '-';
  if (typeof cell === 'number') return String(Math.round(10 * cell) / 10);
  if (Array.isArray(cell)) {
    const texts = cell.map(cellText);
    const areTimes = texts.length > 8 && texts.every((each) => /^(\d\d-\d\d )?\d\d:\d\d:\d\d$/.test(each));
    return areTimes ? `${texts[0]} … ${texts.at(-1)}` : texts.join(' ') || 'none';
  }
  if (typeof cell !== 'string') return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  const time = /^2026-(\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{7}Z$/.exec(cell);
  if (time) return time[1] === '03-01' ? `${time[2]}` : `${time[1]} ${time[2]}`;
  return cell;
}

/** The columns named, a row a line, with bars between. */
export function linesOf({ columns, rows }: Answer, show: readonly string[]): string[] {
  const places = show.map((name) => {
    const place = columns.findIndex((column) => column.name === name);
    if (place < 0)
      throw new Error(`the query gives no column ${name}, but ${columns.map((each) => each.name).join(', ')}`);
    return place;
  });
  return rows.map((row) => places.map((place) => cellText(row[place] ?? null)).join(' | '));
}

/** A golden shows this many characters of these: the rest is the same everywhere, or random. */
const shown: Readonly<Record<string, number>> = {
  EventId: 8,
  StreamId: 8,
  SubscriptionId: 8,
  Description: 30,
  ResourceId: 0,
};
const widest = 60;

/** The whole answer as a table that a person can read: a line for each row, columns under their names. */
export function tableText({ columns, rows }: Answer): string {
  const kept = columns.flatMap(({ name }, place) => (shown[name] === 0 ? [] : [{ name, place }]));
  const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);
  const lines = [
    kept.map(({ name }) => name),
    ...rows.map((row) => kept.map(({ name, place }) => cut(cellText(row[place] ?? null), shown[name] ?? widest))),
  ];
  const widths = kept.map((_, place) => Math.max(...lines.map((line) => line[place]?.length ?? 0)));
  return `${lines
    .map((line) =>
      line
        .map((text, place) => text.padEnd(widths[place] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`;
}
