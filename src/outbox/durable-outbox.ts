import type { LifecycleRecord } from '../lifecycle/record.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import { emptyState, type LifecycleState } from '../lifecycle/state.ts';
import {
  type ApprovalIntent,
  approvedAfter,
  type ConcludedApproval,
  openIntents,
  writeIntent,
} from './control/approvals.ts';
import { type Chosen, type Purged, purge, retryDeadLetters } from './control/manual-actions.ts';
import type { FiledRequest } from './control/requests.ts';
import type { Backlog, Outbox, OutboxOptions, Recovery, Storage } from './outbox.ts';
import { firstChunk } from './store/chunks.ts';
import { noProgress, type OutboxCounters, type SinkProgress } from './store/counters.ts';
import { newState } from './store/create.ts';
import {
  bufferedRecord,
  type DeliveryUpdate,
  type FoundDelivery,
  type PendingDelivery,
  type PendingQuery,
} from './store/deliveries.ts';
import { type Disk, openDisk, type Readable } from './store/disk.ts';
import { countersOf } from './store/effective-counters.ts';
import type { OutboxFile } from './store/outbox-file.ts';
import { resumed } from './store/resume.ts';
import { type Fill, recordsToGiveUp } from './store/retention.ts';
import { transaction } from './store/sql.ts';
import { isWorthStoring, type StoredObserver } from './store/state-store.ts';
import { createWriteBuffer } from './write-buffer.ts';

/** While nothing can be written, deliveries alone do not ask the disk more often than this. */
const retryEveryMs = 1_000;

/**
 * Memory first, then disk: whatever happens is put into {@link createWriteBuffer} and then written by {@link DurableOutbox.#write},
 * the only way to the disk. There is one path for the plain case and for a disk that fails; they differ in how long it takes.
 */
