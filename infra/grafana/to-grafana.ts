import {
  type Asked,
  type Choice,
  type Chooses,
  foundFilters,
  type Merged,
  type Panel,
  type Tab,
  textFilter,
  type Words,
} from '../workbooks/panel.ts';
import type { Json } from './json.ts';
import { variables } from './variables.ts';
import { viewOf } from './views.ts';

// assumption: grafana-lanes
/** One variable for both: a click leads to the steps of the same event. */
const variableOf: Readonly<Record<Choice, string>> = {
  EventId: 'EventId',
  UpcomingEventId: 'EventId',
  Wave: 'Wave',
  ResourceGroupId: 'ResourceGroupId',
};

/** How Grafana's data source for Azure Monitor writes what was chosen: `$__contains` is true for all where all are chosen. */
const words: Words = {
  start: '$__timeFrom()',
  within: (column) => `$__timeFilter(${column})`,
  // Which subscriptions are looked at is said with the workspace: its VMs may be in any.
  chosen: (filters) =>
    filters
      .filter(({ name }) => name !== 'Subscription')
      .map(({ name, column }) =>
        name === 'VmName' ? `${column} contains '$VmName'` : `$__contains(${column}, $${name})`,
      ),
  clicked: (choice) => `'$${variableOf[choice]}'`,
};

/** A variable where its bare name would run into the text after it. */
const filled = (name: string): string => `\${${name}}`;

const datasource = { type: 'grafana-azure-monitor-datasource', uid: filled('Source') };

/** The dashboard of Grafana that shows the tabs, a row each. */
export function toGrafana(tabs: readonly Tab[]): Json {
  return {
    title: 'VM lifecycle',
    uid: 'vm-lifecycle-fleet',
    tags: ['azure', 'scheduled-events'],
    schemaVersion: 39,
    editable: true,
    time: { from: 'now-14d', to: 'now' },
    refresh: '5m',
    templating: { list: variables(datasource) },
    panels: tabs.flatMap((tab, number) => row(tab, number, tabs)),
  };
}

const columns = 24;

/** Ids of panels: a hundred for each tab, of which the first is that of its row. */
const idOf = (tab: number, panel: number): number => 2 + tab * 100 + panel;

/** The first row is open; the queries of the others are asked when they are opened. */
function row({ name, panels }: Tab, number: number, tabs: readonly Tab[]): Json[] {
  const head = { id: idOf(number, -1), type: 'row', title: name, gridPos: { h: 1, w: columns, x: 0, y: number * 100 } };
  const placed = places(panels, number * 100 + 1).map(({ panel, gridPos }, index) => ({
    id: idOf(number, index),
    gridPos,
    ...drawn(panel, tabs),
  }));
  return number === 0
    ? [{ ...head, collapsed: false, panels: [] }, ...placed]
    : [{ ...head, collapsed: true, panels: placed }];
}

interface Place {
  readonly h: number;
  readonly w: number;
  readonly x: number;
  readonly y: number;
}

/** Lanes need a line for each VM. */
function heightOf({ show }: Panel): number {
  if (show.as === 'tiles') return 5;
  return show.as === 'table' && show.lanes !== undefined ? 18 : 9;
}

/** Side by side while they fit, else below. */
function places(panels: readonly Panel[], top: number): { readonly panel: Panel; readonly gridPos: Place }[] {
  let x = 0;
  let y = top;
  return panels.map((panel) => {
    const w = Math.round(((panel.width ?? 100) * columns) / 100);
    const h = heightOf(panel);
    if (x + w > columns) {
      x = 0;
      y += h;
    }
    const gridPos = { h, w, x, y };
    x += w;
    if (x >= columns) {
      x = 0;
      y += h;
    }
    return { panel, gridPos };
  });
}

function drawn({ title, empty, source, show }: Panel, tabs: readonly Tab[]): Json {
  const { transformations = [], fieldConfig, ...view } = viewOf(show, (chooses) => linkTo(chooses, tabs));
  const asked = questions(source, tabs);
  const format = ['timeseries', 'state-timeline'].includes(view.type) ? 'time_series' : 'table';
  return {
    ...view,
    title,
    datasource,
    targets: asked.map((one, index) => target(one, 'AB'[index] ?? 'A', format)),
    fieldConfig: { ...fieldConfig, defaults: { noValue: empty, ...fieldConfig.defaults } },
    transformations: [...(source.of === 'panels' ? joined(source) : []), ...transformations],
  };
}

/** What a panel asks; one that is put together of two asks what they ask. */
function questions(source: Asked | Merged, tabs: readonly Tab[]): Asked[] {
  if (source.of !== 'panels') return [source];
  return [source.left, source.right].map((name) => {
    const found = tabs.flatMap(({ panels }) => panels).find((panel) => panel.name === name)?.source;
    if (found === undefined || found.of === 'panels') throw new Error(`there is no panel ${name} with a query`);
    return found;
  });
}

const target = ({ of, query, overTime = query }: Asked, refId: string, resultFormat: string): Json =>
  of === 'workspace'
    ? {
        refId,
        datasource,
        queryType: 'Azure Log Analytics',
        // The time is set in the query: what is announced now does not depend on the chosen time.
        azureLogAnalytics: { resources: ['$Workspace'], query: overTime(words), resultFormat, dashboardTime: false },
      }
    : {
        refId,
        datasource,
        queryType: 'Azure Resource Graph',
        subscriptions: ['$Subscriptions'],
        azureResourceGraph: { query: query(words), resultFormat: 'table' },
      };

/** Grafana knows no outer join of one side: rows of the other side are filtered out afterwards. */
function joined({ on, keep, always, columns: shownColumns }: Merged): Json[] {
  const filter =
    keep === 'left'
      ? { fieldName: always.left, config: { id: 'isNotNull', options: {} } }
      : { fieldName: always.right, config: { id: 'isNull', options: {} } };
  return [
    { id: 'joinByField', options: { byField: on, mode: 'outer' } },
    { id: 'filterByValue', options: { type: 'include', match: 'all', filters: [filter] } },
    { id: 'filterFieldsByName', options: { include: { names: shownColumns.map(({ column }) => column) } } },
  ];
}

const sources = ['Source', 'Subscription', 'Workspace', 'Subscriptions'].map((name) => ({ name }));

/** The same dashboard with another choice, and the panel alone that shows it, or its time alone where the choice has one. */
function linkTo({ column, as, shownBy, zoom }: Chooses, tabs: readonly Tab[]): string {
  const kept = [...sources, ...foundFilters, textFilter].map(({ name }) => filled(`${name}:queryparam`));
  const chosen = `var-${variableOf[as]}=${filled(`__data.fields.${column}`)}`;
  const time = zoom
    ? [`from=${filled(`__data.fields.${zoom.from}.numeric`)}`, `to=${filled(`__data.fields.${zoom.to}.numeric`)}`]
    : [filled('__url_time_range')];
  return `?${[...kept, ...time, chosen, `viewPanel=${idOfPanel(shownBy, tabs)}`].join('&')}`;
}

function idOfPanel(name: string, tabs: readonly Tab[]): number {
  for (const [number, { panels }] of tabs.entries()) {
    const place = panels.findIndex((panel) => panel.name === name);
    if (place >= 0) return idOf(number, place);
  }
  throw new Error(`there is no panel ${name}`);
}
