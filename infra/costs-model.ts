import type { Sizes } from './costs-sizes.ts';

/** A number that the user may change, and its meaning. */
interface Figure {
  readonly value: number;
  readonly unit: string;
  readonly meaning: string;
}

// assumption: cost-fleet
/** What a fleet does. Generous rather than exact: most VMs see less than one event a month. */
export const assumptions = {
  eventsPerVmMonth: { value: 2, unit: 'events', meaning: 'scheduled events that affect one VM in a month' },
  recordsPerEvent: {
    value: 5,
    unit: 'records',
    meaning: 'records per event: Scheduled, two Updated, Started and one end; a live migration has 3',
  },
  openMinutes: {
    value: 1.5,
    unit: 'minutes',
    meaning:
      'how long an event keeps its VM connected: 10 s for each record, and from 10 s before NotBefore until it has started',
  },
  witnessRate: { value: 0, unit: 'share', meaning: '`scope.witnessRate` of the configuration' },
  groupSize: { value: 100, unit: 'VMs', meaning: "VMs that see each other's events, if `witnessRate` is not 0" },
  heartbeatMinutes: { value: 60, unit: 'minutes', meaning: '`heartbeat.everyMinutes` of the configuration' },
  agentHeartbeatMinutes: {
    value: 1,
    unit: 'minutes',
    meaning: 'time between two rows of the Azure Monitor agent in `Heartbeat`; 0 if the VMs do not run the agent',
  },
  retentionDays: { value: 90, unit: 'days', meaning: 'retention in which queries and alerts can read the tables' },
  totalRetentionDays: { value: 365, unit: 'days', meaning: 'total retention; search jobs can read all of it' },
  busyShare: {
    value: 0.1,
    unit: 'share',
    meaning:
      'share of the VMs that get an event within the same minute, for instance when Azure updates a region; limits are checked for such a minute',
  },
} as const satisfies Record<string, Figure>;

// assumption: cost-prices, cost-row-alert
/** The day on which the prices below were noted. They were not taken from a current price list, which takes precedence. */
export const pricesAsOf = '2026-11-21';

/**
 * US dollars, pay as you go, in the order of what a large US region has had: they differ by region, agreement and day.
 * https://azure.microsoft.com/pricing/details/monitor/ https://azure.microsoft.com/pricing/details/event-hubs/
 */
export const prices = {
  logsPerGb: { value: 2.3, unit: '$/GB', meaning: 'Log Analytics, plan Analytics, ingested' },
  freeRetentionDays: { value: 31, unit: 'days', meaning: 'retention that is included in ingestion' },
  retentionPerGbMonth: { value: 0.1, unit: '$/GB/month', meaning: 'retention beyond that, up to `retentionDays`' },
  longTermPerGbMonth: { value: 0.02, unit: '$/GB/month', meaning: 'long-term retention beyond `retentionDays`' },
  throughputUnitHour: { value: 0.03, unit: '$/hour', meaning: 'Event Hubs Standard, one throughput unit' },
  ingressPerMillion: { value: 0.028, unit: '$', meaning: 'a million messages of up to 64 KB each' },
  alertEvery1: { value: 3, unit: '$/month', meaning: 'log alert rule evaluated every minute' },
  alertEvery5: { value: 1.5, unit: '$/month', meaning: 'log alert rule evaluated every 5 minutes' },
  alertEvery10: { value: 1, unit: '$/month', meaning: 'log alert rule evaluated every 10 minutes' },
  alertEvery15: { value: 0.5, unit: '$/month', meaning: 'log alert rule evaluated every 15 minutes or less often' },
  alertNearRealTime: {
    value: 3,
    unit: '$/month',
    meaning: 'alert rule that evaluates each row as it arrives; assumed to cost as much as one evaluated every minute',
  },
  alertOnMetric: { value: 0.1, unit: '$/month', meaning: 'metric alert rule, one time series' },
} as const satisfies Record<string, Figure>;

// assumption: hub-connections, logs-throttled
/** Of one data collection rule and of one Standard namespace; the links are in `costs.md`. */
export const limits = {
  requestsPerMinute: 12_000,
  gigabytesPerMinute: 2,
  connections: 5_000,
  messagesPerSecondPerUnit: 1_000,
  bytesPerSecondPerUnit: 1_000_000,
} as const;

type Values<T> = { readonly [Name in keyof T]: number };
export type Assumptions = Values<typeof assumptions>;
export type Prices = Values<typeof prices>;

export const valuesOf = <T extends Record<string, Figure>>(figures: T): Values<T> =>
  Object.fromEntries(Object.entries(figures).map(([name, { value }]) => [name, value])) as Values<T>;

/** How often an alert rule is evaluated, in minutes; or that it looks at each row, or at a metric. */
export type AlertRule = number | 'near-real-time' | 'metric';

