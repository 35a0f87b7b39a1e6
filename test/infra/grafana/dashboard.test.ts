import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withMacros } from '../../../infra/grafana/macros.ts';
import { grafanaPath, workbookPath } from '../../../infra/workbooks/dashboards.ts';
import { openDemoFleet } from '../../../infra/workbooks/preview/preview.ts';
import { readWorkbook, stepsOf, tabsOf } from '../../../infra/workbooks/preview/read-workbook.ts';
import type { Binding } from '../../tools/kql/index.ts';
import { asking, clicked, columnsRead, type Dashboard, everyPanel, type Panel, rules } from './rules.ts';

const dashboard: Dashboard = JSON.parse(readFileSync(grafanaPath, 'utf8'));
const workbook = readWorkbook(workbookPath);
const { kql, now } = openDemoFleet();
const from = new Date(now.getTime() - 14 * 86_400_000);

test.for(Object.entries(rules))('of the Grafana dashboard: %s', ([, broken]) => {
  expect(asking(dashboard).length).toBeGreaterThan(20);
  expect(broken(dashboard)).toEqual([]);
});

test('the Grafana dashboard has the questions of the workbook, in its order', () => {
  expect(asking(dashboard).map(({ title }) => title)).toEqual(stepsOf(workbook).map(({ content }) => content.title));
  const rows = everyPanel(dashboard).filter(({ type }) => type === 'row');
  expect(rows.map(({ title }) => title)).toEqual(tabsOf(workbook));
});

const queriesOf = ({ targets = [] }: Panel): string[] =>
  targets.map(
    ({ azureLogAnalytics, azureResourceGraph }) => azureLogAnalytics?.query ?? azureResourceGraph?.query ?? '',
  );

const queries = [
  ...asking(dashboard).flatMap((panel) => queriesOf(panel).map((query) => ({ what: panel.title, query }))),
  ...dashboard.templating.list.flatMap(({ name, query }) =>
    typeof query === 'object' && query.azureLogAnalytics
      ? [{ what: `the list ${name}`, query: query.azureLogAnalytics.query }]
      : [],
  ),
];

/** Binding takes long, and every query is bound for several tests. */
const bound = new Map<string, Binding>();
function bind(query: string): Binding {
  const binding = bound.get(query) ?? kql.bind(withMacros(query, from, now, clicked));
  bound.set(query, binding);
  return binding;
}

test.for(queries)('a query in Grafana binds without a diagnostic: $what', ({ query }) => {
  expect(bind(query).diagnostics).toEqual([]);
});

const missing = (panel: Panel): string[] => {
  const given = queriesOf(panel).flatMap((query) => bind(query).columns.map(({ name }) => name));
  return columnsRead(panel)
    .filter(([, column]) => !given.includes(column))
    .map(([where, column]) => `${where}: ${column}`);
};

test.for(asking(dashboard))('a panel in Grafana reads only columns that its query returns: $title', (panel) => {
  expect(missing(panel)).toEqual([]);
});

test.for(asking(dashboard))('a time series in Grafana has a time as its first column: $title', (panel) => {
  const [target] = panel.targets ?? [];
  const overTime = target?.azureLogAnalytics?.resultFormat === 'time_series';
  expect(overTime).toBe(['timeseries', 'state-timeline'].includes(panel.type));
  if (!overTime) return;
  const types = bind(queriesOf(panel)[0] ?? '').columns.map(({ type }) => type);
  expect(types.filter((type) => type === 'datetime')).toHaveLength(1);
});

/** The dashboard with its panel of that title changed. */
const withPanel = (title: string, change: (panel: Panel) => unknown): Dashboard => {
  const changed = (panel: Panel): unknown =>
    panel.title === title
      ? change(panel)
      : { ...panel, ...(panel.panels ? { panels: panel.panels.map(changed) } : {}) };
  return JSON.parse(JSON.stringify({ ...dashboard, panels: dashboard.panels.map(changed) }));
};
const first = 'What is the state of the fleet right now?';
const withTarget = (change: object): Dashboard =>
  withPanel(first, (panel) => ({ ...panel, targets: panel.targets?.map((target) => ({ ...target, ...change })) }));

