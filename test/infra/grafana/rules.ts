/** The parts of a Grafana dashboard that the rules check. */
export interface Target {
  readonly refId: string;
  readonly queryType: string;
  readonly datasource: { readonly uid: string };
  readonly azureLogAnalytics?: {
    readonly query: string;
    readonly resources: readonly string[];
    readonly resultFormat: string;
    /** Whether the data source narrows the query to the time of the dashboard. */
    readonly dashboardTime?: boolean;
  };
  readonly azureResourceGraph?: { readonly query: string };
  readonly subscriptions?: readonly string[];
}

export interface Override {
  readonly matcher: { readonly id: string; readonly options: string };
  readonly properties: readonly { readonly id: string; readonly value: unknown }[];
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly panels?: readonly Panel[];
  readonly targets?: readonly Target[];
  readonly fieldConfig?: { readonly overrides: readonly Override[] };
  readonly options?: { readonly xField?: string; readonly reduceOptions?: { readonly fields: string } };
  readonly transformations?: readonly { readonly id: string; readonly options: Readonly<Record<string, unknown>> }[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  /** 1: when the dashboard is loaded, 2: whenever its time changes, which a relative one does at each refresh. */
  readonly refresh?: number;
  readonly query:
    | string
    | { readonly azureLogAnalytics?: { readonly query: string; readonly resources: readonly string[] } };
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

/** Every panel, also those inside rows. */
export const everyPanel = ({ panels }: Dashboard): Panel[] =>
  panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);

export const asking = (dashboard: Dashboard): Panel[] => everyPanel(dashboard).filter(({ type }) => type !== 'row');

const duplicates = <T>(values: readonly T[]): T[] => values.filter((value, index) => values.indexOf(value) !== index);
const builtIn = /^__/;
/** Variables that only a click sets. */
const onlyClicked = ['EventId', 'Wave', 'ResourceGroupId'];
/** What was clicked, where a test needs no rows of it. */
export const clicked = {
  eventId: '00000001-abcd-4000-8000-000000000000',
  resourceGroupId: '/subscriptions/s/resourcegroups/g',
};

/** Each gives what breaks it. */
export const rules = {
  'every panel has an id of its own': (dashboard) => duplicates(everyPanel(dashboard).map(({ id }) => String(id))),
  'the dashboard contains no id of a resource': (dashboard) =>
    JSON.stringify(dashboard).match(
      /\/subscriptions\/[^"]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi,
    ) ?? [],
  'every query goes to what was chosen at the top': (dashboard) =>
    asking(dashboard).flatMap(({ title, targets = [] }) =>
      targets
        .filter(
          ({ datasource, azureLogAnalytics, subscriptions = [] }) =>
            datasource.uid !== `\${Source}` ||
            (azureLogAnalytics ? azureLogAnalytics.resources : subscriptions).some((where) => !where.startsWith('$')),
        )
        .map(({ refId }) => `${title}: ${refId}`),
    ),
  'the chosen time cuts no query': (dashboard) =>
    asking(dashboard).flatMap(({ title, targets = [] }) =>
      targets
        .filter(({ azureLogAnalytics }) => azureLogAnalytics && azureLogAnalytics.dashboardTime !== false)
        .map(({ refId }) => `${title}: ${refId}`),
    ),
  'every variable that is read is there': (dashboard) => {
    const known = dashboard.templating.list.map(({ name }) => name);
    const read = [...JSON.stringify(dashboard).matchAll(/\$(?:\{(\w+)[:.}]|([A-Za-z_]\w*))/g)].map(
      ([, braced, bare]) => braced ?? bare ?? '',
    );
    return [...new Set(read)].filter((name) => !known.includes(name) && !builtIn.test(name));
  },
  'no panel lies over another': (dashboard) =>
    dashboard.panels.flatMap(({ panels }) => overlapping(panels ?? [])).concat(overlapping(dashboard.panels)),
  'every tile has a colour for what it counts, and only what needs an operator is red': (dashboard) =>
    asking(dashboard)
      .filter(({ type }) => type === 'stat')
      .flatMap(({ title, fieldConfig }) => {
        const overrides = fieldConfig?.overrides ?? [];
        const colourOf = ({ properties }: Override): string =>
          JSON.stringify(properties.find(({ id }) => id === 'thresholds'));
        const uncoloured = overrides.filter((each) => !/"color":"(red|orange|green)","value":1\b/.test(colourOf(each)));
        const red = overrides.filter((each) => colourOf(each).includes('red')).map(({ matcher }) => matcher.options);
        return [
          ...(overrides.length === 0 ? [title] : []),
          ...uncoloured.map(({ matcher }) => matcher.options),
          ...red.filter((name) => !['In the next hour', 'Stuck', 'Silent'].includes(name)),
        ];
      }),
  'one name has one colour': (dashboard) => {
    const pairs = asking(dashboard).flatMap(({ fieldConfig }) => (fieldConfig?.overrides ?? []).flatMap(coloursIn));
    const names = new Map(pairs.map(([name, colour]) => [name, colour]));
    return pairs.filter(([name, colour]) => names.get(name) !== colour).map(([name]) => name);
  },
  'a click leads to a panel that is there': (dashboard) => {
    const ids = everyPanel(dashboard).map(({ id }) => String(id));
    const links = [...JSON.stringify(dashboard).matchAll(/viewPanel=(\w+)/g)].map(([, id = '']) => id);
    return links.length === 0 ? ['no link'] : links.filter((id) => !ids.includes(id));
  },
  'a click keeps what was chosen at the top': (dashboard) => {
    const chosen = dashboard.templating.list.map(({ name }) => name);
    const links = JSON.stringify(dashboard).match(/\?\$\{Source:queryparam\}[^"]+/g) ?? [];
    return links.flatMap((link) => {
      const given = [...link.matchAll(/\$\{(\w+):queryparam\}|var-(\w+)=/g)].map(([, kept, set]) => kept ?? set);
      return chosen.filter((name) => !onlyClicked.includes(name) && !given.includes(name));
    });
  },
  'panels fit into the width': (dashboard) =>
    everyPanel(dashboard)
      .filter(({ gridPos: { x, w } }) => x + w > 24)
      .map(({ title }) => title),
} as const satisfies Readonly<Record<string, (dashboard: Dashboard) => readonly string[]>>;

const overlapping = (panels: readonly Panel[]): string[] =>
  panels.flatMap(({ title, gridPos: a }, index) =>
    panels
      .slice(index + 1)
      .filter(({ gridPos: b }) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
      .map((other) => `${title} | ${other.title}`),
  );

/** Names with the colour that an override gives them: of series, and of texts in cells. */
function coloursIn({ matcher, properties }: Override): [string, string][] {
  const text = JSON.stringify(properties);
  const [, series] = /^\/(.+)\$\/$/.exec(matcher.options) ?? [];
  const [, fixed] = /"fixedColor":"([^"]+)"/.exec(text) ?? [];
  const cells = [...text.matchAll(/"pattern":"\^\(\.\*(\w+)\.\*\)\$","result":\{"text":"\$1","color":"([^"]+)"/g)];
  return [
    ...(series !== undefined && fixed !== undefined ? [[series, fixed] as [string, string]] : []),
    ...cells.map(([, name = '', colour = '']): [string, string] => [name, colour]),
  ];
}

/** Columns that a panel reads by name, with where. Tiles and series are named by the values of a column. */
export function columnsRead({ type, fieldConfig, options, transformations = [] }: Panel): [string, string][] {
  const reduced = options?.reduceOptions?.fields.replace(/^\/\^|\$\/$/g, '');
  const overrides = type === 'table' ? (fieldConfig?.overrides ?? []) : [];
  const pairs: [string, unknown][] = [
    ...overrides.flatMap(({ matcher: { id, options: name } }) =>
      (id === 'byRegexp' ? name.replace(/^\/\^\(|\)\$\/$/g, '').split('|') : [name]).map((column): [string, string] => [
        'override',
        column,
      ]),
    ),
    ['x axis', options?.xField],
    ['value', reduced === '' ? undefined : reduced],
    ...transformations.flatMap(({ id, options: { byField, columnField, rowField, valueField, mappings = [] } }) =>
      [byField, columnField, rowField, valueField, ...fieldsOf(mappings)].map((column): [string, unknown] => [
        id,
        column,
      ]),
    ),
  ];
  return pairs.flatMap(([where, column]): [string, string][] => (typeof column === 'string' ? [[where, column]] : []));
}

const fieldsOf = (mappings: unknown): unknown[] =>
  Array.isArray(mappings) ? mappings.map(({ fieldName }: { readonly fieldName: unknown }) => fieldName) : [];
