import { expect, test } from 'vitest';
import { workbookPath } from '../../../infra/workbooks/dashboards.ts';
import { answering } from '../../../infra/workbooks/preview/answer.ts';
import { type Chosen, withChosen } from '../../../infra/workbooks/preview/chosen.ts';
import { answerAll, openDemoFleet } from '../../../infra/workbooks/preview/preview.ts';
import { clickedIn, readWorkbook, type Step, stepsOf } from '../../../infra/workbooks/preview/read-workbook.ts';
import { formatters, type QueryContent, queryTypes } from '../../../infra/workbooks/workbook-json.ts';
import { fleetRows } from '../../support/fleet-rows/demo-fleet.ts';
import type { GivenRow } from '../../tools/kql/index.ts';
import { columnsMissing } from './columns-read.ts';

const fleet = openDemoFleet();
const { kql, now } = fleet;
const workbook = readWorkbook(workbookPath);
const steps = stepsOf(workbook);
const chosen: Chosen = { days: 14, now, clicked: clickedIn(steps) };
const asking = steps.filter(({ content }) => content.queryType !== queryTypes.merge);
const named = (name: string): Step => {
  const found = steps.find((step) => step.name === name);
  if (!found) throw new Error(`there is no step ${name}`);
  return found;
};

const queries = [
  ...asking.map(({ name, content }) => ({ what: `step ${name}`, query: content.query })),
  ...workbook.items.flatMap((item) =>
    item.type === 9
      ? item.content.parameters.flatMap(({ name, query, resourceType = '' }) =>
          query && resourceType.includes('workspaces') ? [{ what: `parameter ${name}`, query }] : [],
        )
      : [],
  ),
];

test.for(queries)('the query of $what is bound without a word against it', ({ query }) => {
  const sent = withChosen(query, chosen);
  expect(kql.bind(sent).diagnostics).toEqual([]);
  expect(kql.analyze(sent)).toEqual([]);
});

test.for(queries)('the query of $what is formatted', ({ query }) => {
  const sent = withChosen(query, chosen);
  expect(sent.split('\n')).toEqual(kql.format(sent).split(/\r?\n/));
});

test.for(steps)('$name reads only columns that its query gives', (step) => {
  expect(columnsMissing(step, steps, kql, chosen)).toEqual([]);
});

const answered = answerAll(steps, fleet);

// In the resource group that is clicked no VM has a bridge: that is what the step beside it shows.
test.for(answered.filter(({ step }) => step.name !== 'bridges-of-group'))(
  '$step.name has something to show of the demo fleet',
  ({ answer }) => {
    expect(answer.rows.length).toBeGreaterThan(0);
  },
);

test('on the demo fleet the workbook shows what went wrong', () => {
  const rowsOf = (name: string) => answered.find(({ step }) => step.name === name)?.answer.rows ?? [];
  const tiles = Object.fromEntries(rowsOf('now').map(({ Tile, Value }) => [Tile, Value]));
  expect(tiles).toMatchObject({ Stuck: 1, Bridges: 104 });
  expect(rowsOf('in-progress').find(({ State }) => State === 'stuck')).toMatchObject({ VmName: 'web_20' });
  expect(rowsOf('gaps')).toMatchObject([{ VmName: 'web_9', Missing: 1 }]);
  const problems = rowsOf('problems').map(({ VmName, Problem }) => `${VmName} ${Problem}`);
  expect(problems).toEqual(
    expect.arrayContaining(['web_12 polls fail', 'web_20 behind', 'web_9 dead letters', 'shop_3 stopped']),
  );
  expect(rowsOf('without-bridge').map(({ ResourceId }) => String(ResourceId).split('/').at(-1))).toEqual([
    'legacy-1',
    'legacy-2',
  ]);
  expect(
    rowsOf('was-it-announced').map(({ ResourceId, EventType }) => [String(ResourceId).split('/').at(-1), EventType]),
  ).toEqual([
    ['8', null],
    ['20', 'Reboot'],
    ['5', null],
  ]);
});

// Both run every few minutes in a workbook that is set to refresh, and in Grafana.
test('the overview reads heartbeats of one day and records of two', () => {
  const overview = asking.filter(({ tab }) => tab === 'Overview');
  const calls = overview.flatMap(({ content }) => content.query.match(/Vm\w+\(.*\)/g) ?? []);
  expect(new Set(calls)).toEqual(new Set(['VmEventStates(ago(2d), ago(1d))']));
  const { now: _, ...rows } = fleetRows();
  const since = (days: number, given: readonly GivenRow[]) =>
    given.filter(({ TimeGenerated }) => Date.parse(String(TimeGenerated)) > now.getTime() - days * 86_400_000);
  const tables = kql.load({
    VmLifecycle_CL: since(2, rows.VmLifecycle_CL),
    VmLifecycleBridge_CL: since(1, rows.VmLifecycleBridge_CL),
  });
  const recent = answering(steps, kql, chosen, tables);
  const all = answering(steps, kql, chosen, fleet.tables);
  for (const { name } of overview) expect(recent(name)).toEqual(all(name));
});

