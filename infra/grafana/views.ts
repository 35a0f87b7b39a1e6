import { coloured, colours } from '../workbooks/colours.ts';
import type { Chooses, Show, Unit } from '../workbooks/panel.ts';
import { override, urgencyColours } from './columns.ts';
import type { Json } from './json.ts';

/** How Grafana draws what a panel shows. */
export interface View {
  readonly type: string;
  readonly options: Json;
  readonly description?: string;
  readonly fieldConfig: { readonly defaults: Json; readonly overrides: readonly Json[] };
  readonly transformations?: readonly Json[];
}

type Chart = Extract<Show, { as: 'bars' | 'lines' | 'area' }>;
type Tiles = Extract<Show, { as: 'tiles' }>;
type Table = Extract<Show, { as: 'table' }>;

/** `linkTo` gives the address to which a click leads. */
export function viewOf(show: Show, linkTo: (chooses: Chooses) => string): View {
  switch (show.as) {
    case 'tiles':
      return tiles(show);
    case 'pie':
      return {
        type: 'piechart',
        options: {
          reduceOptions: { values: true, calcs: [], limit: 25, fields: `/^${show.y[0]}$/` },
          pieType: 'donut',
          legend: { displayMode: 'table', values: ['value'] },
        },
        fieldConfig: { defaults: { displayName: `\${__data.fields.${show.x}}` }, overrides: fixedColours(show.names) },
      };
    case 'table':
      return show.lanes === undefined ? table(show, linkTo) : lanes(show.lanes);
    case 'lines':
    case 'bars':
    case 'area':
      return show.isTime ? overTime(show) : overNames(show);
  }
}

const fixed = (colour: string): Json => ({ id: 'color', value: { mode: 'fixed', fixedColor: colour } });

/** By a part of the name: that of a series may have the name of the column before it. */
const fixedColours = (names: readonly string[]): Json[] =>
  coloured(names).map(([name, { hex }]) => ({
    matcher: { id: 'byRegexp', options: `/${name}$/` },
    properties: [fixed(hex)],
  }));

/** Each row becomes a field, since a field has its own thresholds and a row has not. */
const tiles = ({ title, value, tiles: texts }: Tiles): View => ({
  type: 'stat',
  description: texts.map(({ name, meaning }) => `**${name}**: ${meaning}`).join('  \n'),
  options: {
    reduceOptions: { values: false, calcs: ['lastNotNull'], fields: '' },
    textMode: 'value_and_name',
    colorMode: 'value',
    graphMode: 'none',
  },
  fieldConfig: {
    defaults: { thresholds: { mode: 'absolute', steps: [{ color: 'green', value: null }] } },
    overrides: texts.map(({ name, ifAny }) => ({
      matcher: { id: 'byName', options: name },
      properties: [
        {
          id: 'thresholds',
          value: {
            mode: 'absolute',
            steps: [
              { color: 'green', value: null },
              { color: urgencyColours[ifAny], value: 1 },
            ],
          },
        },
      ],
    })),
  },
  transformations: [
    {
      id: 'rowsToFields',
      options: {
        mappings: [
          { fieldName: title, handlerKey: 'field.name' },
          { fieldName: value, handlerKey: 'field.value' },
        ],
      },
    },
  ],
});

const table = ({ styles, chooses }: Table, linkTo: (chooses: Chooses) => string): View => {
  const clicked = chooses?.clickOn ?? chooses?.column;
  const links = chooses === undefined ? [] : [{ title: 'Show it', url: linkTo(chooses) }];
  const isNamed = clicked === undefined || styles.some(({ column }) => column === clicked);
  const all = isNamed ? styles : [...styles, { column: clicked }];
  return {
    type: 'table',
    options: { showHeader: true },
    fieldConfig: {
      defaults: { custom: { filterable: true } },
      overrides: all.flatMap((look) => override(look, look.column === clicked ? links : [])),
    },
  };
};

/** The column that `overTime` names the lanes by. */
const laneColumn = 'VmName';

// assumption: grafana-lanes
/** Each VM a lane, each state a colour. A lane continues until its next state; `nothing` is transparent. */
const lanes = (states: Readonly<Record<number, string>>): View => ({
  type: 'state-timeline',
  options: {
    mergeValues: true,
    showValue: 'never',
    rowHeight: 0.8,
    legend: { showLegend: true, displayMode: 'list', placement: 'bottom' },
    tooltip: { mode: 'single' },
  },
  fieldConfig: {
    defaults: {
      displayName: `\${__field.labels.${laneColumn}}`,
      custom: { spanNulls: true, lineWidth: 0, fillOpacity: 100 },
      mappings: [
        {
          type: 'value',
          options: Object.fromEntries(
            Object.entries(states).map(([state, text]) => [
              state,
              { text, color: text === 'nothing' ? 'transparent' : colours[text]?.hex },
            ]),
          ),
        },
      ],
    },
    overrides: [],
  },
});

const unitOf = (unit: Unit | undefined): Json => (unit === undefined ? {} : { unit });

const drawStyles: Readonly<Record<Chart['as'], Json>> = {
  bars: { drawStyle: 'bars', fillOpacity: 80, lineWidth: 0, stacking: { mode: 'normal' } },
  lines: { drawStyle: 'line', fillOpacity: 10, showPoints: 'always' },
  area: { drawStyle: 'line', lineInterpolation: 'stepAfter', fillOpacity: 25, showPoints: 'never', spanNulls: true },
};

const overTime = ({ as, group, unit, names }: Chart): View => ({
  type: 'timeseries',
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  fieldConfig: {
    defaults: {
      ...unitOf(unit),
      ...(group === undefined ? {} : { displayName: `\${__field.labels.${group}}` }),
      custom: drawStyles[as],
    },
    overrides: fixedColours(names ?? []),
  },
});

const overNames = ({ x, y, group, unit, names }: Chart): View => ({
  type: 'barchart',
  options: {
    stacking: group === undefined ? 'none' : 'normal',
    legend: { displayMode: 'list', placement: 'bottom' },
    ...(group === undefined ? { xField: x } : {}),
  },
  fieldConfig: { defaults: unitOf(unit), overrides: fixedColours(names ?? []) },
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
