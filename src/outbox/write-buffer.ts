import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryUpdate, PendingDelivery, PendingQuery, SinkProgress } from './outbox.ts';
import { CounterChanges } from './store/counters.ts';
import type { BufferedRecord, BufferedUpdate } from './store/deliveries.ts';
import { recordsToDiscard } from './store/retention.ts';
import type { Tombstone } from './store/tombstones.ts';

/** As many as records that can be held. */
const mostTombstones = 1_000;
/** An outcome of an approval has a record, and a hundred requests are answered at a time. */
const mostRows = 1_000;
/** The one that is never dropped: without it the next start would take this VM for another. */
export const observerRow = 'observer';

/**
 * All that happened since the last commit. Usually empty: it fills for the moment of a commit, and for as long as the disk
 * takes none. Everything is here first, then on disk, so a commit that fails changes nothing but where things are.
 */
export class WriteBuffer {
  readonly records = new Map<number, BufferedRecord>();
  /** Of the sinks whose progress is newer than on disk. */
  readonly progress = new Map<string, SinkProgress>();
  /** Writes of rows that no relay reads, by what they are about: the observer, answers to requests, outcomes of approvals. */
  readonly rows = new Map<string, (db: DatabaseSync) => void>();
  /** Of records that were discarded here, so that they are in no row, neither here nor on disk. */
  tombstones: readonly Tombstone[] = [];
  #discarded = new CounterChanges();
  /** Of updates by position, for records in memory and on disk alike. */
  readonly #updates = new Map<string, Map<number, BufferedUpdate>>();
  readonly #sinks: readonly string[];

  constructor(sinks: readonly string[]) {
    this.#sinks = sinks;
  }

  get isEmpty(): boolean {
    const held = [this.records, this.progress, this.rows, this.#updates];
    return this.#discarded.isEmpty && held.every(({ size }) => size === 0);
  }

  /** The next commit writes this row. A later one about the same replaces it. */
  writeLater(about: string, write: (db: DatabaseSync) => void): void {
    this.rows.delete(about);
    this.rows.set(about, write);
    if (this.rows.size <= mostRows) return;
    const oldest = this.rows.keys().find((key) => key !== observerRow);
    this.rows.delete(oldest ?? about);
  }

  settle(sink: string, updates: readonly DeliveryUpdate[], at: string): void {
    const known = this.#updates.get(sink) ?? new Map<number, BufferedUpdate>();
    for (const update of updates) {
      const before = known.get(update.position);
      if (before && before.state !== 'pending') continue;
      known.set(update.position, merged(update, before, at));
    }
    if (known.size > 0) this.#updates.set(sink, known);
  }

  /** How many updates wait for a commit. */
  get updates(): number {
    return [...this.#updates.values()].reduce((sum, { size }) => sum + size, 0);
  }

  update(sink: string, position: number): BufferedUpdate | undefined {
    return this.#updates.get(sink)?.get(position);
  }

  /** Positions of deliveries that are not pending any more. */
  settled(sink: string): number[] {
    const updates = [...(this.#updates.get(sink) ?? [])];
    return updates.filter(([, { state }]) => state !== 'pending').map(([position]) => position);
  }

  isDelivered(sink: string, position: number): boolean {
    return this.update(sink, position)?.state === 'delivered';
  }

  /** What a sink has yet to get of the records held here, oldest first. */
  pending(sink: string, { limit, exceptEvents, onlyEvents }: PendingQuery): PendingDelivery[] {
    const found: PendingDelivery[] = [];
    for (const { position, eventKey, json, appendedAt } of this.records.values()) {
      if (found.length >= limit) break;
      const update = this.update(sink, position);
      if (update && update.state !== 'pending') continue;
      if (exceptEvents?.has(eventKey) || onlyEvents?.has(eventKey) === false) continue;
      found.push({ position, eventKey, json, appendedAt, attempts: update?.attempts ?? 0 });
    }
    return found;
  }

  /** Counts the records held here and those that were discarded. */
  countRecords(changes: CounterChanges): void {
    for (const sink of this.#sinks) changes.move(sink, null, 'pending', this.records.size);
    changes.include(this.#discarded);
  }

  /** Counts updates. `write` may write one; false where its delivery is not pending any more, so that nothing is to be counted. */
  countUpdates(
    changes: CounterChanges,
    write: (sink: string, position: number, update: BufferedUpdate) => boolean,
  ): void {
    for (const [sink, updates] of this.#updates) {
      for (const [position, update] of updates) {
        if (!write(sink, position, update) || update.state === 'pending') continue;
        changes.move(sink, 'pending', update.state);
        if (update.state === 'delivered' && this.records.has(position)) changes.countUndurable(sink);
      }
    }
  }

  /** Discards records until what is held is within the bounds of memory. */
  keepWithinBounds(isOpen: (eventKey: string) => boolean, at: string): void {
    const records = [...this.records.values()].map(({ position, eventKey, json }) => {
      const isDone = this.#sinks.every((sink) => this.isDelivered(sink, position));
      return { position, eventKey, bytes: json.length, isDone };
    });
    this.discard(recordsToDiscard(records, isOpen), at);
  }

  /** Discards these records; each that a sink never got leaves a tombstone. */
  discard(positions: Iterable<number>, at: string): void {
    const tombstones = [...this.tombstones];
    for (const position of positions) {
      const record = this.records.get(position);
      if (!record) continue;
      this.records.delete(position);
      const lacking = this.#sinks.filter((sink) => !this.isDelivered(sink, position));
      for (const sink of this.#sinks) {
        this.#discarded.move(sink, null, lacking.includes(sink) ? 'expired' : 'delivered');
        if (!lacking.includes(sink)) this.#discarded.countUndurable(sink);
        this.#updates.get(sink)?.delete(position);
      }
      if (lacking.length > 0) tombstones.push({ record, sinks: lacking, expiredAt: at });
    }
    this.tombstones = tombstones.slice(-mostTombstones);
  }

  /** Updates of records that are not held here, and progress, are on disk. */
  updatesWritten(): void {
    for (const [sink, known] of this.#updates) {
      const left = new Map([...known].filter(([position]) => this.records.has(position)));
      if (left.size > 0) this.#updates.set(sink, left);
      else this.#updates.delete(sink);
    }
    this.progress.clear();
  }

  clear(): void {
    for (const held of [this.records, this.progress, this.rows, this.#updates]) held.clear();
    this.tombstones = [];
    this.#discarded = new CounterChanges();
  }
}

/** All updates of a delivery since the last commit are written as one. */
function merged(update: DeliveryUpdate, before: BufferedUpdate | undefined, at: string): BufferedUpdate {
  const { attempts = 0, code = null, reason = null } = before ?? {};
  if (update.state === 'delivered') return { state: 'delivered', attempts, code, reason, at };
  return { ...update, attempts: attempts + 1, at };
}
