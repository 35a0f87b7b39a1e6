import type { LifecycleRecord, Phase } from '../../../src/lifecycle/record.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { sampleRecord } from '../../support/sample-record.ts';
import { Observer, type ObserverOptions, type Settings } from './observer.ts';
import type { Plan, Scenario } from './scenarios.ts';
import { type Second, Shard, type ShardOptions } from './services.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

export interface SimulationOptions {
  readonly scenario: Scenario;
  /** Of the whole fleet, also those that the scenario does not affect. */
  readonly vms: number;
  readonly shards: number;
  readonly settings: Settings;
  readonly services: ShardOptions;
  readonly seed: number;
}

export interface Simulation {
  readonly options: SimulationOptions;
  readonly affected: number;
  /** Of the shard with the most, second by second. */
  readonly seconds: readonly Second[];
  readonly peak: {
    readonly connections: number;
    readonly eventsPerSecond: number;
    readonly bytesPerSecond: number;
    readonly partitionEventsPerSecond: number;
    readonly requestsPerMinute: number;
  };
  readonly refused: number;
  /** Of all records, and by phase. */
  readonly arrivals: Readonly<Record<(typeof sinks)[number], Readonly<Record<(typeof groups)[number], Arrivals>>>>;
}

/** Records of one sink: seconds from the announcement by Azure until the record was stored. */
export interface Arrivals {
  readonly due: number;
  readonly arrived: number;
  readonly p50: number;
  readonly p99: number;
  readonly last: number;
}

const sinks = ['event-hubs', 'log-analytics'] as const;
const groups = ['all', 'Scheduled', 'Started', 'Completed'] as const;
const pollMs = 1000;

/** Runs relays, connection policy and back-off of the product, one of each for every affected VM, against the limits of the services. */
export async function simulate(options: SimulationOptions): Promise<Simulation> {
  const { scenario, vms, shards: count, settings, services, seed } = options;
  const clock = createVirtualClock();
  const random = createRandom(seed);
  const shards = Array.from({ length: count }, () => new Shard(services));
  const delays = Object.fromEntries(sinks.map((sink) => [sink, new Map<string, number>()]));
  const announcedAtOf = new Map<string, number>();
  const affected = Math.round(vms * scenario.share);
  for (let vm = 0; vm < affected; vm += 1) {
    const shard = shards[vm % count];
    if (shard === undefined) throw new Error('a fleet has a shard');
    const plan = scenario.plan(random);
    const arrived = (sink: string, recordId: string): void => {
      const delay = (clock.monotonicMs() - (announcedAtOf.get(recordId) ?? 0)) / 1000;
      const all = delays[sink];
      if (all && !all.has(recordId)) all.set(recordId, delay);
    };
    const due = (recordId: string, at: number): void => void announcedAtOf.set(recordId, at);
    void runVm({ clock, vm, plan, random, due, shard, settings, arrived });
  }
  const seconds: Second[] = [];
  const refused = { count: 0 };
  await clock.runUntil(scenario.minutes * 60_000, () => {
    const all = shards.map((shard) => shard.takeSecond());
    refused.count += all.reduce((sum, one) => sum + one.refused, 0);
    seconds.push(most(all));
  });
  return {
    options,
    affected,
    seconds,
    peak: {
      connections: peak(seconds, 'connections'),
      eventsPerSecond: peak(seconds, 'events'),
      bytesPerSecond: peak(seconds, 'bytes'),
      partitionEventsPerSecond: peak(seconds, 'partitionEvents'),
      requestsPerMinute: Math.max(...sumsOf(seconds, 60)),
    },
    refused: refused.count,
    arrivals: Object.fromEntries(
      sinks.map((sink) => [
        sink,
        Object.fromEntries(
          groups.map((group) => {
            const isOf = (recordId: string): boolean => group === 'all' || recordId.endsWith(group);
            const due = [...announcedAtOf.keys()].filter(isOf).length;
            const found = [...(delays[sink] ?? [])].flatMap(([recordId, delay]) => (isOf(recordId) ? [delay] : []));
            return [group, arrivalsOf(due, found)];
          }),
        ),
      ]),
    ) as Simulation['arrivals'],
  };
}