export class DurableOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #disk: Disk;
  readonly #buffer = createWriteBuffer();
  readonly #listeners = new Set<(records: readonly LifecycleRecord[]) => void>();
  /** Progress that is newer than the disk's. */
  readonly #progress = new Map<string, SinkProgress>();
  #state: LifecycleState;
  #history: object = {};
  #observer: StoredObserver;
  /** It is newer than the disk's. */
  #isObserverNew = false;
  /** There was no file to read at start, or another instance has it: one that comes to light later may hold other things. */
  #isDetached: boolean;
  /** Appended, and not yet told to anybody. */
  #pendingNotifications: LifecycleRecord[] = [];
  /** The rest of a large append, written at the next turn of the event loop. */
  #rest: NodeJS.Immediate | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#disk = openDisk(options, {
      isOpen: (eventKey) => this.#state?.events.get(eventKey)?.open === true,
      isDelivered: (sink, position) => this.#buffer.outcomes(sink).get(position)?.state === 'delivered',
      undurable: () => this.#buffer.records.size,
      writeOutcomes: (file) => this.#writeOutcomes(file),
    });
    this.#isDetached = this.#disk.stored === null;
    this.#state = this.#disk.stored ? resumed(this.#disk.stored, options) : newState();
    this.#observer = this.#disk.observer;
  }

  get state(): LifecycleState {
    return this.#state;
  }

  get history(): object {
    return this.#history;
  }

  get observer(): Observer | null {
    return this.#observer.observer;
  }

  get observerBootId(): string | null {
    return this.#observer.bootId;
  }

  get storage(): Storage {
    return { trouble: this.#disk.trouble, undurable: this.#buffer.records.size };
  }

  get fill(): Fill {
    return this.#disk.fill;
  }

  get recovery(): Recovery | null {
    return this.#disk.recovery;
  }

  append(
    state: LifecycleState,
    records: readonly LifecycleRecord[],
    concluded: readonly ConcludedApproval[] = [],
  ): void {
    const at = this.#options.clock.now().toISOString();
    this.#state = concluded.length === 0 ? state : { ...state, approved: approvedAfter(state.approved, concluded) };
    this.#buffer.conclude(concluded);
    this.#buffer.add(records.map((record) => bufferedRecord(record, at)));
    this.#pendingNotifications.push(...records);
    if (records.length > 0 || concluded.length > 0 || isWorthStoring(this.#stored, state)) this.#write();
  }

  rememberObserver(observer: Observer, bootId: string | null): void {
    this.#observer = { observer, bootId };
    this.#isObserverNew = true;
    this.#write();
  }

  archive(reason: string): void {
    this.#stopWriting();
    this.#buffer.clear();
    this.#pendingNotifications = [];
    this.#progress.clear();
    this.#observer = { observer: null, bootId: null };
    this.#isObserverNew = false;
    this.#disk.archive(reason);
    this.#replaceState(this.#disk.stored ?? newState());
    this.#isDetached = false;
    if (this.#disk.stored === null) this.#write();
  }

  onAppended(listener: (records: readonly LifecycleRecord[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  pending(sink: string, query: PendingQuery): PendingDelivery[] {
    if (!this.#options.sinks.includes(sink) || query.limit <= 0) return [];
    const outcomes = this.#buffer.outcomes(sink);
    const settled = [...outcomes].flatMap(([position, { state }]) => (state === 'pending' ? [] : [position]));
    const found = this.#read((file) => file.pending(sink, query, settled)) ?? [];
    const damaged = found.filter((row) => row.damaged);
    if (damaged.length > 0) {
      this.settle(sink, damaged.map(asDeadLetter), this.progress(sink));
      return this.pending(sink, query);
    }
    const onDisk = found.map(({ position, eventKey, json, attempts, appendedAt }) => {
      return { position, eventKey, json, appendedAt, attempts: attempts + (outcomes.get(position)?.attempts ?? 0) };
    });
    if (!this.#isOffered || onDisk.length >= query.limit) return onDisk;
    return [...onDisk, ...this.#buffer.pending(sink, { ...query, limit: query.limit - onDisk.length })];
  }

  settle(sink: string, outcomes: readonly DeliveryUpdate[], progress: SinkProgress): void {
    const isKnown = ({ position }: DeliveryUpdate): boolean =>
      position <= this.#stored.position || this.#buffer.records.has(position);
    this.#buffer.settle(sink, outcomes.filter(isKnown), this.#options.clock.now().toISOString());
    this.#progress.set(sink, progress);
    if (!this.#rest) this.#retryAtTimes();
  }

  intend(intent: ApprovalIntent): boolean {
    const isWritten = this.#writtenNow((file) => {
      transaction(file.db, () => writeIntent(file.db, intent));
      return true;
    });
    if (!isWritten) return false;
    this.#state = { ...this.#state, approved: new Set([...this.#state.approved, intent.eventId.toLowerCase()]) };
    return true;
  }

  openApprovals(): readonly ApprovalIntent[] {
    const concluded = new Set(this.#buffer.concluded.map(({ eventId }) => eventId.toLowerCase()));
    const intents = this.#read(({ db }) => openIntents(db)) ?? [];
    return intents.filter(({ eventId }) => !concluded.has(eventId.toLowerCase()));
  }

  requests(): readonly FiledRequest[] {
    const filed = this.#read((file) => file.requests()) ?? [];
    return filed.filter(({ number }) => !this.#buffer.answers.has(number));
  }

  answer(number: number, answer: unknown): void {
    const at = this.#options.clock.now().toISOString();
    this.#buffer.answer(number, { answer: JSON.stringify(answer) ?? 'null', at });
    if (!this.#rest) this.#retryAtTimes();
  }

  retryDeadLetters(which: Chosen): number {
    return this.#writtenNow((file) => retryDeadLetters(file, which)) ?? 0;
  }

  purge(which: Purged): number {
    return this.#writtenNow((file) => purge(file, which, this.#options.clock.now())) ?? 0;
  }

  progress(sink: string): SinkProgress {
    return this.#progress.get(sink) ?? this.#disk.sinks.get(sink)?.progress ?? noProgress;
  }

  counters(): OutboxCounters {
    return countersOf(this.#disk.sinks, this.#options.sinks, this.#isOffered ? this.#buffer : null);
  }

  backlog(): Backlog[] {
    const counters = countersOf(this.#disk.sinks, this.#options.sinks, this.#buffer);
    return this.#options.sinks.map((sink) => {
      const isSettled = (position: number): boolean =>
        (this.#buffer.outcomes(sink).get(position)?.state ?? 'pending') !== 'pending';
      const onlyInMemory = [...this.#buffer.records.keys()].filter((position) => !isSettled(position)).length;
      return { sink, pending: counters[sink]?.pending ?? 0, onlyInMemory };
    });
  }

  retry(): void {
    if (this.#disk.trouble || this.#disk.isDisplaced) this.#retryAtTimes();
    this.#disk.report();
  }

  maintain(): void {
    if (this.#disk.trouble || this.#disk.isDisplaced || isWorthStoring(this.#stored, this.#state)) this.#write();
    this.#disk.maintain();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopWriting();
    if (!this.#isAllWritten || this.#disk.isDisplaced) this.#writeAll(true);
    this.#disk.close();
  }

  get #stored(): LifecycleState {
    return (this.#isDetached ? null : this.#disk.stored) ?? nothingStored;
  }

  /** What is in memory only is open to the relays: the disk had its chance. */
  get #isOffered(): boolean {
    return this.#disk.trouble !== null;
  }

  get #isAllWritten(): boolean {
    return this.#isNothingHeld && this.#stored === this.#state;
  }

  /** But for what is not worth a write of its own. */
  get #isNothingHeld(): boolean {
    return this.#buffer.isEmpty && this.#progress.size === 0 && !this.#isObserverNew;
  }

  /** What the file of this stream tells; null where there is none to be read. */
  #read<T>(ask: (source: Readable) => T): T | null {
    return this.#isDetached ? null : this.#disk.read(ask);
  }

  /** Work on the file as such, after all that was in memory. Null when the disk takes no writes: then nothing was done. */
  #writtenNow<T>(work: (file: OutboxFile) => T): T | null {
    this.#stopWriting();
    if (!this.#isAllWritten || this.#disk.isDisplaced) this.#writeAll(false);
    if (!this.#isNothingHeld || this.#isDetached) return null;
    return this.#disk.attempt(work);
  }

  #retryAtTimes(): void {
    const now = this.#options.clock.monotonicMs();
    if (this.#disk.trouble && now - this.#triedAt < retryEveryMs) return;
    this.#write();
  }

  #stopWriting(): void {
    if (this.#rest) clearImmediate(this.#rest);
    this.#rest = null;
  }

  /** Begins to write everything that is not on disk. */
  #write(): void {
    if (this.#rest) return;
    if (this.#disk.trouble) this.#writeAll(false);
    else this.#writeNext();
  }

  /** One transaction. What is more than that goes on at the next turns of the event loop. */
  #writeNext(): void {
    this.#rest = null;
    const isDone = this.#disk.attempt((file) => this.#writeChunk(file, false));
    if (isDone === false) this.#rest = setImmediate(() => this.#writeNext());
    else this.#finish(isDone === true);
  }

  #writeAll(isLast: boolean): void {
    const isDone = this.#disk.attempt((file) => {
      while (!this.#writeChunk(file, isLast));
      return true;
    });
    this.#finish(isDone === true);
  }

  /** Whether it was the last one. */
  #writeChunk(file: OutboxFile, isLast: boolean): boolean {
    if (this.#isDetached) this.#reattach(file);
    const records = [...this.#buffer.records.values()].filter(({ position }) => position > file.writtenUpTo);
    const { chunk, isLast: isRest } = firstChunk(records, this.#options.sinks.length);
    if (!isRest) {
      file.writeChunk(chunk);
      return false;
    }
    const observer = this.#isObserverNew ? this.#observer : null;
    file.commit(chunk, this.#buffer, { state: this.#state, progress: this.#progress, observer, isLast });
    return true;
  }

  /** By one that does not go on from it. */
  #replaceState(state: LifecycleState): void {
    this.#state = state;
    this.#history = {};
  }

  #writeOutcomes(file: OutboxFile): void {
    if (this.#isDetached) return;
    file.commitOutcomes(this.#buffer, this.#progress);
    this.#buffer.outcomesWritten();
    this.#progress.clear();
  }

  #finish(isWritten: boolean): void {
    this.#triedAt = this.#options.clock.monotonicMs();
    if (isWritten) {
      this.#buffer.clear();
      this.#progress.clear();
      this.#isObserverNew = false;
    } else {
      if (this.#disk.isLockLost) this.#isDetached = true;
      this.#boundMemory();
      if (!this.#isDetached) this.#disk.handOut(this.#state);
    }
    const records = this.#pendingNotifications;
    this.#pendingNotifications = [];
    if (records.length > 0) for (const listener of this.#listeners) listener(records);
  }

  #boundMemory(): void {
    const isOpen = (eventKey: string): boolean => this.#state.events.get(eventKey)?.open === true;
    const isDone = (position: number): boolean =>
      this.#options.sinks.every((sink) => this.#buffer.outcomes(sink).get(position)?.state === 'delivered');
    const records = [...this.#buffer.records.values()].map(({ position, eventKey, json }) => {
      return { position, eventKey, bytes: json.length, isDone: isDone(position) };
    });
    this.#giveUp(recordsToGiveUp(records, isOpen));
  }

  #giveUp(positions: readonly number[]): void {
    this.#buffer.giveUp(positions, this.#options.sinks, this.#options.clock.now().toISOString());
  }

  /**
   * A file that could not be read at start is there now: its stream is the one to go on with, as after a restart. What this
   * process recorded meanwhile has positions of its own stream, so it is delivered from memory first and never written.
   */
  #reattach(file: OutboxFile): void {
    if (isNewStream(file.state)) {
      this.#isDetached = false;
      return;
    }
    const { sinks } = this.#options;
    if (sinks.some((sink) => this.#buffer.pending(sink, { limit: 1 }).length > 0)) throw new StillSending();
    this.#giveUp([...this.#buffer.records.keys()]);
    this.#replaceState(resumed(file.state, this.#options));
    if (!this.#isObserverNew) this.#observer = this.#disk.observer;
    this.#isDetached = false;
  }
}

/** Nothing was ever recorded in it. */
const isNewStream = ({ position, events, lastDocumentAt }: LifecycleState): boolean =>
  position === 0 && events.size === 0 && lastDocumentAt === null;

class StillSending extends Error {
  readonly code = 'earlier-outbox';
  constructor() {
    super('the outbox of an earlier run has come to light; it is taken up when what is in memory is sent');
  }
}

const asDeadLetter = ({ position }: FoundDelivery): DeliveryUpdate => ({
  position,
  outcome: 'dead',
  code: 'damaged',
  reason: 'Its bytes on the disk are not those that were written: the file system or the disk may be failing.',
});

const nothingStored = emptyState('');
