import type { Arrivals, Simulation } from './simulate.ts';

const heads = [
  'scenario',
  'VMs',
  'affected',
  'shards',
  'settings',
  'connections',
  'events/s',
  'of one partition',
  'MB/s',
  'requests/min',
  'refused',
  'hub: 50 / 99 / 100 % after',
  'table: 50 / 99 / 100 % after',
] as const;

/** The simulations as a table in Markdown; peaks are those of the shard with the most. */
export function fleetTable(simulations: readonly Simulation[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...simulations.map((one) => line(cellsOf(one)))].join('\n');
}

function cellsOf({ options, affected, peak, refused, arrivals }: Simulation): readonly string[] {
  const { connectJitterSeconds, idleCloseSeconds } = options.settings;
  const settings = [
    ...(connectJitterSeconds > 0 ? [`jitter ${connectJitterSeconds} s`] : []),
    ...(idleCloseSeconds >= 86_400 ? ['connections kept'] : []),
    ...(options.services.hasLimits ? [] : ['no limits']),
  ];
  return [
    options.scenario.id,
    count(options.vms),
    count(affected),
    String(options.shards),
    settings.join(', ') || 'default',
    count(peak.connections),
    count(peak.eventsPerSecond),
    count(peak.partitionEventsPerSecond),
    (peak.bytesPerSecond / 1e6).toFixed(1),
    count(peak.requestsPerMinute),
    count(refused),
    arrivalsText(arrivals['event-hubs']),
    arrivalsText(arrivals['log-analytics']),
  ];
}

const count = (value: number): string => value.toLocaleString('en-US');

const seconds = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(1)} s` : 'never');

const arrivalsText = (arrivals: Arrivals | undefined): string =>
  arrivals ? [arrivals.p50, arrivals.p99, arrivals.last].map(seconds).join(' / ') : '-';
