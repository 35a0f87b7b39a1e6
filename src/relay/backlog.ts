import type { Outbox, PendingDelivery } from '../outbox/outbox.ts';
import type { Waiting } from './batch.ts';

/** The most that is held in memory at once: a backlog of days stays on disk. */
const most = { records: 1_000, bytes: 4 * 1024 * 1024 } as const;

/** The largest a record can be; what a row is taken for until one has been seen. */
const largestRecordBytes = 64 * 1024;

/**
 * The part of the outbox's backlog that the relay holds in memory: per event the oldest entries without a gap, so that
 * order can be kept by looking at nothing else. An entry stays at the head of its queue until it is settled, also while it
 * is in flight. An event's further entries are loaded when its queue is empty, never behind it: what is held and what is
 * on disk never have to be merged.
 */
export interface Backlog {
  readonly queues: ReadonlyMap<string, readonly Waiting[]>;
  /** How many entries are held. */
  records(): number;
  /** There may be entries on disk that could be loaded now. */
  hasMore(): boolean;
  /** A record of this event was appended. */
  appended(eventKey: string): void;
  /**
   * Anything may have changed without a word: there may be more of every event, and what is held may be gone from the
   * outbox (expired, purged). Events that are `idle` are compared. Everything delivered must have been settled before.
   */
  lookAgain(idle: (eventKey: string) => boolean): void;
  /**
   * Loads what may be there of these events before anything else, also behind what is held of them. Everything delivered
   * must have been settled before.
   */
  loadEvents(eventKeys: Iterable<string>): void;
  /**
   * Loads the oldest entries of events that are not held yet. Everything delivered must have been settled before. Where
   * there is no room, of each `idle` event all but the next entry go back to being on disk only.
   */
  load(idle?: (eventKey: string) => boolean): readonly Waiting[];
  /** The entries are done: delivered or put aside. */
  remove(entries: readonly Waiting[]): void;
  /** From now on these share a batch with each other only. */
  isolate(entries: readonly Waiting[]): void;
  /** From now on this is what is sent of the entry. */
  replace(entry: Waiting, json: Buffer): void;
  forget(): void;
}

export function createBacklog(sink: string, outbox: Pick<Outbox, 'pending'>): Backlog {
  const queues = new Map<string, Waiting[]>();
  /** Events that may have entries on disk behind, or instead of, those that are held. */
  const incomplete = new Set<string>();
  /** There may be entries of events that are neither held nor known to be incomplete. */
  let others = true;
  let held = { records: 0, bytes: 0 };
  let recordBytes = largestRecordBytes;
  let groups = 0;

  const room = (): number =>
    Math.max(
      queues.size === 0 ? 1 : 0,
      Math.min(most.records - held.records, Math.floor((most.bytes - held.bytes) / recordBytes)),
    );

  const hold = (rows: readonly PendingDelivery[]): Waiting[] => {
    const entries = rows.map(({ position, eventKey, json, attempts, appendedAt }) => ({
      position,
      eventKey,
      json,
      attempts,
      appendedAt,
      group: 0,
    }));
    let bytes = 0;
    for (const entry of entries) {
      const queue = queues.get(entry.eventKey);
      if (queue) queue.push(entry);
      else queues.set(entry.eventKey, [entry]);
      bytes += entry.json.length;
    }
    held = { records: held.records + entries.length, bytes: held.bytes + bytes };
    if (entries.length > 0) recordBytes = Math.max(512, Math.ceil(bytes / entries.length));
    return entries;
  };

  const drop = (entry: Waiting): void => {
    held = { records: held.records - 1, bytes: held.bytes - entry.json.length };
  };

  const remove = (entries: readonly Waiting[]): void => {
    const done = new Set(entries);
    for (const eventKey of new Set(entries.map((entry) => entry.eventKey))) {
      const left = queues.get(eventKey)?.filter((entry) => !done.has(entry)) ?? [];
      if (left.length > 0) {
        queues.set(eventKey, left);
        continue;
      }
      queues.delete(eventKey);
      // While others may be there, the next load asks for this event too.
      if (others) incomplete.delete(eventKey);
    }
    for (const entry of entries) drop(entry);
  };

  const unload = (eventKey: string): void => {
    const [, ...rest] = queues.get(eventKey) ?? [];
    if (rest.length === 0) return;
    queues.set(eventKey, (queues.get(eventKey) ?? []).slice(0, 1));
    for (const entry of rest) drop(entry);
    incomplete.add(eventKey);
  };

  const notHeld = (): Set<string> => new Set([...incomplete].filter((eventKey) => !queues.has(eventKey)));

  const loadOnly = (eventKeys: ReadonlySet<string>, limit: number): Waiting[] => {
    const rows = outbox.pending(sink, { limit, onlyEvents: eventKeys });
    for (const eventKey of eventKeys) {
      if (rows.length < limit) incomplete.delete(eventKey);
      else incomplete.add(eventKey);
    }
    return hold(rows);
  };

  return {
    queues,
    records: () => held.records,
    hasMore: () => others || [...incomplete].some((eventKey) => !queues.has(eventKey)),
    appended(eventKey) {
      // Of a held event more cannot be loaded now; of any other it is as likely to be new as to be known.
      if (queues.has(eventKey)) incomplete.add(eventKey);
      else others = true;
    },
    lookAgain(idle) {
      others = true;
      for (const eventKey of queues.keys()) incomplete.add(eventKey);
      const events = new Set([...queues.keys()].filter(idle));
      const limit = most.records;
      const rows = events.size > 0 ? outbox.pending(sink, { limit, onlyEvents: events }) : [];
      const there = new Set(rows.map(({ position }) => position));
      const seenUpTo = rows.length < limit ? Number.POSITIVE_INFINITY : (rows.at(-1)?.position ?? 0);
      const gone = ({ position }: Waiting): boolean => position <= seenUpTo && !there.has(position);
      remove([...events].flatMap((eventKey) => (queues.get(eventKey) ?? []).filter(gone)));
    },
    loadEvents(eventKeys) {
      // They are few, so they get in even when there is no room.
      const limit = Math.max(100, room());
      const missing = new Set([...eventKeys].filter((eventKey) => !queues.has(eventKey)));
      if (missing.size > 0) loadOnly(missing, limit);
      for (const eventKey of eventKeys) {
        const last = queues.get(eventKey)?.at(-1)?.position;
        if (last === undefined || missing.has(eventKey) || !incomplete.has(eventKey)) continue;
        const rows = outbox.pending(sink, { limit, onlyEvents: new Set([eventKey]) });
        // It stays incomplete: what an operator asked for again may lie before what is held.
        hold(rows.filter(({ position }) => position > last));
      }
    },
    load(idle) {
      if (room() <= 0 && idle) for (const eventKey of queues.keys()) if (idle(eventKey)) unload(eventKey);
      const limit = room();
      if (limit <= 0) return [];
      if (!others) return loadOnly(notHeld(), limit);
      const before = new Set(queues.keys());
      const rows = outbox.pending(sink, { limit, exceptEvents: before });
      others = rows.length >= limit;
      if (others) for (const { eventKey } of rows) incomplete.add(eventKey);
      else for (const eventKey of notHeld()) incomplete.delete(eventKey);
      return hold(rows);
    },
    remove,
    isolate(entries) {
      groups += 1;
      for (const entry of entries) entry.group = groups;
    },
    replace(entry, json) {
      held = { ...held, bytes: held.bytes - entry.json.length + json.length };
      entry.json = json;
    },
    forget() {
      queues.clear();
      incomplete.clear();
      others = true;
      held = { records: 0, bytes: 0 };
    },
  };
}
