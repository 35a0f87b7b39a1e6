import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { problemsOf } from '../../support/alerts/problems.ts';
import { type Alerts, readAlerts } from '../../support/alerts/read-alerts.ts';
import { readTree } from '../../support/source-tree.ts';
import { openKql } from '../../tools/kql/index.ts';

const alerts = readAlerts();
const namesUnder = (folder: string): readonly string[] =>
  [...readTree(`${folder}/*.kql`).keys()].map((path) => basename(path, '.kql'));
const around = {
  kql: openKql({ functionsFrom: ['infra/kql/functions'] }),
  functions: new Map(
    [...readTree('infra/kql/functions/*.kql')].map(([path, text]) => [basename(path, '.kql'), text] as const),
  ),
  queries: namesUnder('infra/kql/queries'),
};

test('every query of an alert is bound and formatted, and gives the columns that its rule names, within the limits of Azure', () => {
  expect(alerts.rowAlerts.length + alerts.logAlerts.length).toBeGreaterThan(10);
  expect(problemsOf(alerts, around)).toEqual([]);
});

/** One of the alerts, with one thing changed. */
function changed(name: string, change: Readonly<Record<string, unknown>> | ((query: string) => string)): Alerts {
  const one = <T extends { readonly name: string; readonly query?: string }>(list: readonly T[]): T[] =>
    list
      .filter((alert) => alert.name === name)
      .map((alert) =>
        typeof change === 'function' ? { ...alert, query: change(alert.query ?? '') } : { ...alert, ...change },
      );
  return {
    rowAlerts: one(alerts.rowAlerts),
    logAlerts: one(alerts.logAlerts),
    metricAlerts: one(alerts.metricAlerts),
    activityAlerts: one(alerts.activityAlerts),
  };
}

const replaced = (from: string, to: string) => (query: string) => {
  if (!query.includes(from)) throw new Error(`the query does not hold ${from}`);
  return query.replace(from, to);
};

const rule = alerts.logAlerts.find(({ name }) => name === 'A8') ?? alerts.logAlerts[0];

test.for<readonly [string, Alerts, string]>([
  [
    'a column that the table does not have',
    changed('A1', replaced('EventSource ==', 'EventSauce ==')),
    "A1: KS142 The name 'EventSauce' does not refer to any known column, table, variable or function.",
  ],
  [
    'a column that a function no longer gives',
    changed('A2', replaced('where IsOpen', 'where IsPending')),
    "A2: KS142 The name 'IsPending' does not refer to any known column, table, variable or function.",
  ],
  [
    'a table that is not there',
    changed('A8', replaced('DCRLogErrors', 'DCRErrors')),
    "A8: KS204 The name 'DCRErrors' does not refer to any known table, tabular variable or function.",
  ],
  [
    'an operator that an alert for each row may not use',
    changed('A1', (query) => `${query.trimEnd()}\n| distinct Route\n`),
    'A1: distinct is not available',
  ],
  [
    'a function of the workspace in an alert for each row',
    changed('A1', replaced('VmLifecycle_CL\n', 'VmLifecycleRecords()\n')),
    'A1: a function of the workspace is not available: write its query out',
  ],
  [
    'a dimension that the query does not give',
    changed('A5', { dimensions: ['VmName', 'EventTypes', 'Route'] }),
    'A5: the query gives no column EventTypes',
  ],
  [
    'a dimension that is no text',
    changed('A3', { dimensions: ['ScaleSet', 'Vms', 'Route'] }),
    'A3: Vms is long, not string',
  ],
  [
    'a resource id that the query drops',
    changed('A4', replaced('ResourceId,', '')),
    'A4: the query gives no column ResourceId',
  ],
  [
    'something measured that is no number',
    changed('A2', { metricMeasureColumn: 'StartedAt' }),
    'A2: StartedAt is datetime, not int or long or real or decimal',
  ],
  [
    'a route that is not handed on',
    changed('A2', { dimensions: ['VmName'] }),
    'A2: Route is no dimension: its value reaches no route',
  ],
  [
    'an announcement that never grows old',
    changed('A10', replaced('| where AzureAt > ago(30m)\n', '')),
    'A10: without AzureAt > ago(30m) a backlog pages people days later',
  ],
  [
    'a lookback beyond what Azure shows the query',
    changed('A3', { overrideQueryTimeRange: 'P1D' }),
    'A3: looks back 2880 minutes, but Azure shows it only 1440',
  ],
  [
    'a function that decides by itself what now is',
    changed('A4', replaced('VmLifecycle_CL\n', 'VmLifecycleRecords(6h)\n')),
    'A4: VmLifecycleRecords holds a time relative to now: pass it in',
  ],
  [
    'a time that is computed inside of ago()',
    changed('A2', replaced('ago(30m)', 'ago(2 * 15m)')),
    'A2: ago(2 * 15m): an alert takes only a literal there',
  ],
  [
    'columns that hide from people what they need',
    changed('A1', replaced('    VmName,\n    EventType,\n', '    EventType,\n    VmName,\n')),
    'A1: the first five columns, which people see, are not VmName, EventType, NotBefore, EventId, Route',
  ],
  [
    'a query that was not formatted',
    changed('A8', replaced('\n| where', ' | where')),
    'A8: the query is not formatted as Microsoft formats it',
  ],
  [
    'a first query that does not exist',
    changed('A9', { onCall: { ...rule?.onCall, firstQuery: 'what' } }),
    'A9: the query pack has no query what',
  ],
  ['a rule that is too long', changed('A8', { displayName: 'x'.repeat(70_000) }), 'A8: 70 KB: a rule has at most 64'],
])('an alert with %s is found', ([, planted, message]) => {
  expect(problemsOf(planted, around)).toContain(message);
});

test('union is found in a function behind the query of an alert too', () => {
  const functions = new Map([...around.functions, ['VmEventStates', '// not a union\nunion VmLifecycle_CL']]);
  const planted = changed('A2', {});
  expect(problemsOf(planted, { ...around, functions })).toEqual(['A2: union is refused in the query of an alert']);
});

test('more rules every minute than a subscription has are found, and two of one name', () => {
  const one = changed('A8', { evaluationFrequency: 'PT1M' });
  const many = one.logAlerts.flatMap((alert) => Array.from({ length: 101 }, () => alert));
  const problems = problemsOf({ ...one, logAlerts: many }, around);
  expect(problems).toContain('101 rules run every minute: a subscription has 100');
  expect(problems).toContain('A8: two alerts have this name');
});
