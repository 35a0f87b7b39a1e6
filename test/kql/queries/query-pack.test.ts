import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTree } from '../../support/source-tree.ts';
import { answerOf, cases } from './cases/index.ts';
import { fleetNow, fleetTables } from './fleet-tables.ts';
import { kql, queryNames, tableText, textOf } from './pack.ts';
import { problemsOf } from './rules.ts';

const fleet = kql.load(fleetTables);
const goldens = join(import.meta.dirname, 'fleet');
/** Nothing is approved in the demo fleet, and nothing in it is due tomorrow. */
const foundNothing: readonly string[] = ['approvals', 'due-in-order'];
const nothing = { VmLifecycle_CL: [], VmLifecycleBridge_CL: [], Heartbeat: [], AzureActivity: [] };

test('every case and every golden of the demo fleet belongs to a query of the pack', () => {
  for (const { query, of } of cases) expect(queryNames, of).toContain(query);
  expect(readdirSync(goldens).sort()).toEqual(queryNames.map((name) => `${name}.txt`));
});

test('no query, alert or panel compares the boots of two VMs: on Windows, BootId is a time', () => {
  const paths = [
    'infra/kql/**/*.kql',
    'infra/alerts/alerts.yaml',
    'infra/workbooks/fleet.workbook',
    'infra/grafana/fleet.json',
  ];
  const read = [...readTree(...paths)].filter(([, text]) => /\bBootId\b/.test(text.replaceAll(/^\s*\/\/.*$/gm, '')));
  // Lists it, a row for each record.
  expect(read.map(([path]) => path)).toEqual(['infra/kql/queries/support-case.kql']);
});

// All of one query together: it is bound once, which takes longer than to answer it.
describe.each(queryNames)('the query %s', (name) => {
  const own = cases.filter(({ query }) => query === name);

  test('binds without a diagnostic, is formatted, and filters by time first', () => {
    expect(problemsOf(textOf(name), kql)).toEqual([]);
  });

  test('has a case with rows, and one without', () => {
    expect(own.map(({ rows }) => rows.length > 0)).toEqual(expect.arrayContaining([true, false]));
  });

  test.each(own.map((each) => [each.of, each] as const))('answers of %s', (_, each) => {
    expect(answerOf(each)).toEqual(each.rows);
  });

  test('answers of the demo fleet as the golden shows', async () => {
    const answer = kql.execute(textOf(name), { tables: fleet, now: fleetNow });
    expect(answer.columns).toEqual(kql.bind(textOf(name)).columns);
    expect(answer.rows.length === 0).toBe(foundNothing.includes(name));
    await expect(tableText(answer)).toMatchFileSnapshot(join(goldens, `${name}.txt`));
  });

  test('answers of a fleet that has sent nothing yet', () => {
    expect(kql.execute(textOf(name), { tables: nothing, now: fleetNow }).rows).toEqual([]);
  });
});
