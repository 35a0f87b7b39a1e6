import type { Asked, Look, Merged, Panel, Show, Tab, Unit, Urgency, Words } from '../workbooks/panel.ts';
import { variables } from './variables.ts';

/** How Grafana's data source for Azure Monitor writes what was chosen: `$__contains` is true for all where all are chosen. */
const words: Words = {
  start: '$__timeFrom()',
  within: (column) => `$__timeFilter(${column})`,
  // Which subscriptions are looked at is said with the workspace: its VMs may be in any.
  chosen: (filters) =>
    filters.filter(({ name }) => name !== 'Subscription').map(({ name, column }) => `$__contains(${column}, $${name})`),
  event: "'$EventId'",
};

/** A variable where its bare name would run into the text after it. */
const filled = (name: string): string => `\${${name}}`;

const datasource = { type: 'grafana-azure-monitor-datasource', uid: filled('Source') };

type Json = Readonly<Record<string, unknown>>;

/** The dashboard of Grafana that shows the tabs, a row each. */
export function toGrafana(tabs: readonly Tab[]): Json {
  const everything = tabs.flatMap(({ panels }) => panels);
  return {
    title: 'VM lifecycle',
    uid: 'vm-lifecycle-fleet',
    tags: ['azure', 'scheduled-events'],
    schemaVersion: 39,
    editable: true,
    time: { from: 'now-14d', to: 'now' },
    refresh: '5m',
    templating: { list: variables(datasource) },
    panels: tabs.flatMap((tab, number) => row(tab, number, everything)),
  };
}

const columns = 24;

