import type { Column, Kql } from '../../tools/kql/index.ts';
import { type Alerts, allAlerts, type LogAlert, minutesOf, type RowAlert } from './read-alerts.ts';

export interface Around {
  readonly kql: Kql;
  /** Text of each function of the workspace, by name. */
  readonly functions: ReadonlyMap<string, string>;
  /** Names of the queries of the query pack. */
  readonly queries: readonly string[];
}

/** https://learn.microsoft.com/azure/azure-monitor/fundamentals/service-limits#alerts */
const limits = { ruleBytes: 64 * 1024, rulesOfOneMinute: 100, dimensions: 6, queryRangeMinutes: 2 * 1440 } as const;

/** These do not query what has just happened to a VM; on-call.md says why. */
const hasLongerRange: readonly string[] = ['A1-due', 'A2', 'A3', 'A6', 'A7', 'A7-waiting', 'A8', 'A20', 'A21', 'A22'];
const counts = /\b(AzureAt|LastRecordAt) > ago\(30m\)/;

/**
 * An e-mail and a list of alerts show the first five columns of a row.
 * https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-create-simple-alert#show-different-output-columns
 */
const shownColumns = ['VmName', 'EventType', 'NotBefore', 'EventId', 'Route'];

/**
 * Refused in the query of a log search alert, or useless there.
 * https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-log-query#log-query-constraints
 */
const refused: readonly string[] = [
  'search',
  'union',
  'take',
  'limit',
  'evaluate',
  'externaldata',
  'arg',
  'workspace',
  'adx',
];

const numbers: readonly string[] = ['int', 'long', 'real', 'decimal'];

/** Everything in the alerts that Azure would refuse, or that would keep them from notifying the right people. Each a sentence. */
export function problemsOf(alerts: Alerts, around: Around): string[] {
  const { rowAlerts, logAlerts } = alerts;
  const all = allAlerts(alerts);
  const names = all.map(({ name }) => name);
  const everyMinute = logAlerts.filter(({ evaluationFrequency }) => evaluationFrequency === 'PT1M').length;
  return [
    ...names.filter((name, n) => names.indexOf(name) !== n).map((name) => `${name}: two alerts have this name`),
    ...(everyMinute > limits.rulesOfOneMinute ? [`${everyMinute} rules run every minute: a subscription has 100`] : []),
    ...all.flatMap((alert) => said(alert.name, ofEvery(alert, around))),
    ...rowAlerts.flatMap((alert) => said(alert.name, ofRows(alert, around))),
    ...logAlerts.flatMap((alert) => said(alert.name, ofQuery(alert, around))),
  ];
}

const said = (name: string, problems: readonly string[]): string[] => problems.map((problem) => `${name}: ${problem}`);

function ofEvery(alert: Alerts[keyof Alerts][number], { queries }: Around): string[] {
  const bytes = Buffer.byteLength(JSON.stringify(alert));
  const { firstQuery } = alert.onCall;
  return [
    ...(bytes > limits.ruleBytes ? [`${Math.ceil(bytes / 1024)} KB: a rule has at most 64`] : []),
    ...(queries.includes(firstQuery) ? [] : [`the query pack has no query ${firstQuery}`]),
  ];
}

function ofText(name: string, query: string, { kql }: Around): string[] {
  const { diagnostics } = kql.bind(query);
  const isCanonical = kql.format(query).replaceAll('\r', '').trimEnd() === query.trimEnd();
  const isFresh = hasLongerRange.includes(name) || counts.test(query);
  return [
    ...diagnostics.map(({ code, message }) => `${code} ${message}`),
    ...(isCanonical ? [] : ['the query is not formatted as Microsoft formats it']),
    ...(isFresh ? [] : ['without AzureAt > ago(30m) a backlog pages people days later']),
  ];
}

const hasColumn = (columns: readonly Column[], name: string, types: readonly string[]): string[] => {
  const found = columns.find((column) => column.name === name);
  if (found === undefined) return [`the query gives no column ${name}`];
  return types.includes(found.type) ? [] : [`${name} is ${found.type}, not ${types.join(' or ')}`];
};

