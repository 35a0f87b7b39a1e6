import type { Look, Merged, Panel, Show, Tab, Unit, Urgency, Words } from './panel.ts';
import { parameters } from './parameters.ts';
import {
  type ChartSettings,
  type Condition,
  type Formatter,
  formatters,
  type GridSettings,
  type Item,
  type Merge,
  type NumberFormat,
  type QueryContent,
  queryTypes,
  type TileSettings,
  type Workbook,
} from './workbook-json.ts';

/** How a workbook writes what was chosen. Where all of a list is chosen, its parameter is `'*'`; all subscriptions are `'value::all'`. */
const words: Words = {
  start: '{TimeRange:start}',
  within: (column) => `${column} {TimeRange}`,
  chosen: (filters) =>
    filters.map(({ name, column }) =>
      name === 'Subscription'
        ? `'value::all' in({Subscription}) or strcat('/subscriptions/', ${column}) in~({Subscription})`
        : `'*' in({${name}}) or ${column} in~({${name}})`,
    ),
  event: "'{EventId}'",
};

/** The workbook of Azure Monitor that shows the tabs. */
export function toWorkbook(tabs: readonly Tab[]): Workbook {
  return {
    version: 'Notebook/1.0',
    items: [
      { type: 9, content: parameters, name: 'parameters' },
      tabBar(tabs),
      ...tabs.flatMap((tab, number) => tab.panels.map((panel) => step(panel, tab, number))),
    ],
    fallbackResourceIds: [],
    $schema: 'https://github.com/Microsoft/Application-Insights-Workbooks/blob/master/schema/workbook.json',
  };
}

const numbered = (kind: number, number: number): string =>
  `5f3f0d0c-6f0e-4c53-9a0f-6a1d6f3c${String(kind).padStart(2, '0')}${String(number).padStart(2, '0')}`;

const tabBar = (tabs: readonly Tab[]): Item => ({
  type: 11,
  content: {
    version: 'LinkItem/1.0',
    style: 'tabs',
    links: tabs.map(({ name }, number) => ({
      id: numbered(10, number),
      cellValue: 'SelectedTab',
      linkTarget: 'parameter',
      linkLabel: name,
      subTarget: name,
      style: 'link',
    })),
  },
  name: 'tabs',
});

function step(panel: Panel, tab: Tab, number: number): Item {
  const onTab: Condition = { parameterName: 'SelectedTab', comparison: 'isEqualTo', value: tab.name };
  return {
    type: 3,
    content: { ...question(panel, number), ...shown(panel.show) },
    ...(panel.width === undefined ? {} : { customWidth: String(panel.width) }),
    ...(panel.needsEvent
      ? { conditionalVisibilities: [onTab, { parameterName: 'EventId', comparison: 'isNotEqualTo' }] }
      : { conditionalVisibility: onTab }),
    name: panel.name,
  };
}

function question({ title, empty, source, show }: Panel, number: number): Omit<QueryContent, 'visualization'> {
  const about = { version: 'KqlItem/1.0', size: show.as === 'tiles' ? 4 : 0, title, noDataMessage: empty } as const;
  if (source.of === 'panels') {
    return { ...about, query: JSON.stringify(merge(source, numbered(20, number))), queryType: queryTypes.merge };
  }
  const asked = { ...about, query: source.query(words) };
  if (source.of === 'resource graph') {
    return {
      ...asked,
      queryType: queryTypes.graph,
      resourceType: 'microsoft.resourcegraph/resources',
      crossComponentResources: ['{Subscription}'],
    };
  }
  return {
    ...asked,
    // The query says its times itself: what is announced now does not depend on the time that was chosen.
    timeContext: { durationMs: 0 },
    queryType: queryTypes.logs,
    resourceType: 'microsoft.operationalinsights/workspaces',
    crossComponentResources: ['{Workspace}'],
  };
}

const merge = ({ left, right, on, keep, columns }: Merged, id: string): Merge => ({
  version: 'Merge/1.0',
  merges: [
    {
      id,
      mergeType: keep === 'left' ? 'leftouter' : 'leftanti',
      leftTable: left,
      rightTable: right,
      leftColumn: on,
      rightColumn: on,
    },
  ],
  projectRename: columns.map(({ from, column }) => ({
    originalName: `[${from === 'left' ? left : right}].${column}`,
    mergedName: column,
    fromId: id,
  })),
});

