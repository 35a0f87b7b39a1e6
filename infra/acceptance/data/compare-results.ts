import { isDeepStrictEqual } from 'node:util';
import type { QueryResult } from '../target.ts';
import { withSevenDigits } from './query-answer.ts';

/** What two engines made of one query over the same rows. */
export interface Comparison {
  /** Each a sentence; the first result is called Azure's. */
  readonly differences: readonly string[];
  /** Columns whose values depend on the time of the query, or `all rows`. */
  readonly notCompared: readonly string[];
}

/** A difference shows this many rows. */
const shownRows = 2;

/**
 * Compares the columns of two results, and the rows in any order.
 *
 * @param later the expected result a minute later: what changes by then is not compared, because Azure chooses the time of a query
 */
export function compareResults(actual: QueryResult, expected: QueryResult, later: QueryResult): Comparison {
  const columns = compareColumns(actual.columns, expected.columns);
  if (columns !== null) return { differences: [columns], notCompared: [] };
  if (expected.rows.length !== later.rows.length) return { differences: [], notCompared: ['all rows'] };
  const names = expected.columns.map(({ name }) => name);
  const changing = names.filter((name) => !isDeepStrictEqual(textsOf(expected, [name]), textsOf(later, [name])));
  const stable = names.filter((name) => !changing.includes(name));
  return { differences: compareRows(textsOf(actual, stable), textsOf(expected, stable)), notCompared: changing };
}

function compareColumns(actual: QueryResult['columns'], expected: QueryResult['columns']): string | null {
  const text = (columns: QueryResult['columns']): string =>
    columns.map(({ name, type }) => `${name}:${type}`).join(', ');
  return text(actual) === text(expected)
    ? null
    : `Azure gives the columns ${text(actual)}; expected were ${text(expected)}.`;
}

function compareRows(actual: readonly string[], expected: readonly string[]): readonly string[] {
  const tooMany = without(actual, expected);
  const missing = without(expected, actual);
  const show = (rows: readonly string[]): string => rows.slice(0, shownRows).join(' and ');
  return [
    ...(tooMany.length === 0
      ? []
      : [`Azure gives ${tooMany.length} rows that were not expected, such as ${show(tooMany)}.`]),
    ...(missing.length === 0
      ? []
      : [`Azure does not give ${missing.length} rows that were expected, such as ${show(missing)}.`]),
  ];
}

/** What of `rows` is left when each of `others` takes one of its equals away. */
function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const other of others) counts.set(other, (counts.get(other) ?? 0) + 1);
  return rows.filter((row) => {
    const count = counts.get(row) ?? 0;
    counts.set(row, count - 1);
    return count <= 0;
  });
}

/** Each row as text, sorted. */
const textsOf = ({ rows }: QueryResult, names: readonly string[]): readonly string[] =>
  rows.map((row) => JSON.stringify(Object.fromEntries(names.map((name) => [name, comparable(row[name])])))).sort();

/** Kusto has no null text; the order of keys of an object means nothing; the last digits of a number depend on the order of a sum. */
export function comparable(value: unknown): unknown {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number(value.toPrecision(9));
  if (typeof value === 'string') return withSevenDigits(value);
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, comparable(each)]),
  );
}
