import type { Cell, GivenRow, Kql, LoadedTables } from '../../tools/kql/index.ts';
import { type Alerts, type LogAlert, minutesOf, type Operator, type RowAlert } from './read-alerts.ts';

/** An alert that was raised. */
export interface Raised {
  readonly name: string;
  /** The VM, scale set or region: the first of its dimensions that has a value. */
  readonly on: string;
  readonly at: string;
  /** What its routes match; empty when it has none. */
  readonly route: string;
}

/** Rows by table, each with the moment from which it can be queried under `ingestion_time()`. */
export type Arriving = Readonly<Record<string, readonly GivenRow[]>>;

const arrival = 'ingestion_time()';
const minuteMs = 60_000;

/** Rows that can be queried this many seconds after they were made. A row with a moment keeps it. */
export const arrivingAfter = (seconds: number, rows: readonly GivenRow[]): GivenRow[] =>
  rows.map((row) => ({
    [arrival]: new Date(Date.parse(String(row.TimeGenerated)) + 1000 * seconds).toISOString(),
    ...row,
  }));

/** Rows that all arrive at one moment, as after a long outage: the service puts it in the place of a TimeGenerated two days old. */
export const arrivingAt = (moment: Date, rows: readonly GivenRow[]): GivenRow[] =>
  rows.map((row) => {
    const isOld = moment.getTime() - Date.parse(String(row.TimeGenerated)) > 2 * 1440 * minuteMs;
    const at = moment.toISOString();
    return { ...row, [arrival]: at, ...(isOld ? { TimeGenerated: at } : {}) };
  });

const compare: Readonly<Record<Operator, (value: number, threshold: number) => boolean>> = {
  Equals: (value, threshold) => value === threshold,
  GreaterThan: (value, threshold) => value > threshold,
  GreaterThanOrEqual: (value, threshold) => value >= threshold,
  LessThan: (value, threshold) => value < threshold,
  LessThanOrEqual: (value, threshold) => value <= threshold,
};

const aggregate: Readonly<Record<NonNullable<LogAlert['timeAggregation']>, (values: readonly number[]) => number>> = {
  Count: (values) => values.length,
  Average: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  Minimum: (values) => Math.min(...values),
  Maximum: (values) => Math.max(...values),
  Total: (values) => values.reduce((sum, value) => sum + value, 0),
};

const text = (cell: Cell | undefined): string => (cell === null || cell === undefined ? '' : String(cell));

/** Times parsed once: a watch reads them thousands of times. */
interface Timed {
  readonly row: GivenRow;
  readonly arrivedMs: number;
  readonly generatedMs: number;
}
type Timetable = Readonly<Record<string, readonly Timed[]>>;

const timed = (tables: Arriving): Timetable =>
  Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.map((row) => ({
        row,
        arrivedMs: Date.parse(String(row[arrival])),
        generatedMs: Date.parse(String(row.TimeGenerated)),
      })),
    ]),
  );

/** What can be queried at a moment, as far back as a query is shown it. */
type View = (now: number, backMs: number) => LoadedTables;

/** Every view of the last requested moment is kept: many queries read the same. */
function viewsOf(kql: Kql, table: Timetable): View {
  const all = kql.load(
    Object.fromEntries(Object.entries(table).map(([name, rows]) => [name, rows.map(({ row }) => row)])),
  );
  let [moment, views] = [Number.NaN, new Map<number, LoadedTables>()];
  return (now, backMs) => {
    if (now !== moment) [moment, views] = [now, new Map()];
    const view =
      views.get(backMs) ??
      kql.select(all, (name, place) => {
        const { arrivedMs = Number.NaN, generatedMs = Number.NaN } = table[name]?.[place] ?? {};
        return arrivedMs <= now && generatedMs > now - backMs;
      });
    views.set(backMs, view);
    return view;
  };
}

type State = Omit<Raised, 'at'>;

/** Their last dimension is more specific than the first, the subscription. */
const bySet: readonly string[] = ['A6', 'A21'];

/** What a query over rows at intervals finds at a moment: one entry for each set of values of resource and dimensions over the threshold. */
function conditionsMet(kql: Kql, alert: LogAlert, view: View, now: number): State[] {
  const tables = view(now, minuteMs * minutesOf(alert.overrideQueryTimeRange ?? alert.windowSize));
  const answer = kql.execute(alert.query, { tables, now: new Date(now).toISOString() });
  const cellOf = (row: readonly Cell[], name: string): Cell | undefined =>
    row[answer.columns.findIndex((column) => column.name === name)];
  const split = [alert.resourceIdColumn ?? [], alert.dimensions ?? []].flat();
  const groups = Map.groupBy(answer.rows, (row) => JSON.stringify(split.map((name) => cellOf(row, name))));
  return [...groups.values()].flatMap((rows) => {
    const { metricMeasureColumn: measure, timeAggregation = 'Count' } = alert;
    const values = measure === undefined ? rows.map(() => 1) : rows.map((row) => cellOf(row, measure)).filter(isNumber);
    const [first = []] = rows;
    if (values.length === 0 || !compare[alert.operator](aggregate[timeAggregation](values), alert.threshold)) return [];
    const dimensions = (alert.dimensions ?? [])
      .filter((name) => name !== 'Route')
      .map((name) => text(cellOf(first, name)));
    const on = bySet.includes(alert.name) ? dimensions.at(-1) : dimensions[0];
    return [{ name: alert.name, on: on ?? '', route: text(cellOf(first, 'Route')) }];
  });
}

const isNumber = (cell: Cell | undefined): cell is number => typeof cell === 'number';