function shown(
  show: Show,
): Pick<
  QueryContent,
  'visualization' | 'tileSettings' | 'gridSettings' | 'chartSettings' | 'exportFieldName' | 'exportParameterName'
> {
  switch (show.as) {
    case 'tiles':
      return { visualization: 'tiles', tileSettings: tiles(show) };
    case 'table':
      return {
        ...(show.chooses === undefined ? {} : { exportFieldName: show.chooses, exportParameterName: 'EventId' }),
        visualization: 'table',
        gridSettings: grid(show.looks),
      };
    case 'pie':
      return { visualization: 'piechart', chartSettings: { xAxis: show.x, yAxis: show.y, showLegend: true } };
    case 'bars':
      return { visualization: show.isTime ? 'barchart' : 'categoricalbar', chartSettings: chart(show) };
    case 'lines':
      return { visualization: 'linechart', chartSettings: chart(show) };
  }
}

const numberUnits: Readonly<Record<Unit, number>> = { ms: 23, s: 24 };
const plainNumber = 17;

const numberFormat = (unit: Unit | undefined): NumberFormat => ({
  unit: unit === undefined ? plainNumber : numberUnits[unit],
  options: { style: 'decimal', maximumFractionDigits: 1 },
});

const chart = ({ x, y, group, unit }: Extract<Show, { as: 'bars' | 'lines' }>): ChartSettings => ({
  xAxis: x,
  yAxis: y,
  ...(group === undefined ? {} : { group, createOtherGroup: 10 }),
  showLegend: true,
  ...(unit === undefined ? {} : { ySettings: { numberFormatSettings: numberFormat(unit) } }),
});

const icons: Readonly<Record<Urgency, string>> = { act: '4', watch: '2', fine: 'success' };

const signed = (column: string, signs: Readonly<Record<string, Urgency>>): Formatter => ({
  columnMatch: column,
  formatter: formatters.thresholds,
  formatOptions: {
    thresholdsOptions: 'icons',
    thresholdsGrid: [
      ...Object.entries(signs).map(([text, urgency]) => ({
        operator: '==',
        thresholdValue: text,
        representation: icons[urgency],
        text: '{0}{1}',
      })),
      { operator: 'Default', representation: 'Blank', text: '{0}{1}' },
    ],
  },
});

const tiles = ({ title, value, meaning, urgency }: Extract<Show, { as: 'tiles' }>): TileSettings => ({
  titleContent: { columnMatch: title, formatter: formatters.text },
  subtitleContent: { columnMatch: meaning, formatter: formatters.text },
  leftContent: { columnMatch: value, formatter: formatters.bigNumber, numberFormat: numberFormat(undefined) },
  secondaryContent: signed(urgency, { act: 'act', watch: 'watch', fine: 'fine' }),
  showBorder: true,
});

const grid = (looks: readonly Look[]): GridSettings => ({
  formatters: looks.flatMap(formatter),
  filter: true,
  labelSettings: looks.flatMap(({ column, label }) => (label === undefined ? [] : [{ columnId: column, label }])),
});

function formatter({ column, unit, as, signs }: Look): Formatter[] {
  if (signs) return [signed(column, signs)];
  switch (as) {
    case 'time':
      return [{ columnMatch: column, formatter: formatters.time, dateFormat: { formatName: 'shortDateTimePattern' } }];
    case 'resource':
      return [
        {
          columnMatch: column,
          formatter: formatters.resource,
          formatOptions: { linkTarget: 'Resource', showIcon: true },
        },
      ];
    case 'bar':
      return [{ columnMatch: column, formatter: formatters.bar, formatOptions: { palette: 'blue' } }];
    case 'heat':
      return [{ columnMatch: column, formatter: formatters.heat, formatOptions: { palette: 'orange' } }];
    default:
      return unit === undefined
        ? []
        : [{ columnMatch: column, formatter: formatters.text, numberFormat: numberFormat(unit) }];
  }
}