/** The first row is open; the queries of the others are asked when they are opened. */
function row({ name, panels }: Tab, number: number, everything: readonly Panel[]): Json[] {
  const first = 1 + number * 100;
  const head = { id: first, type: 'row', title: name, gridPos: { h: 1, w: columns, x: 0, y: number * 100 } };
  const placed = places(panels, number * 100 + 1).map(({ panel, gridPos }, index) => ({
    id: first + 1 + index,
    gridPos,
    ...drawn(panel, everything),
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

/** Side by side while they fit, else below. */
function places(panels: readonly Panel[], top: number): { readonly panel: Panel; readonly gridPos: Place }[] {
  let x = 0;
  let y = top;
  return panels.map((panel) => {
    const w = Math.round(((panel.width ?? 100) * columns) / 100);
    const h = panel.show.as === 'tiles' ? 5 : 9;
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

function drawn({ title, empty, source, show }: Panel, everything: readonly Panel[]): Json {
  const { transformations = [], fieldConfig, ...view } = shown(show);
  const asked = questions(source, everything);
  const format = show.as === 'lines' || (show.as === 'bars' && show.isTime) ? 'time_series' : 'table';
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
function questions(source: Asked | Merged, everything: readonly Panel[]): Asked[] {
  if (source.of !== 'panels') return [source];
  return [source.left, source.right].map((name) => {
    const found = everything.find((panel) => panel.name === name)?.source;
    if (found === undefined || found.of === 'panels') throw new Error(`there is no panel ${name} with a query`);
    return found;
  });
}

const target = ({ of, query }: Asked, refId: string, resultFormat: string): Json =>
  of === 'workspace'
    ? {
        refId,
        datasource,
        queryType: 'Azure Log Analytics',
        // The query says its times itself: what is announced now does not depend on the time that was chosen.
        azureLogAnalytics: { resources: ['$Workspace'], query: query(words), resultFormat, dashboardTime: false },
      }
    : {
        refId,
        datasource,
        queryType: 'Azure Resource Graph',
        subscriptions: ['$Subscription'],
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

interface View {
  readonly type: string;
  readonly options: Json;
  readonly fieldConfig: { readonly defaults: Json; readonly overrides: readonly Json[] };
  readonly transformations?: readonly Json[];
}

const colours: Readonly<Record<Urgency, string>> = { act: 'red', watch: 'orange', fine: 'green' };

/** The rows as they are, not reckoned together. */
const everyRow = (field: string): Json => ({ values: true, calcs: [], limit: 25, fields: `/^${field}$/` });

function shown(show: Show): View {
  switch (show.as) {
    case 'tiles':
      return {
        type: 'stat',
        options: { reduceOptions: everyRow(show.value), textMode: 'value_and_name', colorMode: 'value' },
        fieldConfig: { defaults: { displayName: `\${__data.fields.${show.title}}` }, overrides: [] },
      };
    case 'pie':
      return {
        type: 'piechart',
        options: {
          reduceOptions: everyRow(show.y[0]),
          pieType: 'donut',
          legend: { displayMode: 'table', values: ['value'] },
        },
        fieldConfig: { defaults: { displayName: `\${__data.fields.${show.x}}` }, overrides: [] },
      };
    case 'table':
      return {
        type: 'table',
        options: { showHeader: true },
        fieldConfig: {
          defaults: { custom: { filterable: true } },
          overrides: show.looks.flatMap((look) => override(look, look.column === show.chooses)),
        },
      };
    case 'lines':
    case 'bars':
      return show.isTime ? overTime(show) : overNames(show);
  }
}

const unitOf = (unit: Unit | undefined): Json => (unit === undefined ? {} : { unit });

const overTime = ({ as, group, unit }: Extract<Show, { as: 'bars' | 'lines' }>): View => ({
  type: 'timeseries',
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  fieldConfig: {
    defaults: {
      ...unitOf(unit),
      ...(group === undefined ? {} : { displayName: `\${__field.labels.${group}}` }),
      custom:
        as === 'bars'
          ? { drawStyle: 'bars', fillOpacity: 80, lineWidth: 0, stacking: { mode: 'normal' } }
          : { drawStyle: 'line', fillOpacity: 10, showPoints: 'always' },
    },
    overrides: [],
  },
});

const overNames = ({ x, y, group, unit }: Extract<Show, { as: 'bars' | 'lines' }>): View => ({
  type: 'barchart',
  options: {
    stacking: group === undefined ? 'none' : 'normal',
    legend: { displayMode: 'list', placement: 'bottom' },
    ...(group === undefined ? { xField: x } : {}),
  },
  fieldConfig: { defaults: unitOf(unit), overrides: [] },
  ...(group === undefined
    ? {}
    : {
        transformations: [
          {
            id: 'groupingToMatrix',
            options: { columnField: group, rowField: x, valueField: y[0], emptyValue: 'zero' },
          },
        ],
      }),
});

const property = (id: string, value: unknown): Json => ({ id, value });

function override({ column, label, unit, as, signs }: Look, chooses: boolean): Json[] {
  const properties = [
    ...(label === undefined ? [] : [property('displayName', label)]),
    ...(unit === undefined ? [] : [property('unit', unit)]),
    ...(as === undefined ? [] : lookOf[as]),
    ...(signs === undefined ? [] : signed(signs)),
    ...(chooses ? [property('links', [{ title: 'Follow this event', url: chosenEvent }])] : []),
  ];
  return properties.length === 0 ? [] : [{ matcher: { id: 'byName', options: column }, properties }];
}

/** The same dashboard with another event. */
const kept = ['Source', 'Subscription', 'Workspace'].map((name) => filled(`${name}:queryparam`));
const chosenEvent = `?${[...kept, filled('__url_time_range'), `var-EventId=${filled('__value.raw')}`].join('&')}`;

const lookOf: Readonly<Record<NonNullable<Look['as']>, readonly Json[]>> = {
  bar: [property('custom.cellOptions', { type: 'gauge', mode: 'basic' }), property('min', 0)],
  heat: [
    property('custom.cellOptions', { type: 'color-background', mode: 'gradient' }),
    property('color', { mode: 'continuous-YlRd' }),
  ],
  time: [property('unit', 'dateTimeAsSystem')],
  resource: [property('custom.width', 320)],
};

const signed = (signs: Readonly<Record<string, Urgency>>): Json[] => [
  property('custom.cellOptions', { type: 'color-text' }),
  property('mappings', [
    {
      type: 'value',
      options: Object.fromEntries(
        Object.entries(signs).map(([text, urgency]) => [text, { text, color: colours[urgency] }]),
      ),
    },
  ]),
];