const planted: readonly { readonly name: string; readonly rule: keyof typeof rules; readonly made: Dashboard }[] = [
  {
    name: 'two panels share an id',
    rule: 'every panel has an id of its own',
    made: withPanel(first, (panel) => ({ ...panel, id: 1 })),
  },
  {
    name: 'a workspace id is in the dashboard',
    rule: 'the dashboard contains no id of a resource',
    made: withTarget({
      azureLogAnalytics: { query: 'VmLifecycle()', resources: ['/subscriptions/x/resourceGroups/y'] },
    }),
  },
  {
    name: 'a subscription id is in the dashboard',
    rule: 'the dashboard contains no id of a resource',
    made: withTarget({ subscriptions: ['11111111-2222-4333-8444-555555555555'] }),
  },
  {
    name: 'a panel has a fixed data source',
    rule: 'every query goes to what was chosen at the top',
    made: withTarget({ datasource: { uid: 'azure-monitor-oob' } }),
  },
  {
    name: 'the time of the dashboard narrows a query',
    rule: 'the chosen time cuts no query',
    made: withTarget({ azureLogAnalytics: { query: 'VmEventTimeline()', resources: [], dashboardTime: true } }),
  },
  {
    name: 'a query reads a variable that is not there',
    rule: 'every variable that is read is there',
    made: withTarget({ azureLogAnalytics: { query: 'VmLifecycle() | where $__contains(Zone, $Zone)', resources: [] } }),
  },
  {
    name: 'one panel covers another',
    rule: 'no panel lies over another',
    made: withPanel(first, (panel) => ({ ...panel, gridPos: { ...panel.gridPos, h: 20 } })),
  },
  {
    name: 'tiles have no thresholds',
    rule: 'every tile has a colour for what it counts, and only what needs an operator is red',
    made: withPanel(first, (panel) => ({ ...panel, fieldConfig: { defaults: {}, overrides: [] } })),
  },
  {
    name: 'many bridges are red',
    rule: 'every tile has a colour for what it counts, and only what needs an operator is red',
    made: JSON.parse(JSON.stringify(dashboard).replaceAll('"color":"green","value":1', '"color":"red","value":1')),
  },
  {
    name: 'a freeze is red in one chart',
    rule: 'one name has one colour',
    made: JSON.parse(JSON.stringify(dashboard).replace('"fixedColor":"#4f9bd9"', '"fixedColor":"#c4314b"')),
  },
  {
    name: 'a click leads nowhere',
    rule: 'a click leads to a panel that is there',
    made: JSON.parse(JSON.stringify(dashboard).replace(/viewPanel=\d+/, 'viewPanel=9999')),
  },
  {
    name: 'a click forgets the chosen regions',
    rule: 'a click keeps what was chosen at the top',
    made: JSON.parse(JSON.stringify(dashboard).replaceAll('$' + '{Location:queryparam}&', '')),
  },
  {
    name: 'a panel is wider than the page',
    rule: 'panels fit into the width',
    made: withPanel(first, (panel) => ({ ...panel, gridPos: { ...panel.gridPos, x: 6 } })),
  },
];

test.for(planted)('the rules for Grafana see it when $name', ({ rule, made }) => {
  expect(rules[rule](made)).not.toEqual([]);
});

test('a tile of Grafana that reads a column that the query does not give is found', () => {
  const made = withPanel(first, (panel) =>
    JSON.parse(JSON.stringify(panel).replace('"fieldName":"Value"', '"fieldName":"Count"')),
  );
  expect(asking(made).flatMap(missing)).toEqual(['rowsToFields: Count']);
});

test('every variable of a query for Azure Resource Graph may have several values', () => {
  const asked = new Set(
    everyPanel(dashboard).flatMap(({ targets = [] }) => targets.flatMap(({ subscriptions = [] }) => subscriptions)),
  );
  expect([...asked]).toEqual(['$Subscriptions']);
  expect(dashboard.templating.list.find(({ name }) => name === 'Subscriptions')).toMatchObject({
    multi: true,
    includeAll: true,
  });
});

test('lists are read when the dashboard is loaded, not at each refresh', () => {
  expect(dashboard.templating.list.filter(({ type }) => type === 'query').map(({ refresh }) => refresh)).not.toContain(
    2,
  );
});

test('a macro that the data source does not know is not passed on', () => {
  expect(() => bind('VmLifecycle() | where $__unixEpochFilter(ObservedAt)')).toThrow('$__unixEpochFilter');
});
