import { faultPoint } from '../fault-point.ts';
import type { LifecycleRecord } from '../lifecycle/record.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import { emptyState, type LifecycleState } from '../lifecycle/state.ts';
import { approvedAfter, openIntents, writeConclusion, writeIntent } from './control/approvals.ts';
import { purge, retryDeadLetters } from './control/manual-actions.ts';
import { unansweredRequests, writeAnswer } from './control/requests.ts';
import {
  type ApprovalIntent,
  type ConcludedApproval,
  type DeliveryUpdate,
  type FiledRequest,
  type Fill,
  noCounters,
  noProgress,
  type Outbox,
  type OutboxOptions,
  type PendingDelivery,
  type PendingQuery,
  type PurgeSelection,
  type Recovery,
  type Selection,
  type SinkBacklog,
  type SinkCounters,
  type SinkProgress,
  type Storage,
  type StoredObserver,
} from './outbox.ts';
import { CounterChanges } from './store/counters.ts';
import { bufferedRecord, type FoundDelivery } from './store/deliveries.ts';
import { Disk } from './store/disk.ts';
import { chunkBounds, type OutboxFile } from './store/outbox-file.ts';
import { resumed } from './store/position-mark.ts';
import { isWorthStoring, newState, writeChecked } from './store/state-store.ts';
import { observerRow, WriteBuffer } from './write-buffer.ts';

/**
 * Every commit waits for the disk, and the results of a backlog of thousands arrive in small pieces: one commit for each took
 * half of the time of a drain. So after a commit that took 1 ms, delivery updates wait 9 ms for the next one, unless they fill
 * a transaction. A crash meanwhile sends what was delivered once more, so nothing waits for long.
 */
const restPerWork = 9;
const longestRestMs = 100;
/** While nothing can be written, deliveries alone do not try the disk more often than this. */
const retryEveryMs = 1_000;

/**
 * Opens the outbox of a state directory in any state; when nothing can be written it works in memory.
 * @throws OutboxInUse, OutboxTooNew: each with a sentence for the operator.
 */
export const openOutbox = (options: OutboxOptions): Outbox => new DurableOutbox(options);

/**
 * Memory first, then disk: every change is put into the {@link WriteBuffer} and then written by `#write`, the only way to
 * the disk: append → buffer → one transaction of {@link OutboxFile.write}. There is one path for the plain case and
 * for a disk that fails; they differ in how long it takes.
 */
class DurableOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #buffer: WriteBuffer;
  readonly #disk: Disk;
  readonly #listeners = new Set<(records: readonly LifecycleRecord[]) => void>();
  readonly #recoveryListeners = new Set<() => void>();
  #state: LifecycleState;
  #history: object = {};
  #storedObserver: StoredObserver | null;
  /** There was no file to read at start, or another instance has it: one that appears later may hold other things. */
  #isDetached: boolean;
  /** Appended, and not yet offered to the relays. */
  #pendingNotifications: LifecycleRecord[] = [];
  /** The rest of a large append, written at the next turn of the event loop. */
  #rest: NodeJS.Immediate | undefined;
  /** Before this moment, in monotonic milliseconds, what can wait is not written. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isCommitScheduled = false;
  readonly #closing = new AbortController();
  readonly #isOpen = (eventKey: string): boolean => this.#state.events.get(eventKey)?.open === true;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#buffer = new WriteBuffer(options.sinks);
    this.#disk = new Disk(options, { buffer: this.#buffer, isOpen: this.#isOpen });
    this.#disk.openFirst();
    const { file } = this.#disk;
    this.#isDetached = file === null;
    this.#state = file ? resumed(file.state, this.#options) : newState();
    this.#storedObserver = file?.storedObserver ?? null;
  }

  get state(): LifecycleState {
    return this.#state;
  }

  get history(): object {
    return this.#history;
  }

  get storedObserver(): StoredObserver | null {
    return this.#storedObserver;
  }

  get storage(): Storage {
    return { fault: this.#disk.fault, undurable: this.#buffer.records.size };
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
    const at = this.#now();
    this.#state = concluded.length === 0 ? state : { ...state, approved: approvedAfter(state.approved, concluded) };
    for (const one of concluded) this.#buffer.writeLater(approvalOf(one), (db) => writeConclusion(db, one));
    for (const record of records) this.#buffer.records.set(record.position, bufferedRecord(record, at));
    this.#pendingNotifications.push(...records);
    if (records.length === 0 && concluded.length === 0 && !isWorthStoring(this.#stored, state)) return;
    faultPoint('before-append');
    this.#write();
  }

  rememberObserver(observer: Observer, bootId: string | null): void {
    const stored = { observer, bootId };
    this.#storedObserver = stored;
    this.#buffer.writeLater(observerRow, (db) => writeChecked(db, 'observer', JSON.stringify(stored)));
    this.#write();
  }

  archive(reason: string): void {
    this.#stopWriting();
    this.#buffer.clear();
    this.#pendingNotifications = [];
    this.#storedObserver = null;
    this.#disk.archive(reason);
    const { file } = this.#disk;
    this.#replaceState(file?.state ?? newState());
    this.#isDetached = false;
    if (!file) this.#write();
  }

  onAppended(listener: (records: readonly LifecycleRecord[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onRecovered(listener: () => void): () => void {
    this.#recoveryListeners.add(listener);
    return () => this.#recoveryListeners.delete(listener);
  }

  pending(sink: string, query: PendingQuery): PendingDelivery[] {
    if (!this.#options.sinks.includes(sink) || query.limit <= 0) return [];
    const found = this.#read((file) => file.pending(sink, query, this.#buffer.settled(sink))) ?? [];
    const damaged = found.filter((row) => row.damaged);
    if (damaged.length > 0) {
      this.settle(sink, damaged.map(asDeadLetter), this.progress(sink));
      return this.pending(sink, query);
    }
    const onDisk = found.map(({ damaged: _damaged, ...row }) => {
      return { ...row, attempts: row.attempts + (this.#buffer.update(sink, row.position)?.attempts ?? 0) };
    });
    // What is in memory only is open to the relays once the disk had its chance.
    if (!this.#disk.fault || onDisk.length >= query.limit) return onDisk;
    return [...onDisk, ...this.#buffer.pending(sink, { ...query, limit: query.limit - onDisk.length })];
  }

  settle(sink: string, updates: readonly DeliveryUpdate[], progress: SinkProgress): void {
    const known = updates.filter(
      ({ position }) => position <= this.#stored.position || this.#buffer.records.has(position),
    );
    this.#buffer.settle(sink, known, this.#now());
    this.#buffer.progress.set(sink, progress);
    faultPoint('before-settle');
    this.#writeAtTimes();
  }

  intend(intent: ApprovalIntent): boolean {
    if (this.#changedNow(({ db }) => writeIntent(db, intent)) === null) return false;
    this.#state = { ...this.#state, approved: new Set([...this.#state.approved, intent.eventId.toLowerCase()]) };
    return true;
  }

  openApprovals(): readonly ApprovalIntent[] {
    const intents = this.#read(({ db }) => openIntents(db)) ?? [];
    return intents.filter((intent) => !this.#buffer.rows.has(approvalOf(intent)));
  }

  requests(): readonly FiledRequest[] {
    const filed = this.#read((file) => unansweredRequests(file)) ?? [];
    return filed.filter(({ number }) => !this.#buffer.rows.has(answerOf(number)));
  }

  answer(number: number, answer: unknown): void {
    const [json, at] = [JSON.stringify(answer) ?? 'null', this.#now()];
    this.#buffer.writeLater(answerOf(number), (db) => writeAnswer(db, number, json, at));
    this.#writeAtTimes();
  }

  retryDeadLetters(which: Selection): number {
    return this.#changedNow((file, changes) => retryDeadLetters(file, changes, which)) ?? 0;
  }

  purge(which: PurgeSelection): number {
    return this.#changedNow((file, changes) => purge(file, changes, which, this.#now())) ?? 0;
  }

  progress(sink: string): SinkProgress {
    return this.#buffer.progress.get(sink) ?? this.#disk.file?.sinks.get(sink)?.progress ?? noProgress;
  }

  counters(): Readonly<Record<string, SinkCounters>> {
    const changes = new CounterChanges();
    // While the disk takes writes, what waits for a commit is counted with it: a crash takes no count back.
    if (this.#disk.fault) {
      this.#buffer.countRecords(changes);
      // Others were discarded while they were on their way.
      const pending = new Map(this.#options.sinks.map((sink) => [sink, this.#pendingOf(sink)]));
      this.#buffer.countUpdates(
        changes,
        (sink, position) => this.#buffer.records.has(position) || (pending.get(sink)?.has(position) ?? true),
      );
    }
    const stored = this.#disk.file?.sinks;
    const names = [...new Set([...(stored?.keys() ?? []), ...this.#options.sinks])].sort();
    return Object.fromEntries(
      names.map((name) => [name, changes.addTo(name, stored?.get(name)?.counters ?? noCounters)]),
    );
  }

  backlog(): SinkBacklog[] {
    const counters = this.counters();
    return this.#options.sinks.map((sink) => {
      const onlyInMemory = this.#buffer.pending(sink, { limit: Number.POSITIVE_INFINITY }).length;
      return { sink, pending: counters[sink]?.pending ?? 0, onlyInMemory };
    });
  }

  retry(): void {
    if (this.#disk.fault) this.#writeAtTimes();
    else if (!this.#buffer.isEmpty || this.#disk.displacement) this.#write();
    this.#disk.report();
  }

  maintain(): void {
    if (this.#disk.fault || this.#disk.displacement) this.#write();
    this.#disk.maintain();
  }

  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#write({ isAll: true, isEnd: true });
    this.#disk.close();
  }

  get #stored(): LifecycleState {
    return (this.#isDetached ? null : this.#disk.file?.state) ?? nothingStored;
  }

  #now(): string {
    return this.#options.clock.now().toISOString();
  }

  /** Reads the file of this stream; null without a readable one. */
  #read<T>(ask: (file: OutboxFile) => T): T | null {
    return this.#isDetached ? null : this.#disk.read(ask);
  }

  /** What is pending in the file of all that is settled in memory. */
  #pendingOf(sink: string): ReadonlySet<number> | null {
    return this.#read((file) => file.pendingOf(sink, this.#buffer.settled(sink)));
  }

  /** A transaction of its own, after all that was in memory. Null when the disk takes no writes: then nothing was done. */
  #changedNow<T>(work: (file: OutboxFile, changes: CounterChanges) => T): T | null {
    this.#write({ isAll: true });
    if (!this.#buffer.isEmpty || this.#isDetached) return null;
    return this.#disk.attempt((file) => file.change((changes) => work(file, changes)));
  }

  /** For what can wait until the disk has rested; while it takes no writes, `retry` tries it again. */
  #writeAtTimes(): void {
    const { clock } = this.#options;
    const restMs = this.#restsUntil - clock.monotonicMs();
    const isHealthy = this.#disk.fault === null;
    if (restMs <= 0 || (isHealthy && this.#buffer.updates >= chunkBounds.rows)) this.#write();
    else if (isHealthy && !this.#isCommitScheduled) {
      this.#isCommitScheduled = true;
      void clock.sleep(restMs, this.#closing.signal).then(() => {
        this.#isCommitScheduled = false;
        if (!this.#closing.signal.aborted && !this.#buffer.isEmpty) this.#writeAtTimes();
      });
    }
  }

  #stopWriting(): void {
    clearImmediate(this.#rest);
    this.#rest = undefined;
  }

  /**
   * Writes everything that is not on disk. While all is well, one transaction now and what is more than that at the next turns
   * of the event loop; else all at once. `isEnd`: no other write follows.
   */
  #write({ isAll = this.#disk.fault !== null, isEnd = false } = {}): void {
    if (this.#rest && !isAll) return;
    this.#stopWriting();
    const began = this.#options.clock.monotonicMs();
    const hadFault = this.#disk.fault !== null;
    const isDone = this.#disk.attempt((file) => {
      if (this.#isDetached) this.#reattach(file);
      while (!file.write(this.#buffer, this.#state, isEnd)) if (!isAll) return false;
      return true;
    });
    if (isDone !== false) this.#finish(isDone === true, began);
    else {
      this.#rest = setImmediate(() => {
        this.#rest = undefined;
        this.#write();
      });
    }
    if (isDone && hadFault) for (const listener of this.#recoveryListeners) listener();
  }

  #finish(isWritten: boolean, began: number): void {
    const ended = this.#options.clock.monotonicMs();
    this.#restsUntil = ended + (isWritten ? Math.min(longestRestMs, restPerWork * (ended - began)) : retryEveryMs);
    if (isWritten) {
      if (this.#buffer.updates > 0) faultPoint('after-settle');
      this.#buffer.clear();
    } else {
      if (this.#disk.isLockLost) this.#isDetached = true;
      this.#buffer.keepWithinBounds(this.#isOpen, this.#now());
      if (!this.#isDetached) this.#disk.handOut(this.#state);
    }
    const records = this.#pendingNotifications;
    this.#pendingNotifications = [];
    if (records.length === 0) return;
    faultPoint('after-append');
    for (const listener of this.#listeners) listener(records);
  }

  /**
   * A file that could not be read at start can be read now: its stream is continued, as after a restart. What this
   * process recorded meanwhile has positions of its own stream, so it is delivered from memory first and never written.
   */
  #reattach(file: OutboxFile): void {
    if (!isNewStream(file.state)) {
      const { sinks } = this.#options;
      if (sinks.some((sink) => this.#buffer.pending(sink, { limit: 1 }).length > 0)) throw stillSending;
      this.#buffer.discard([...this.#buffer.records.keys()], this.#now());
      this.#replaceState(resumed(file.state, this.#options));
      if (!this.#buffer.rows.has(observerRow)) this.#storedObserver = file.storedObserver;
    }
    this.#isDetached = false;
  }

  /** By one that does not continue it. */
  #replaceState(state: LifecycleState): void {
    this.#state = state;
    this.#history = {};
  }
}

/** Nothing was ever recorded in it. */
const isNewStream = ({ position, events, lastDocumentAt }: LifecycleState): boolean =>
  position === 0 && events.size === 0 && lastDocumentAt === null;

const stillSending = Object.assign(
  new Error('the outbox of an earlier run appeared; it is taken over when what is in memory is sent'),
  { code: 'earlier-outbox' },
);

const asDeadLetter = ({ position }: FoundDelivery): DeliveryUpdate => ({
  position,
  state: 'dead',
  code: 'damaged',
  reason: 'Its bytes on the disk are not those that were written: the file system or the disk may be failing.',
});

/** What a row of the buffer is about. */
const approvalOf = ({ eventId }: { readonly eventId: string }): string => `approval ${eventId.toLowerCase()}`;
const answerOf = (number: number): string => `answer ${number}`;

const nothingStored = emptyState('');