const withContent = (name: string, change: (content: QueryContent) => Partial<QueryContent>): Step[] =>
  steps.map((step) => (step.name === name ? { ...step, content: { ...step.content, ...change(step.content) } } : step));

const plantedColumns: readonly {
  readonly name: string;
  readonly step: string;
  readonly change: (content: QueryContent) => Partial<QueryContent>;
  readonly found: string;
}[] = [
  {
    name: 'a tile reads a column that the query does not give',
    step: 'now',
    change: ({ query }) => ({ query: query.replace('    Value,', '    Count = Value,') }),
    found: 'tile leftContent: Value',
  },
  {
    name: 'a column was renamed under its formatter',
    step: 'announced',
    change: ({ query }) => ({ query: query.replaceAll('Left', 'SecondsLeft') }),
    found: 'formatter: Left',
  },
  {
    name: 'a label belongs to no column',
    step: 'announced',
    change: () => ({
      gridSettings: { formatters: [], filter: true, labelSettings: [{ columnId: 'VMName', label: 'VM' }] },
    }),
    found: 'label: VMName',
  },
  {
    name: 'a link leads to a column that is not there',
    step: 'announced',
    change: () => ({
      gridSettings: {
        formatters: [{ columnMatch: 'VmName', formatter: formatters.link, formatOptions: { linkColumn: 'Portal' } }],
        filter: true,
        labelSettings: [],
      },
    }),
    found: 'link: Portal',
  },
  {
    name: 'an axis measures nothing',
    step: 'vms-by-day',
    change: () => ({ chartSettings: { xAxis: 'Day', yAxis: ['Vms'], group: 'EventType' } }),
    found: 'y axis: Vms',
  },
  {
    name: 'bars are grouped by nothing',
    step: 'vms-by-day',
    change: () => ({ chartSettings: { xAxis: 'Day', yAxis: ['VMs'], group: 'Type' } }),
    found: 'group: Type',
  },
  {
    name: 'a part of a bar is measured by nothing',
    step: 'wave',
    change: ({ query }) => ({ query: query.replace('MoreWork =', 'WorkAfter =') }),
    found: 'part of a bar: MoreWork',
  },
  {
    name: 'one of several columns with a common scale was renamed',
    step: 'calendar',
    change: ({ query }) => ({ query: query.replaceAll('Tomorrow', 'NextDay') }),
    found: 'formatter: ^(Due|Today|Tomorrow|In2Days|In3Days|In4Days|In5Days|In6Days|Later)$',
  },
  {
    name: 'the chosen event is not in the row',
    step: 'events',
    change: ({ query }) => ({ query: query.replace(/,\s+EventId$/, '') }),
    found: 'export: EventId',
  },
  {
    name: 'a merge takes a column that its step no longer gives',
    step: 'events-by-hour',
    change: ({ query }) => ({ query: query.replace('Notice = NoticeSeconds', 'Warning = NoticeSeconds') }),
    found: 'merge: [events-by-hour].Notice',
  },
];

test.for(plantedColumns)('a fault is found when $name', ({ step, change, found }) => {
  const changed = withContent(step, change);
  const onTab = changed.filter(({ tab }) => tab === named(step).tab);
  const missing = onTab.flatMap((each) => columnsMissing(each, changed, kql, chosen));
  expect(missing).toContain(found);
});

const plantedQueries: readonly { readonly name: string; readonly from: string; readonly to: string }[] = [
  { name: 'a column of the table is misspelled', from: 'NotBefore', to: 'NotBeforeUtc' },
  { name: 'a time is compared with a number', from: 'isnull(StartedAt)', to: 'StartedAt > 5' },
  { name: 'a function was renamed', from: 'VmEventTimeline()', to: 'VmTimeline()' },
  {
    name: 'a join has a key that one side lacks',
    from: '| where isnull(StartedAt)',
    to: '| lookup VmBridgeCoverage() on EventId',
  },
];

test.for(plantedQueries)('a query of the workbook is refused when $name', ({ from, to }) => {
  const { query } = named('announced').content;
  expect(query).toContain(from);
  expect(kql.bind(withChosen(query.replaceAll(from, to), chosen)).diagnostics).not.toEqual([]);
});

test('a parameter that the workbook does not have is not sent', () => {
  expect(() => withChosen('VmLifecycle() | where Zone in~ ({Zone})', chosen)).toThrow('{Zone}');
});
