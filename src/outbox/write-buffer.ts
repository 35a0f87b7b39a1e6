import type { ConcludedApproval, DeliveryUpdate, PendingDelivery, PendingQuery, SinkProgress } from './outbox.ts';
import { CounterChanges } from './store/counters.ts';
import type { BufferedRecord, BufferedUpdate } from './store/deliveries.ts';
import type { StoredObserver } from './store/stored-state.ts';
import type { Tombstone } from './store/tombstones.ts';

/** An approval has a record, so they are bounded as records in memory are. */
const mostConcluded = 1_000;
/** As many as records that can be held. */
const mostTombstones = 1_000;

/**
 * All that happened since the last commit. Usually empty: it fills for the moment of a commit, and for as long as the disk
 * takes none. Everything is here first, then on disk, so a commit that fails changes nothing but where things are.
 */
export class WriteBuffer {
  readonly records = new Map<number, BufferedRecord>();
  /** Of the sinks whose progress is newer than on disk. */
  readonly progress = new Map<string, SinkProgress>();
  /** Answers by the number of the request. */
  readonly answers = new Map<number, { readonly json: string; readonly at: string }>();
  /** Null when it is as stored. */
  observer: StoredObserver | null = null;
  /** Of updates by position, for records in memory and on disk alike. */
  readonly #updates = new Map<string, Map<number, BufferedUpdate>>();
  #tombstones: Tombstone[] = [];
  #concluded: ConcludedApproval[] = [];
  /** Counts records that were discarded here, and so are in no row, neither here nor on disk. */
  #discarded = new CounterChanges();

  get isEmpty(): boolean {
    const sizes = [this.records, this.progress, this.answers, this.#updates].map(({ size }) => size);
    const lengths = [this.#tombstones.length, this.#concluded.length];
    return this.observer === null && this.#discarded.isEmpty && [...sizes, ...lengths].every((size) => size === 0);
  }

  get tombstones(): readonly Tombstone[] {
    return this.#tombstones;
  }

  /** Outcomes of approvals. */
  get concluded(): readonly ConcludedApproval[] {
    return this.#concluded;
  }

  conclude(concluded: readonly ConcludedApproval[]): void {
    this.#concluded = [...this.#concluded, ...concluded].slice(-mostConcluded);
  }

  settle(sink: string, updates: readonly DeliveryUpdate[], at: string): void {
    const known = this.#updates.get(sink) ?? new Map<number, BufferedUpdate>();
    for (const update of updates) {
      const { position } = update;
      const before = known.get(position);
      if (before && before.state !== 'pending') continue;
      known.set(position, merged(update, before, { at, isInMemory: this.records.has(position) }));
    }
    if (known.size > 0) this.#updates.set(sink, known);
  }

  update(sink: string, position: number): BufferedUpdate | undefined {
    return this.#updates.get(sink)?.get(position);
  }

  /** Positions of deliveries that are not pending any more. */
  settled(sink: string): number[] {
    return [...(this.#updates.get(sink) ?? [])].flatMap(([position, { state }]) =>
      state === 'pending' ? [] : [position],
    );
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
  countRecords(changes: CounterChanges, sinks: readonly string[]): void {
    for (const sink of sinks) changes.move(sink, null, 'pending', this.records.size);
    changes.include(this.#discarded);
  }

  /** Counts updates. `apply` writes one; false where its delivery is not pending any more, so that nothing is to be counted. */
  countUpdates(
    changes: CounterChanges,
    sink: string,
    apply: (position: number, update: BufferedUpdate) => boolean = () => true,
  ): void {
    for (const [position, update] of this.#updates.get(sink) ?? []) {
      if (!apply(position, update) || update.state === 'pending') continue;
      changes.move(sink, 'pending', update.state);
      if (update.undurable) changes.countUndurable(sink);
    }
  }

  /** Discards these records; each that a sink never got leaves a tombstone. */
  discard(positions: Iterable<number>, sinks: readonly string[], at: string): void {
    for (const position of positions) {
      const record = this.records.get(position);
      if (!record) continue;
      this.records.delete(position);
      const lacking = sinks.filter((sink) => !this.isDelivered(sink, position));
      for (const sink of sinks) {
        this.#discarded.move(sink, null, lacking.includes(sink) ? 'expired' : 'delivered');
        if (!lacking.includes(sink)) this.#discarded.countUndurable(sink);
        this.#updates.get(sink)?.delete(position);
      }
      if (lacking.length > 0) this.#tombstones.push({ record, sinks: lacking, expiredAt: at });
    }
    this.#tombstones = this.#tombstones.slice(-mostTombstones);
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
    for (const held of [this.records, this.progress, this.answers, this.#updates]) held.clear();
    this.observer = null;
    this.#tombstones = [];
    this.#concluded = [];
    this.#discarded = new CounterChanges();
  }
}

/** All updates of a delivery since the last commit are written as one. */
function merged(
  update: DeliveryUpdate,
  before: BufferedUpdate | undefined,
  { at, isInMemory }: { readonly at: string; readonly isInMemory: boolean },
): BufferedUpdate {
  const { attempts = 0, code = null, reason = null } = before ?? {};
  if (update.state === 'delivered') return { state: 'delivered', attempts, code, reason, at, undurable: isInMemory };
  return { ...update, attempts: attempts + 1, at, undurable: false };
}
