import { describe, expect, test } from 'vitest';
import { compareResults } from '../../../../infra/acceptance/data/compare-results.ts';
import type { QueryResult } from '../../../../infra/acceptance/target.ts';

const columns: QueryResult['columns'] = [
  { name: 'VmName', type: 'string' },
  { name: 'At', type: 'datetime' },
  { name: 'Share', type: 'real' },
  { name: 'AgoSeconds', type: 'long' },
];
const row = (vm: string, ago: number, more = {}) => ({
  VmName: vm,
  At: '2026-08-01T12:00:00.0000000Z',
  Share: 1 / 3,
  AgoSeconds: ago,
  ...more,
});
const expected: QueryResult = { columns, rows: [row('web_0', 10), row('web_1', 20), row('web_1', 20)] };
const later: QueryResult = { columns, rows: [row('web_0', 70), row('web_1', 80), row('web_1', 80)] };
const same = { differences: [], notCompared: ['AgoSeconds'] };

describe('two results of a query', () => {
  test('are equal in any order of rows, without the columns that depend on the time of the query', () => {
    const actual = { columns, rows: [row('web_1', 33), row('web_0', 23), row('web_1', 33)] };
    expect(compareResults(actual, expected, later)).toEqual(same);
  });

  test('are equal when numbers differ in their last digits, and empty texts are null', () => {
    const actual = { columns, rows: expected.rows.map((each) => ({ ...each, Share: 0.33333333333 })) };
    expect(compareResults(actual, expected, later)).toEqual(same);
    const empty = (vm: string | null): QueryResult => ({ columns, rows: [row('', 1, { VmName: vm })] });
    expect(compareResults(empty(null), empty(''), empty(''))).toEqual({ differences: [], notCompared: [] });
  });

  test('differ by a missing row, one that was not expected, and one too few of two equal ones', () => {
    const actual = { columns, rows: [row('web_0', 10), row('web_1', 20), row('web_9', 20)] };
    const { differences } = compareResults(actual, expected, later);
    expect(differences).toEqual([
      expect.stringMatching(/^Azure gives 1 rows that were not expected, such as \{"VmName":"web_9"/),
      expect.stringMatching(/^Azure does not give 1 rows that were expected, such as \{"VmName":"web_1"/),
    ]);
  });

  test('differ by a column, its type or its place', () => {
    const changed = [
      [...columns, { name: 'Zone', type: 'string' }],
      columns.map((each) => (each.name === 'AgoSeconds' ? { ...each, type: 'real' } : each)),
      columns.toReversed(),
    ];
    for (const each of changed) {
      const { differences } = compareResults({ columns: each, rows: expected.rows }, expected, later);
      expect(differences).toEqual([expect.stringContaining('Azure gives the columns')]);
    }
  });

  test('are not compared when the number of rows depends on the time of the query', () => {
    const fewer = { columns, rows: later.rows.slice(1) };
    expect(compareResults({ columns, rows: [] }, expected, fewer)).toEqual({
      differences: [],
      notCompared: ['all rows'],
    });
  });
});