interface VmOptions extends Omit<ObserverOptions, 'isHeld' | 'heldFrom'> {
  readonly vm: number;
  readonly plan: Plan;
  /** A record is due that Azure announced at this moment. */
  readonly due: (recordId: string, at: number) => void;
}

/** One VM from the announcement of its event until it has nothing to send any more. */
async function runVm({ vm, plan, due, ...options }: VmOptions): Promise<void> {
  const { clock, random, settings } = options;
  const phaseMs = random.next() * pollMs;
  let phase: Phase | null = null;
  const now = (): number => clock.monotonicMs();
  const from = heldFromOf(plan, settings);
  const isHeld = (): boolean =>
    now() >= from && (phase === 'Scheduled' || (phase === 'Started' && settings.heldUntil === 'end'));
  const heldFrom = (): number => (now() < from ? from : Number.POSITIVE_INFINITY);
  const observer = new Observer({ ...options, isHeld, heldFrom });
  const sleepUntil = (at: number): Promise<void> => clock.sleep(Math.max(0, at - clock.monotonicMs()));
  /** The bridge polls: it learns of it up to a second later. */
  const observe = async (next: Phase, at: number): Promise<void> => {
    await sleepUntil(at + phaseMs);
    const recordId = `${vm}-${next}`;
    due(recordId, at);
    phase = next;
    observer.append(recordOf(plan, next, recordId, vm, clock));
  };
  const { announcedAt, startedAt, endedAt, down } = plan;
  await sleepUntil(announcedAt);
  observer.start();
  await observe('Scheduled', announcedAt);
  if (endedAt !== null) await observe('Started', startedAt);
  if (down) {
    await sleepUntil(down.from);
    await observer.end();
    if (down.to === null) return;
    await sleepUntil(down.to);
    observer.start();
  }
  if (endedAt !== null) await observe('Completed', endedAt);
  const idleMs = settings.idleCloseSeconds * 1000 + 5000;
  do await clock.sleep(idleMs);
  while (observer.pending() > 0);
  await observer.end();
}

/** Infinite: never. */
function heldFromOf({ eventType, notBefore }: Plan, settings: Settings): number {
  const isExcepted = settings.exceptShortNotice && eventType === 'Preempt';
  const isNever = settings.holdSeconds <= 0 || settings.connectJitterSeconds > 0 || isExcepted;
  return isNever ? Number.POSITIVE_INFINITY : notBefore - settings.holdSeconds * 1000;
}

const wall = (clock: VirtualClock, ms: number): string =>
  new Date(clock.now().getTime() + ms - clock.monotonicMs()).toISOString();

function recordOf(plan: Plan, phase: Phase, recordId: string, vm: number, clock: VirtualClock): LifecycleRecord {
  const eventId = `00000000-0000-0000-0000-${vm.toString(16).padStart(12, '0').toUpperCase()}`;
  return sampleRecord({
    recordId,
    eventId,
    eventType: plan.eventType,
    phase,
    notBefore: phase === 'Scheduled' ? wall(clock, plan.notBefore) : null,
    observedAt: clock.now().toISOString(),
  });
}

const peak = (seconds: readonly Second[], field: keyof Second): number =>
  seconds.reduce((most, second) => Math.max(most, second[field]), 0);

function most(all: readonly Second[]): Second {
  const of = (field: keyof Second): number => Math.max(...all.map((one) => one[field]));
  return {
    connections: of('connections'),
    events: of('events'),
    bytes: of('bytes'),
    partitionEvents: of('partitionEvents'),
    requests: of('requests'),
    refused: of('refused'),
  };
}

/** Of the calendar minutes, as a rule counts them. */
function sumsOf(seconds: readonly Second[], length: number): number[] {
  const sums = [0];
  for (const [index, { requests }] of seconds.entries()) {
    const minute = Math.floor(index / length);
    sums[minute] = (sums[minute] ?? 0) + requests;
  }
  return sums;
}

function arrivalsOf(due: number, delays: readonly number[]): Arrivals {
  const sorted = Float64Array.from(delays).sort();
  const at = (share: number): number => sorted[Math.ceil(share * due) - 1] ?? Number.POSITIVE_INFINITY;
  return { due, arrived: delays.length, p50: at(0.5), p99: at(0.99), last: at(1) };
}