/** What one fleet needs and costs. Months are 30.4 days; dollars a month. */
export interface Estimate {
  readonly vms: number;
  readonly recordsPerMonth: number;
  readonly recordGb: number;
  readonly heartbeatGb: number;
  /** In the workspace once `totalRetentionDays` have passed. */
  readonly keptGb: number;
  /** Of the whole fleet, spread over the hour. */
  readonly heartbeatRequestsPerMinute: number;
  readonly connectionsOnAverage: number;
  /** Of the whole fleet, heartbeats included. */
  readonly busy: {
    readonly requestsPerMinute: number;
    readonly gigabytesPerMinute: number;
    readonly connections: number;
  };
  /** Namespaces and rules over which the fleet is spread, so that a busy minute stays below every limit. */
  readonly shards: number;
  /** Of all shards together, for a busy minute. */
  readonly throughputUnits: number;
  readonly dollars: {
    readonly ingestion: number;
    readonly retention: number;
    readonly eventHubs: number;
    readonly alerts: number;
    readonly total: number;
  };
}

const daysPerMonth = 30.4;
const minutesPerMonth = daysPerMonth * 24 * 60;
const gb = 1e9;

export function estimate(
  vms: number,
  sizes: Sizes,
  rules: readonly AlertRule[],
  assumed: Assumptions,
  price: Prices,
): Estimate {
  const observers = 1 + assumed.witnessRate * (assumed.groupSize - 1);
  const recordsPerMonth = vms * assumed.eventsPerVmMonth * assumed.recordsPerEvent * observers;
  const heartbeatRequestsPerMinute = assumed.heartbeatMinutes > 0 ? vms / assumed.heartbeatMinutes : 0;
  const recordGb = (recordsPerMonth * sizes.record.billed) / gb;
  const heartbeatGb = (heartbeatRequestsPerMinute * minutesPerMonth * sizes.heartbeat.billed) / gb;
  const monthlyGb = recordGb + heartbeatGb;

  const busyVms = Math.min(vms, vms * assumed.busyShare * observers);
  const busyRecords = vms * assumed.busyShare * observers;
  const busy = {
    requestsPerMinute: heartbeatRequestsPerMinute + busyVms,
    gigabytesPerMinute: (heartbeatRequestsPerMinute * sizes.heartbeat.row + busyRecords * sizes.record.row) / gb,
    connections: busyVms,
  };
  const shards = shardsFor(busy);
  const throughputUnits = unitsFor(busyRecords / 60, sizes.record.message, shards);

  const ingestion = monthlyGb * price.logsPerGb;
  const eventHubs =
    throughputUnits * price.throughputUnitHour * 24 * daysPerMonth + (recordsPerMonth / 1e6) * price.ingressPerMillion;
  const retention = monthlyGb * retentionPerGb(assumed, price);
  const alerts = rules.reduce<number>((sum, rule) => sum + priceOf(rule, price), 0);
  return {
    vms,
    recordsPerMonth,
    recordGb,
    heartbeatGb,
    keptGb: (monthlyGb * Math.max(assumed.totalRetentionDays, assumed.retentionDays)) / daysPerMonth,
    heartbeatRequestsPerMinute,
    connectionsOnAverage: (vms * assumed.eventsPerVmMonth * observers * assumed.openMinutes) / minutesPerMonth,
    busy,
    shards,
    throughputUnits,
    dollars: { ingestion, retention, eventHubs, alerts, total: ingestion + retention + eventHubs + alerts },
  };
}

/** What a GB costs from its arrival to its end, ingestion aside: each month as much goes as comes. */
function retentionPerGb({ retentionDays, totalRetentionDays }: Assumptions, price: Prices): number {
  const readable = Math.max(retentionDays, price.freeRetentionDays);
  const paidDays = readable - price.freeRetentionDays;
  const longTermDays = Math.max(0, totalRetentionDays - readable);
  return (paidDays * price.retentionPerGbMonth + longTermDays * price.longTermPerGbMonth) / daysPerMonth;
}

const shardsFor = (busy: Estimate['busy']): number =>
  Math.max(
    1,
    Math.ceil(busy.requestsPerMinute / limits.requestsPerMinute),
    Math.ceil(busy.gigabytesPerMinute / limits.gigabytesPerMinute),
    Math.ceil(busy.connections / limits.connections),
  );

/** Whole units in each shard; at least one is paid. */
function unitsFor(messagesPerSecond: number, bytes: number, shards: number): number {
  const byMessages = messagesPerSecond / shards / limits.messagesPerSecondPerUnit;
  const byBytes = (messagesPerSecond * bytes) / shards / limits.bytesPerSecondPerUnit;
  return shards * Math.max(1, Math.ceil(Math.max(byMessages, byBytes)));
}

function priceOf(rule: AlertRule, price: Prices): number {
  if (rule === 'near-real-time') return price.alertNearRealTime;
  if (rule === 'metric') return price.alertOnMetric;
  if (rule < 5) return price.alertEvery1;
  if (rule < 10) return price.alertEvery5;
  return rule < 15 ? price.alertEvery10 : price.alertEvery15;
}