/** What an alert for each row says of rows that have just arrived. */
function rowsMatched(kql: Kql, alert: RowAlert, tables: Arriving, now: number): State[] {
  const answer = kql.execute(alert.query, { tables, now: new Date(now).toISOString() });
  const place = (name: string): number => answer.columns.findIndex((column) => column.name === name);
  return answer.rows.map((row) => ({
    name: alert.name,
    on: text(row[place('VmName')]),
    route: text(row[place('Route')]),
  }));
}

/** As long as what happened to a VM counts; what lasts longer than that is an alert of its own. */
const countsMs = 30 * minuteMs;
/** A watch of more than `seldom` evaluates once every `coarse`, when something happens. */
const coarseMs = 15 * minuteMs;
const seldomMs = 360 * minuteMs;

/**
 * Times at which a query runs: at its interval, or in a long watch after each arrival, half an hour after something has begun, shortly before
 * what is announced, and every six hours to detect silence, since other times would add little. A rule that
 * keeps no state covers its last interval only, so each of its runs counts.
 */
function moments(table: Timetable, alert: LogAlert, from: number, to: number): number[] {
  const intervalMs = minuteMs * minutesOf(alert.evaluationFrequency);
  const isLong = to - from > seldomMs && alert.autoMitigate;
  const everyMs = isLong ? Math.max(intervalMs, coarseMs) : intervalMs;
  const up = (ms: number, stepMs = everyMs): number => Math.ceil(ms / stepMs) * stepMs;
  const stepMs = isLong ? seldomMs : everyMs;
  const found = new Set<number>();
  for (let at = up(from, stepMs); at <= to; at += stepMs) found.add(at);
  if (isLong) {
    const { VmLifecycleBridge_CL: _, ...eventful } = table;
    for (const { row, arrivedMs } of Object.values(eventful).flat()) {
      const lasting = row.Phase === 'Started' ? [up(arrivedMs + countsMs)] : [];
      const planned = row.NotBefore ? [up(Date.parse(String(row.NotBefore)) - countsMs)] : [];
      for (const at of [up(arrivedMs), ...lasting, ...planned]) if (at >= from && at <= to) found.add(at);
    }
  }
  return [...found].sort((a, b) => a - b);
}

/**
 * When the conditions of the rules were met, a line for each rule, target and time without a break: `A2 web_3 45-360`, in minutes after
 * `from`, from the first evaluation that found it met to the last. Every evaluation of every rule is carried out.
 */
export function metPeriods(
  kql: Kql,
  { logAlerts }: Pick<Alerts, 'logAlerts'>,
  tables: Arriving,
  time: { readonly from: Date; readonly to: Date },
): string[] {
  const [from, to] = [time.from.getTime(), time.to.getTime()];
  const view = viewsOf(kql, timed(tables));
  const found = new Map<string, { everyMs: number; met: number[] }>();
  const observations = logAlerts.flatMap((alert) => {
    const everyMs = minuteMs * minutesOf(alert.evaluationFrequency);
    const count = Math.floor((to - from) / everyMs);
    return Array.from({ length: count + 1 }, (_, n) => ({ alert, everyMs, now: from + n * everyMs }));
  });
  for (const { alert, everyMs, now } of observations.sort((a, b) => a.now - b.now)) {
    for (const on of new Set(conditionsMet(kql, alert, view, now).map((state) => state.on))) {
      const target = `${alert.name} ${on}`;
      const { met } = found.get(target) ?? { met: [] };
      found.set(target, { everyMs, met: [...met, now] });
    }
  }
  const minute = (ms: number): number => (ms - from) / minuteMs;
  return [...found].flatMap(([target, { everyMs, met }]) => {
    const begins = met.filter((now) => !met.includes(now - everyMs));
    const ends = met.filter((now) => !met.includes(now + everyMs));
    return begins.map((begin, n) => `${target} ${minute(begin)}-${minute(ends[n] ?? begin)}`);
  });
}

/**
 * Watches tables as Azure Monitor does: rows as they arrive, queries at their intervals. An alert that ends by itself is raised again only when its
 * condition was not met in between.
 *
 * @param time.from what arrived before raises nothing by itself.
 */
export function watch(
  kql: Kql,
  { rowAlerts, logAlerts }: Pick<Alerts, 'rowAlerts' | 'logAlerts'>,
  tables: Arriving,
  time: { readonly from: Date; readonly to: Date },
): Raised[] {
  const [from, to] = [time.from.getTime(), time.to.getTime()];
  const table = timed(tables);
  const stamped = (now: number) => (found: State) => ({ ...found, at: new Date(now).toISOString() });
  const byRow = [...Map.groupBy(table.VmLifecycle_CL ?? [], ({ arrivedMs }) => arrivedMs)]
    .filter(([now]) => now >= from && now <= to)
    .flatMap(([now, rows]) => {
      const news = { VmLifecycle_CL: rows.map(({ row }) => row) };
      return rowAlerts.flatMap((alert) => rowsMatched(kql, alert, news, now).map(stamped(now)));
    });
  const view = viewsOf(kql, table);
  const observations = logAlerts.flatMap((alert) => moments(table, alert, from, to).map((now) => ({ alert, now })));
  const before = new Map<LogAlert, readonly State[]>();
  const byQuery = observations
    .sort((a, b) => a.now - b.now)
    .flatMap(({ alert, now }) => {
      const met = conditionsMet(kql, alert, view, now);
      const old = before.get(alert) ?? [];
      before.set(alert, met);
      // One that keeps no state is raised at each evaluation that meets its condition.
      const isNews = ({ on, route }: State): boolean => !old.some((one) => one.on === on && one.route === route);
      return (alert.autoMitigate ? met.filter(isNews) : met).map(stamped(now));
    });
  return [...byRow, ...byQuery].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
