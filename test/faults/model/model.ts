import { crc32 } from 'node:zlib';
import type { SinkCounters } from '../../../src/outbox/outbox.ts';

/**
 * What `infra/guarantees.md` and `src/outbox/README.md` say of the outbox and its relays, as lists in memory. Where they leave the outcome
 * open, as after damage, the model accepts what it observes within what they allow.
 */

export type State = 'pending' | 'delivered' | 'dead' | 'abandoned' | 'purged' | 'expired';

interface ModelDelivery {
  state: State;
  /** How often this very record was refused, alone. */
  refusals: number;
  /** How often the sink's counter counts it. */
  accepted: number;
  /** It was settled, and the process was killed before that was certain to be on disk. */
  isUncertain: boolean;
  /** It may come after its successors: retried by an operator, or its sink returned, or the file was damaged. */
  isLate: boolean;
}

export interface AppendedRecord {
  readonly position: number;
  readonly streamId: string;
  readonly eventKey: string;
  readonly json: string;
}

interface ModelRecord extends AppendedRecord {
  readonly at: number;
  readonly deliveries: Map<string, ModelDelivery>;
}

/** What can be seen of the outbox from outside, when nothing happens. */
export interface Observed {
  readonly streamId: string;
  readonly position: number;
  readonly open: ReadonlyMap<string, boolean>;
  /** Of every configured sink. */
  readonly pending: Readonly<Record<string, readonly number[]>>;
  readonly counters: Readonly<Record<string, SinkCounters>>;
  /** Sinks and positions of the tombstones, as `hub 17`. */
  readonly tombstones: ReadonlySet<string>;
  /** The deliveries in the file, as `hub 17`, also of sinks that are not configured. */
  readonly rows: ReadonlyMap<string, State>;
  /** Positions and checksums of the records in the file; null while it cannot be written, and so is behind. */
  readonly stored: ReadonlyMap<number, number> | null;
  /** How many of the newest records are in memory only. */
  readonly onlyInMemory: number;
}

/** The product did what the documents exclude. */
export class Divergence extends Error {
  /** Records that never reach a sink. */
  readonly lost: number;
  constructor(message: string, lost = 0) {
    super(message);
    this.lost = lost;
  }
}

const week = 7 * 24 * 3_600_000;

export class Model {
  sinks: readonly string[];
  readonly records = new Map<number, ModelRecord>();
  open = new Map<string, boolean>();
  position = 0;
  streamId: string | null = null;
  now: number;
  /** The bound may be reached, so ended events may be discarded; `prunes`: and delivered records. */
  mayExpire: boolean;
  mayPrune: boolean;
  /** Copies that no promise excludes: what a destination stored without the bridge having learnt it, or knowing it for certain. */
  allowedCopies = 0;
  copies = 0;
  deadLetters = 0;
  readonly #accepted = new Map<string, number>();
  readonly #expired = new Map<string, number>();
  /** What the destinations have, with all copies: `stream position` by sink. */
  readonly #stored = new Map<string, Map<string, number>>();
  readonly #discarded = new Set<number>();
  /** Of appends that were interrupted. */
  readonly #forgotten: ModelRecord[] = [];
  readonly #newest = new Map<string, number>();
  /** Settled, and the file does not have it yet: sink and position, as in {@link Observed.rows}. */
  readonly #unsettled = new Map<string, ModelDelivery>();
  #committedOpen = new Map<string, boolean>();
  /** Whether each event was open, at the last start that played the log back and since then: without its log the file may have any of it. */
  #openSinceStart = new Map<string, Set<boolean>>();
  #hasEnded = false;
  #damaged: 'file' | 'log' | null = null;

  constructor(sinks: readonly string[], now: number, isTight: boolean) {
    this.sinks = sinks;
    this.now = now;
    this.mayExpire = isTight;
    this.mayPrune = isTight;
  }

  append(records: readonly AppendedRecord[], eventKey: string, isOpen: boolean): void {
    this.open.set(eventKey, isOpen);
    this.#noteOpen(eventKey, isOpen);
    for (const record of records) {
      const deliveries = new Map<string, ModelDelivery>();
      this.records.set(record.position, { ...record, at: this.now, deliveries });
      for (const sink of this.sinks) this.#accept(sink, deliveries);
      this.position = record.position;
    }
  }

