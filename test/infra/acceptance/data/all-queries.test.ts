import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shippedQueries } from '../../../../infra/acceptance/data/all-queries.ts';
import { readTree, root } from '../../../support/source-tree.ts';

const now = new Date('2026-08-01T12:00:00Z');
const queries = shippedQueries({
  now,
  eventId: '602D9444-D2CD-49C7-8624-8643E7171297',
  resourceGroupId: '/subscriptions/s/resourcegroups/g',
});
const namesOf = (kind: string): string[] =>
  queries.filter((each) => each.kind === kind).map(({ name }) => name.slice(kind.length + 1));
const files = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .map((file) => file.replace('.kql', ''))
    .sort();

test('every function and every query of the repository is run', () => {
  expect(namesOf('function')).toEqual(files('infra/kql/functions'));
  expect(namesOf('query')).toEqual(files('infra/kql/queries'));
});

test('every alert rule with a query is run', () => {
  const text = readTree('infra/alerts/alerts.yaml').get('infra/alerts/alerts.yaml') ?? '';
  const [, row = '', log = ''] = /\nrowAlerts:\n(.*)\nlogAlerts:\n(.*?)\nmetricAlerts:/s.exec(text) ?? [];
  const names = [...`${row}\n${log}`.matchAll(/^ {2}- name: (\S+)/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(15);
  expect(namesOf('alert')).toEqual(names);
});

test('every panel of the workbook and of Grafana that asks something is run', () => {
  const { items } = JSON.parse(readTree('infra/workbooks/fleet.workbook').get('infra/workbooks/fleet.workbook') ?? '');
  const asking = items.filter(
    ({ type, content }: { type: number; content: { queryType: number } }) => type === 3 && content.queryType !== 7,
  );
  expect(namesOf('workbook').filter((name) => !name.startsWith('parameter '))).toEqual(
    asking.map(({ name }: { name: string }) => name),
  );
  const dashboard = readTree('infra/grafana/fleet.json').get('infra/grafana/fleet.json') ?? '';
  expect(namesOf('grafana')).toHaveLength(
    [...dashboard.matchAll(/"azure(LogAnalytics|ResourceGraph)": ?\{/g)].length - 3,
  );
});

test('names are unique, and nothing is left to fill in', () => {
  expect(new Set(queries.map(({ name }) => name)).size).toBe(queries.length);
  expect(queries.filter(({ text }) => /\{\w+(:\w+)?\}|\$__|\$\{/.test(text))).toEqual([]);
});

test('functions are called with values for the parameters that have no default', () => {
  const textOf = (name: string): string | undefined => queries.find((each) => each.name === name)?.text;
  expect(textOf('function VmLifecycle')).toBe('VmLifecycle()');
  expect(textOf('function VmEventStates')).toBe('VmEventStates(ago(14d), ago(14d))');
});