function ofRows({ name, query }: RowAlert, around: Around): string[] {
  const { columns } = around.kql.bind(query);
  return [
    ...ofText(name, query, around),
    ...around.kql.checkSimpleAlert(query),
    ...(columns.length === 0 ? [] : hasColumn(columns, 'Route', ['string'])),
    ...(columns.length === 0 || columns.slice(0, 5).every((column, place) => column.name === shownColumns[place])
      ? []
      : [`the first five columns, which people see, are not ${shownColumns.join(', ')}`]),
  ];
}

function ofQuery(alert: LogAlert, around: Around): string[] {
  const { query, dimensions = [], resourceIdColumn, metricMeasureColumn, windowSize } = alert;
  const { diagnostics, columns } = around.kql.bind(query);
  const range = minutesOf(alert.overrideQueryTimeRange ?? windowSize);
  const furthest = Math.max(0, ...[...query.matchAll(/\((\d+)([mhd])\)/g)].map(([, n, unit]) => lookback(n, unit)));
  const isRouted = columns.some(({ name }) => name === 'Route');
  return [
    ...ofText(alert.name, query, around),
    ...(diagnostics.length > 0
      ? []
      : [
          ...dimensions.flatMap((name) => hasColumn(columns, name, ['string'])),
          ...(resourceIdColumn === undefined ? [] : hasColumn(columns, resourceIdColumn, ['string'])),
          ...(metricMeasureColumn === undefined ? [] : hasColumn(columns, metricMeasureColumn, numbers)),
        ]),
    ...(isRouted && !dimensions.includes('Route') ? ['Route is no dimension: its value reaches no route'] : []),
    ...(dimensions.length > limits.dimensions ? [`${dimensions.length} dimensions: a rule has at most 6`] : []),
    ...(metricMeasureColumn === undefined && alert.timeAggregation ? ['an aggregation, but nothing to measure'] : []),
    ...(range > limits.queryRangeMinutes ? [`a query may look back two days, not ${range} minutes`] : []),
    ...(furthest > range ? [`looks back ${furthest} minutes, but Azure shows it only ${range}`] : []),
    ...(range < minutesOf(windowSize) ? ['the range of the query is shorter than the window'] : []),
    ...relativeTimes(query, around.functions),
    ...refused
      .filter((word) => usedIn(query, around.functions).has(word))
      .map((word) => `${word} is refused in the query of an alert`),
  ];
}

/**
 * Azure evaluates a rule for a moment that it chooses: the query of the rule has to contain a time relative to now, as a literal in `ago()`, and
 * functions of the workspace get it as a parameter. https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-create-log-alert-rule
 */
function relativeTimes(query: string, functions: ReadonlyMap<string, string>): string[] {
  const used = usedIn(query, functions);
  const relative = [...functions].filter(
    ([name, body]) => used.has(name) && /\b(ago|now)\(/.test(withoutComments(body)),
  );
  const computed = [...query.matchAll(/\bago\((?!\d+[mhd]\))[^)]*\)/g)].map(([call]) => call);
  return [
    ...relative.map(([name]) => `${name} holds a time relative to now: pass it in`),
    ...computed.map((call) => `${call}: an alert takes only a literal there`),
  ];
}

const withoutComments = (text: string): string => text.replaceAll(/\/\/.*/g, '');

const minutesIn: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };
const lookback = (number = '0', unit = ''): number => Number(number) * (minutesIn[unit] ?? 0);

/** The words of a query and of all functions that it comes to, without comments and texts. */
function usedIn(query: string, functions: ReadonlyMap<string, string>): ReadonlySet<string> {
  const words = new Set<string>();
  const read = (text: string): void => {
    const bare = text.replaceAll(/\/\/.*|'[^']*'|"[^"]*"/g, '');
    for (const [word] of bare.matchAll(/\b[A-Za-z_]\w*/g)) {
      if (words.has(word)) continue;
      words.add(word);
      const body = functions.get(word);
      if (body !== undefined) read(body);
    }
  };
  read(query);
  return words;
}