  /** The batch is on its way. */
  send(sink: string, batch: readonly (AppendedRecord & { readonly isShortened: boolean })[]): void {
    for (const { position, json, isShortened } of batch) {
      const known = this.records.get(position);
      const what = `record ${position} was sent to ${sink}`;
      // The relay may still have loaded what was discarded.
      if (!known && this.#discarded.has(position)) continue;
      if (!known) throw new Divergence(`${what}, and there is no such record`);
      if (known.json !== json && !isShortened) throw new Divergence(`${what} with other bytes than were appended`);
      const delivery = known.deliveries.get(sink);
      if (delivery?.isUncertain || delivery?.state === 'pending' || delivery?.state === 'purged') continue;
      if (delivery?.state === 'expired') continue;
      throw new Divergence(`${what}, although it is ${delivery?.state ?? 'not for this sink'}`);
    }
  }

  /** The destination has it. `isKnown`: and the bridge got its confirmation. */
  store(sink: string, { streamId, position, eventKey }: AppendedRecord, isKnown: boolean): void {
    const stored = this.#stored.get(sink) ?? new Map<string, number>();
    this.#stored.set(sink, stored);
    const id = `${streamId} ${position}`;
    const copies = stored.get(id) ?? 0;
    stored.set(id, copies + 1);
    if (copies > 0) this.copies += 1;
    const delivery = this.records.get(position)?.deliveries.get(sink);
    const order = `${sink} ${streamId} ${eventKey}`;
    const newest = this.#newest.get(order) ?? 0;
    if (copies === 0 && position < newest && !delivery?.isLate)
      throw new Divergence(`record ${position} of ${eventKey} arrived at ${sink} after record ${newest}`);
    this.#newest.set(order, Math.max(newest, position));
    if (!isKnown) this.allowedCopies += 1;
    else if (delivery) this.#settle(`${sink} ${position}`, delivery, 'delivered');
  }

  refuse(sink: string, position: number): void {
    const delivery = this.records.get(position)?.deliveries.get(sink);
    if (delivery) delivery.refusals += 1;
  }

  in(sink: string, state: State): number[] {
    return [...this.records.values()]
      .filter(({ deliveries }) => deliveries.get(sink)?.state === state)
      .map(({ position }) => position);
  }

  retry(sink: string): void {
    for (const delivery of this.#deliveries(sink, 'dead')) Object.assign(delivery, { state: 'pending', isLate: true });
  }

  purge(sink: string, state: 'pending' | 'dead'): void {
    for (const delivery of this.#deliveries(sink, state)) {
      delivery.state = 'purged';
      this.#expired.set(sink, (this.#expired.get(sink) ?? 0) + 1);
    }
  }

  /** The process ended; `onlyInMemory` of the newest records were on no disk. */
  end(onlyInMemory: number): void {
    this.#hasEnded = true;
    for (const delivery of this.#unsettled.values()) delivery.isUncertain = true;
    // A refused record may have been a dead letter for a moment, so that its event went on.
    for (const { deliveries } of this.records.values())
      for (const delivery of deliveries.values()) if (delivery.refusals > 0) delivery.isLate = true;
    for (const record of onlyInMemory > 0 ? [...this.records.values()].slice(-onlyInMemory) : []) this.#forget(record);
    if (onlyInMemory > 0) this.open = new Map(this.#committedOpen);
  }

  /** The last append was interrupted before its commit. */
  undo({ open, position }: { readonly open: ReadonlyMap<string, boolean>; readonly position: number }): void {
    for (const record of [...this.records.values()]) if (record.position > position) this.#forget(record);
    this.position = position;
    this.open = new Map(open);
  }

  /** The sinks of the configuration from the next start on: new ones get what is `stored`. */
  configure(sinks: readonly string[], stored: ReadonlySet<number>): void {
    this.#compareStored(stored);
    for (const { deliveries } of this.records.values()) {
      for (const sink of new Set([...this.sinks, ...sinks])) {
        const delivery = deliveries.get(sink);
        const [was, is] = [this.sinks.includes(sink), sinks.includes(sink)];
        if (was && !is && (delivery?.state === 'pending' || delivery?.state === 'dead')) delivery.state = 'abandoned';
        if (!was && is && (!delivery || delivery.state === 'abandoned')) this.#accept(sink, deliveries);
      }
    }
    this.sinks = sinks;
  }

  /** The file, or its log, was damaged while no process had it open. */
  damage(part: 'file' | 'log'): void {
    this.#damaged = part;
  }

  /** Compares, and learns what the documents leave open. @throws Divergence */
  observe(actual: Observed): void {
    if (this.#damaged) this.#adopt(actual, this.#damaged);
    this.#damaged = null;
    this.streamId ??= actual.streamId;
    same('the stream', actual.streamId, this.streamId);
    same('the position', actual.position, this.position);
    same('the open events', show(actual.open), show(this.open));
    // A start plays the log back, where the disk takes writes.
    if (this.#hasEnded && actual.stored) this.#openSinceStart.clear();
    for (const [key, isOpen] of this.#hasEnded ? this.open : []) this.#noteOpen(key, isOpen);
    this.#hasEnded = false;
    for (const sink of this.sinks) this.#comparePending(sink, new Set(actual.pending[sink]), actual.tombstones);
    for (const sink of this.sinks) {
      const counters = actual.counters[sink];
      const wanted = {
        accepted: this.#accepted.get(sink) ?? 0,
        pending: this.in(sink, 'pending').length,
        dead: this.in(sink, 'dead').length,
        expired: this.#expired.get(sink) ?? 0,
      };
      for (const [name, count] of Object.entries(wanted))
        same(`the counter ${name} of ${sink}`, counters?.[name as keyof SinkCounters] ?? 0, count);
    }
    // Results may be in memory longer than the records and the state.
    if (actual.onlyInMemory === 0) this.#committedOpen = new Map(this.open);
    if (!actual.stored) return;
    this.#compareStored(new Set(actual.stored.keys()));
    for (const row of this.#unsettled.keys()) if (actual.rows.get(row) !== 'pending') this.#unsettled.delete(row);
  }

  get pending(): number {
    return this.sinks.reduce((sum, sink) => sum + this.in(sink, 'pending').length, 0);
  }

  #comparePending(sink: string, actual: ReadonlySet<number>, tombstones: ReadonlySet<string>): void {
    for (const position of actual) {
      const delivery = this.records.get(position)?.deliveries.get(sink);
      if (delivery?.state === 'pending') continue;
      if (!delivery?.isUncertain)
        throw new Divergence(`record ${position} waits for ${sink}, although it is ${delivery?.state ?? 'unknown'}`);
      // The events of a dead letter went on without it.
      if (delivery.state === 'dead') delivery.isLate = true;
      delivery.state = 'pending';
      this.allowedCopies += 1;
    }
    for (const { position, eventKey, deliveries } of this.records.values()) {
      const delivery = deliveries.get(sink);
      if (!delivery) continue;
      delivery.isUncertain = false;
      if (actual.has(position)) continue;
      // Also what was delivered after it was discarded, since it was in flight.
      const isDiscarded =
        ['pending', 'dead', 'delivered'].includes(delivery.state) && tombstones.has(`${sink} ${position}`);
      if (isDiscarded && this.mayExpire && this.open.get(eventKey) !== true) {
        delivery.state = 'expired';
        this.#expired.set(sink, (this.#expired.get(sink) ?? 0) + 1);
      } else if (delivery.refusals > 0 && delivery.state === 'pending') {
        this.#settle(`${sink} ${position}`, delivery, 'dead');
        this.deadLetters += 1;
      } else if (delivery.state === 'pending')
        throw new Divergence(`record ${position} does not wait for ${sink}, which never got it: it is lost`, 1);
    }
  }

  #compareStored(stored: ReadonlySet<number>): void {
    for (const position of stored)
      if (!this.records.has(position))
        throw new Divergence(`the file has a record ${position} that was never appended`);
    for (const record of [...this.records.values()]) {
      if (stored.has(record.position)) continue;
      const states = [...record.deliveries.values()].map(({ state }) => state);
      const isDue = states.some((state) => state === 'pending' || state === 'dead');
      if (isDue) throw new Divergence(`record ${record.position} is not in the file, although it is due`, 1);
      if (!this.mayPrune && Math.abs(this.now - record.at) <= week)
        throw new Divergence(`record ${record.position} is not in the file, although it was delivered this week`);
      this.records.delete(record.position);
      if (states.includes('expired') || states.includes('purged')) this.#discarded.add(record.position);
    }
  }

  /** After damage: less may be there, and nothing that was not. What is missing is counted. */
  #adopt(actual: Observed, part: 'file' | 'log'): void {
    if (actual.streamId === this.streamId && actual.position < this.position)
      throw new Divergence(`the stream went back from position ${this.position} to ${actual.position}`);
    for (const [key, isOpen] of actual.open) {
      const wasSo = part === 'log' && this.#openSinceStart.get(key)?.has(isOpen) === true;
      if (this.open.get(key) !== isOpen && this.#committedOpen.get(key) !== isOpen && !wasSo)
        throw new Divergence(`the event ${key} is ${isOpen ? 'open' : 'ended'} after the damage, and was not before`);
    }
    const known = [...this.records.values(), ...this.#forgotten].map((record) => [keyOf(record), record] as const);
    const there = new Map(known);
    this.records.clear();
    // Those of an append that was interrupted may be there again: without its log the file does not show how far it got.
    for (const [position, crc] of actual.stored ?? []) {
      const record = there.get(`${position} ${crc}`);
      if (record) this.records.set(position, record);
    }
    for (const { position, deliveries } of this.records.values()) {
      for (const sink of new Set([...this.sinks, ...deliveries.keys()])) {
        const before = deliveries.get(sink);
        const state = this.#afterDamage(sink, position, before?.state, actual);
        const isOfferedAgain = state === 'pending' || state === 'abandoned';
        if (isOfferedAgain && before?.state !== 'pending' && before?.state !== state) this.allowedCopies += 1;
        deliveries.set(sink, { refusals: 0, accepted: 0, ...before, state, isUncertain: false, isLate: true });
      }
    }
    for (const sink of new Set([...this.sinks, ...this.#accepted.keys()])) {
      this.#accepted.set(sink, actual.counters[sink]?.accepted ?? 0);
      this.#expired.set(sink, actual.counters[sink]?.expired ?? 0);
    }
    this.streamId = actual.streamId;
    this.position = actual.position;
    this.open = new Map(actual.open);
  }

  #afterDamage(sink: string, position: number, before: State | undefined, actual: Observed): State {
    const row = actual.rows.get(`${sink} ${position}`);
    // A sink without a row gets the record when it returns.
    if (!this.sinks.includes(sink)) return row ?? 'abandoned';
    if (actual.pending[sink]?.includes(position) === true) return 'pending';
    if (row === 'dead') return 'dead';
    return before && before !== 'pending' && before !== 'dead' ? before : 'delivered';
  }

  #noteOpen(eventKey: string, isOpen: boolean): void {
    this.#openSinceStart.set(eventKey, new Set([...(this.#openSinceStart.get(eventKey) ?? []), isOpen]));
  }

  #deliveries(sink: string, state: State): ModelDelivery[] {
    const all = [...this.records.values()].flatMap(({ deliveries }) => deliveries.get(sink) ?? []);
    return all.filter((delivery) => delivery.state === state);
  }

  #settle(row: string, delivery: ModelDelivery, state: 'delivered' | 'dead'): void {
    if (delivery.state !== 'pending') return;
    delivery.state = state;
    this.#unsettled.set(row, delivery);
  }

  #accept(sink: string, deliveries: Map<string, ModelDelivery>): void {
    const { refusals = 0, accepted = 0 } = deliveries.get(sink) ?? {};
    const isLate = accepted > 0;
    deliveries.set(sink, { state: 'pending', refusals, accepted: accepted + 1, isUncertain: false, isLate });
    this.#accepted.set(sink, (this.#accepted.get(sink) ?? 0) + 1);
  }

  #forget(record: ModelRecord): void {
    const { position, deliveries } = record;
    this.records.delete(position);
    this.#forgotten.push(record);
    for (const [sink, { accepted, state }] of deliveries) {
      this.#accepted.set(sink, (this.#accepted.get(sink) ?? 0) - accepted);
      if (state === 'expired') this.#expired.set(sink, (this.#expired.get(sink) ?? 0) - 1);
    }
  }
}

const keyOf = ({ position, json }: AppendedRecord): string => `${position} ${crc32(Buffer.from(json))}`;

function same<T>(what: string, actual: T, wanted: T): void {
  if (actual !== wanted) throw new Divergence(`${what} is ${actual} instead of ${wanted}`);
}

const show = (open: ReadonlyMap<string, boolean>): string =>
  [...open]
    .map(([key, isOpen]) => `${key} ${isOpen ? 'open' : 'ended'}`)
    .sort()
    .join(', ');
