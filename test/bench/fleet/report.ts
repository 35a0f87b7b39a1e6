import type { Arrivals, Simulation } from './simulate.ts';

/** One simulation of a report. */
export interface Line {
  /** Of its settings. */
  readonly name: string;
  readonly simulation: Simulation;
  readonly needed: {
    /** Namespaces and rules over which the fleet would have to be spread. */
    readonly shards: number;
    /** Of all of them, at rest: a namespace adds units within minutes, not within the seconds of a wave. */
    readonly throughputUnits: number;
  };
}

const heads = [
  'scenario',
  'VMs',
  'shards',
  'settings',
  'connections',
  'refused',
  'events/s',
  'of one partition',
  'MB/s',
  'requests/min',
  'hub: 50 / 99 / 100 % after, s',
  'first record: 99 % after, s',
  'start: 99 % after, s',
  'table: 50 / 99 / 100 % after, s',
  'shards needed',
  'units needed',
] as const;

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

/** The beginning of a table in Markdown, of which `fleetRow` gives the rest. */
export const fleetHead = (): string => row(heads) + row(heads.map(() => '---'));

/** Peaks are those of the shard with the most. */
export const fleetRow = (line: Line): string => row(cellsOf(line));

function cellsOf({ name, simulation, needed }: Line): readonly string[] {
  const { options, peak, refused, arrivals } = simulation;
  const hub = arrivals['event-hubs'];
  return [
    options.scenario.id,
    count(options.vms),
    String(options.shards),
    name,
    count(peak.connections),
    count(refused),
    count(peak.eventsPerSecond),
    count(peak.partitionEventsPerSecond),
    (peak.bytesPerSecond / 1e6).toFixed(1),
    count(peak.requestsPerMinute),
    quantiles(hub.all),
    seconds(hub.Scheduled.p99),
    hub.Started.due === 0 ? '-' : seconds(hub.Started.p99),
    quantiles(arrivals['log-analytics'].all),
    String(needed.shards),
    String(needed.throughputUnits),
  ];
}

const count = (value: number): string => value.toLocaleString('en-US');

const seconds = (value: number): string => (Number.isFinite(value) ? value.toFixed(1) : 'never');

const quantiles = ({ p50, p99, last }: Arrivals): string => [p50, p99, last].map(seconds).join(' / ');
