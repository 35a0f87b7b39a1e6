import { coloured } from './colours.ts';
import { grid, numberFormat, tiles } from './grid.ts';
import type { Chooses, Merged, Panel, Show, Tab, Words } from './panel.ts';
import { parameters } from './parameters.ts';
import {
  type ChartSettings,
  type Condition,
  type Item,
  type Merge,
  type QueryContent,
  queryTypes,
  type Workbook,
} from './workbook-json.ts';

// assumption: workbook-queries
/** How a workbook writes what was chosen. Where all of a list is chosen, its parameter is `'*'`; all subscriptions are `'value::all'`. */
const words: Words = {
  start: '{TimeRange:start}',
  within: (column) => `${column} {TimeRange}`,
  chosen: (filters) =>
    filters.map(({ name, column }) => {
      if (name === 'VmName') return `${column} contains '{VmName}'`;
      return name === 'Subscription'
        ? `'value::all' in({Subscription}) or strcat('/subscriptions/', ${column}) in~({Subscription})`
        : `'*' in({${name}}) or ${column} in~({${name}})`;
    }),
  clicked: (choice) => `'{${choice}}'`,
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
    ...(panel.needs === undefined
      ? { conditionalVisibility: onTab }
      : { conditionalVisibilities: [onTab, { parameterName: panel.needs, comparison: 'isNotEqualTo' }] }),
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
    // Without a timeContext the time is set in the query: what is announced now does not depend on the chosen time.
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

function shown(show: Show): Omit<QueryContent, 'version' | 'query' | 'size' | 'title' | 'noDataMessage' | 'queryType'> {
  switch (show.as) {
    case 'tiles':
      return { visualization: 'tiles', tileSettings: tiles(show) };
    case 'table':
      return {
        ...(show.chooses === undefined ? {} : exported(show.chooses)),
        showExportToExcel: true,
        exportToExcelOptions: 'all',
        visualization: 'table',
        gridSettings: grid(show.styles),
      };
    case 'pie':
      return {
        visualization: 'piechart',
        chartSettings: { xAxis: show.x, yAxis: show.y, showLegend: true, ...seriesColours(show.names) },
      };
    case 'bars':
      return { visualization: barsOf(show), chartSettings: chart(show) };
    case 'lines':
      return { visualization: 'linechart', chartSettings: chart(show) };
    case 'area':
      return { visualization: 'areachart', chartSettings: chart(show) };
  }
}

const exported = ({ column, as, first }: Chooses) => ({
  exportFieldName: column,
  exportParameterName: as,
  ...(first === undefined ? {} : { exportDefaultValue: first }),
});

/** Figures that do not add up, as percentiles, stand side by side. */
const barsOf = ({ isTime, group }: Chart): QueryContent['visualization'] => {
  if (isTime) return 'barchart';
  return group === undefined ? 'unstackedbar' : 'categoricalbar';
};

type Chart = Extract<Show, { as: 'bars' | 'lines' | 'area' }>;

const chart = ({ x, y, group, unit, names }: Chart): ChartSettings => ({
  xAxis: x,
  yAxis: y,
  ...(group === undefined ? {} : { group, createOtherGroup: 10 }),
  showLegend: true,
  ...seriesColours(names ?? []),
  ...(unit === undefined ? {} : { ySettings: { numberFormatSettings: numberFormat(unit) } }),
});

const seriesColours = (names: readonly string[]): Pick<ChartSettings, 'seriesLabelSettings'> =>
  names.length === 0
    ? {}
    : { seriesLabelSettings: coloured(names).map(([seriesName, { workbook }]) => ({ seriesName, color: workbook })) };
