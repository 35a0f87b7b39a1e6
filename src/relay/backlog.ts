import type { Outbox, PendingDelivery } from '../outbox/outbox.ts';

/** The most that is held in memory at once: a backlog of days stays on disk. */
const most = { records: 1_000, bytes: 4 * 1024 * 1024 } as const;

/** The largest a record can be; assumed of each until one has been seen. */
const largestRecordBytes = 64 * 1024;

export type Backlog = ReturnType<typeof createBacklog>;

/** Whether an event has nothing in flight, or may wait. */
type IsIdle = (eventKey: string) => boolean;

/**
 * The part of the outbox's backlog that the relay holds in memory: per event the oldest deliveries without a gap, so that
 * order can be kept by these alone. A delivery stays at the head of its queue until it is settled, also while it
 * is in flight. An event's further deliveries are loaded when its queue is empty, never behind it: what is held and what is
 * on disk never have to be merged. Before anything is loaded or compared, everything delivered must have been settled.
 */
export function createBacklog(sink: string, outbox: Pick<Outbox, 'pending'>) {
  const queues = new Map<string, PendingDelivery[]>();
  /** Events that may have deliveries on disk behind, or instead of, those that are held. */
  const incomplete = new Set<string>();
  /** There may be deliveries of events that are neither held nor known to be incomplete. */
  let others = true;
  let recordBytes = largestRecordBytes;
  let groups = 0;

  /** Asked at each pass of the relay, so it makes no list of all of them. */
  const records = (): number => sumOf(queues.values(), (queue) => queue.length);

  const room = (): number => {
    const heldBytes = sumOf(queues.values(), bytesOf);
    const fitting = Math.floor((most.bytes - heldBytes) / recordBytes);
    return Math.max(queues.size === 0 ? 1 : 0, Math.min(most.records - records(), fitting));
  };

  const hold = (deliveries: readonly PendingDelivery[]): readonly PendingDelivery[] => {
    for (const delivery of deliveries) {
      const queue = queues.get(delivery.eventKey);
      if (queue) queue.push(delivery);
      else queues.set(delivery.eventKey, [delivery]);
    }
    if (deliveries.length > 0) recordBytes = Math.max(512, Math.ceil(bytesOf(deliveries) / deliveries.length));
    return deliveries;
  };

  const unload = (eventKey: string): void => {
    const [next, ...rest] = queues.get(eventKey) ?? [];
    if (!next || rest.length === 0) return;
    queues.set(eventKey, [next]);
    incomplete.add(eventKey);
  };

  const notHeld = (): string[] => [...incomplete].filter((eventKey) => !queues.has(eventKey));

  /** They are delivered or dead letters. */
  const remove = (deliveries: readonly PendingDelivery[]): void => {
    const done = new Set(deliveries);
    for (const eventKey of new Set(deliveries.map((delivery) => delivery.eventKey))) {
      const left = queues.get(eventKey)?.filter((delivery) => !done.has(delivery)) ?? [];
      queues.set(eventKey, left);
      if (left.length > 0) continue;
      queues.delete(eventKey);
      // While others may be there, the next load includes this event.
      if (others) incomplete.delete(eventKey);
    }
  };

  return {
    queues: queues as ReadonlyMap<string, readonly PendingDelivery[]>,
    /** How many are held. */
    records,
    /** There may be some on disk that could be loaded now. */
    hasMore: (): boolean => others || notHeld().length > 0,
    /** A record of this event was appended. */
    appended(eventKey: string): void {
      // Of a held event more cannot be loaded now; any other may be new.
      if (queues.has(eventKey)) incomplete.add(eventKey);
      else others = true;
    },
    /**
     * For changes without a notification: there may be more of every event, and what is held may be gone from the outbox
     * (expired, purged). Idle events are compared.
     */
    compare(isIdle: IsIdle): void {
      others = true;
      for (const eventKey of queues.keys()) incomplete.add(eventKey);
      const events = new Set([...queues.keys()].filter(isIdle));
      const limit = most.records;
      const rows = events.size > 0 ? outbox.pending(sink, { limit, onlyEvents: events }) : [];
      const there = new Set(rows.map(({ position }) => position));
      const comparedUpTo = rows.length < limit ? Number.POSITIVE_INFINITY : (rows.at(-1)?.position ?? 0);
      const isGone = ({ position }: PendingDelivery): boolean => position <= comparedUpTo && !there.has(position);
      remove([...events].flatMap((eventKey) => (queues.get(eventKey) ?? []).filter(isGone)));
    },
    /** Loads what may be there of these events before anything else, also behind what is held of them. */
    loadEvents(eventKeys: readonly string[]): void {
      for (const eventKey of eventKeys) {
        const queue = queues.get(eventKey);
        if (queue && !incomplete.has(eventKey)) continue;
        // They are few, so the next steps of each get in even when there is no room.
        const limit = Math.max(10, room());
        const rows = outbox.pending(sink, { limit, onlyEvents: new Set([eventKey]) });
        if (rows.length === limit) incomplete.add(eventKey);
        const last = queue?.at(-1)?.position ?? 0;
        // A held event stays incomplete: dead letters that were retried may lie before what is held.
        hold(rows.filter(({ position }) => position > last));
      }
    },
    /**
     * Loads the oldest deliveries of events that are not held yet. Where there is no room, of each idle event all but the
     * next one go back to being on disk only.
     */
    load(isIdle: IsIdle = () => false): readonly PendingDelivery[] {
      if (room() <= 0) for (const eventKey of queues.keys()) if (isIdle(eventKey)) unload(eventKey);
      const limit = room();
      if (limit <= 0) return [];
      const wanted = others ? { exceptEvents: new Set(queues.keys()) } : { onlyEvents: new Set(notHeld()) };
      const rows = outbox.pending(sink, { limit, ...wanted });
      const isRest = rows.length < limit;
      if (isRest) for (const eventKey of notHeld()) incomplete.delete(eventKey);
      else for (const { eventKey } of rows) incomplete.add(eventKey);
      others &&= !isRest;
      return hold(rows);
    },
    remove,
    /** From now on these share a batch with each other only. */
    isolate(deliveries: readonly PendingDelivery[]): void {
      groups += 1;
      for (const delivery of deliveries) delivery.group = groups;
    },
    forget(): void {
      queues.clear();
      incomplete.clear();
      others = true;
    },
  };
}

const bytesOf = (deliveries: readonly PendingDelivery[]): number => sumOf(deliveries, ({ json }) => json.length);

function sumOf<T>(values: Iterable<T>, of: (value: T) => number): number {
  let sum = 0;
  for (const value of values) sum += of(value);
  return sum;
}
