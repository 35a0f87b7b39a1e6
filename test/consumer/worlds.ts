import type { LifecycleRecord } from '../../src/consumer/index.ts';
import { generateWorld } from '../fleet-model/generate.ts';
import { type Account, observe } from '../fleet-model/observer.ts';
import { createRandom, type Random } from '../fleet-model/random.ts';
import { entryAt, leftForGoodMs, type PlatformEvent, type World } from '../fleet-model/world.ts';

/** A world that was made beforehand, what its bridges recorded of it, and how that arrives at a reader. */
export interface History {
  readonly world: World;
  readonly accounts: readonly Account[];
  readonly random: Random;
  /** In the order in which a hub of several partitions hands them over, some of them twice. */
  readonly arrivals: readonly LifecycleRecord[];
}

export function historyOf(seed: number): History {
  const world = generateWorld(seed);
  const random = createRandom(1_000_000 + seed);
  const accounts = world.vms.map((vm) => observe(world, vm));
  return { world, accounts, random, arrivals: arrivalsOf(accounts, random) };
}

/** A VM may be cut off for a while; one VM's records of one event stay in order; partitions are read at their own pace. */
function arrivalsOf(accounts: readonly Account[], random: Random): readonly LifecycleRecord[] {
  const delayMs = (): number => random.pick([0, 0, 5_000, 60_000, 3_600_000]);
  const sent = accounts.flatMap(({ records }) => {
    const ofVm = delayMs();
    return records.flatMap(({ record, atMs }) => {
      const copies = random.chance(0.15) ? 2 : 1;
      return Array.from({ length: copies }, (_, copy) => ({
        record,
        atMs: atMs + ofVm + copy * random.int(0, 600_000),
      }));
    });
  });
  const ofPartition = new Map<string, number>();
  const lagOf = ({ eventId }: LifecycleRecord): number => {
    const lag = ofPartition.get(eventId.toLowerCase()) ?? delayMs();
    ofPartition.set(eventId.toLowerCase(), lag);
    return lag;
  };
  return sent
    .map(({ record, atMs }) => ({ record, atMs: atMs + lagOf(record) }))
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ record }) => record);
}

/** The true state at the end: whether Azure still lists the event, and whether a VM that reported it has polled since it left. */
export function truthOf({ world, accounts }: History, event: PlatformEvent) {
  const leftMs = leftForGoodMs(event);
  const key = event.id.toLowerCase();
  /** From the first absence until it is decided, with a reset of the endpoint in between. */
  const decidedMs = 15 * 60_000;
  const isWatched =
    leftMs !== null &&
    accounts.some(
      ({ records, observations }) =>
        records.some(({ record }) => record.eventId.toLowerCase() === key) &&
        observations.some(({ view, atMs }) => view !== null && atMs > leftMs) &&
        (observations.findLast(({ view }) => view !== null)?.atMs ?? 0) > leftMs + decidedMs,
    );
  return { isListed: entryAt(event, world.lengthMs) !== null, isWatched };
}
