import type { Clock } from '../clock.ts';
import { faultPoint } from '../fault-point.ts';
import type { Log } from '../log.ts';
import type { Outbox, SinkProgress } from '../outbox/outbox.ts';
import type { ParsedEntry, SendResult, Sink } from '../sinks/sink.ts';
import { createBacklog } from './backlog.ts';
import { type BatchRequest, nextBatches } from './batch.ts';
import { createDeliveryTracker, type InFlightBatch } from './delivery-tracker.ts';
import { createNotifier } from './notifier.ts';
import { recordOf, send } from './send.ts';
import { createStatusLog } from './status-log.ts';
import { createUrgency } from './urgency.ts';

export interface RelayHealth extends Pick<SinkProgress, 'step' | 'retryAt' | 'lastErrorCode' | 'lastErrorReason'> {
  readonly sink: string;
  /** `failing` goes before all others; `waiting`: single events are held for a moment, the sink is well. */
  readonly state: 'idle' | 'sending' | 'waiting' | 'failing';
  /** Batches on their way. */
  readonly inFlight: number;
  /** The records in them; the outbox counts these as pending. */
  readonly recordsInFlight: number;
  /** Records that the sink refused permanently since the process began, by code. */
  readonly deadLetterCounts: Readonly<Record<string, number>>;
}

export interface RelayOptions {
  readonly sink: Sink;
  readonly outbox: Pick<
    Outbox,
    'state' | 'pending' | 'settle' | 'progress' | 'counters' | 'onAppended' | 'onRecovered'
  >;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether a record may not wait until the pause of a sink has ended. */
  readonly isUrgent: (record: ParsedEntry['record']) => boolean;
  /** Gives [0, 1), for the jitter. */
  readonly random?: () => number;
  /** Called at each pass of the loop: it is not stuck. */
  readonly onPass?: () => void;
  /** Last resort for a sink that does not keep its own deadlines. If missing, 60 s. */
  readonly deadlineMs?: number;
}

/** How often the backlog is compared without a notification; also the longest sleep of an idle loop. */
const compareEveryMs = 60_000;
/** An urgent record found at start is worth an attempt out of turn only this long after it was seen. */
const freshMs = 15 * 60_000;
/** At the start, at most this number of records of open events that affect this VM is searched for urgent ones. */
const mostOfOwnEvents = 250;
/** With fewer deliveries than this that could go, it is time to load more. */
const lowWater = 250;

/** Drains the outbox into one sink, in order. */
export class Relay {
  /** Stops listening to the outbox. */
  readonly close: () => void;
  readonly #options: Required<RelayOptions>;
  readonly #notifier;
  readonly #backlog;
  readonly #urgency = createUrgency();
  readonly #tracker;
  readonly #statusLog;
  readonly #inFlight = new Set<InFlightBatch>();
  readonly #busy = new Set<string>();
  readonly #finished: { readonly sentBatch: InFlightBatch; readonly result: SendResult }[] = [];
  #draining: Promise<number> | null = null;
  /** Of which stream everything in memory is; null before the first drain. */
  #streamId: string | null = null;
  #comparedAt = 0;
  /** As last decided; null: nothing is wrong. */
  #lastFailing: SinkProgress | null = null;

  constructor(options: RelayOptions) {
    this.#options = { random: Math.random, deadlineMs: 60_000, onPass: () => {}, ...options };
    const { sink, outbox, clock, log, random } = this.#options;
    this.#notifier = createNotifier(clock);
    this.#backlog = createBacklog(sink.name, outbox);
    this.#statusLog = createStatusLog(log, clock, sink.name);
    this.#tracker = createDeliveryTracker({
      backlog: this.#backlog,
      urgency: this.#urgency,
      statusLog: this.#statusLog,
      clock,
      random,
      full: Math.max(sink.inFlight, sink.limits.records),
      stored: outbox.progress(sink.name),
    });
    const stops = [outbox.onAppended((records) => this.#appended(records)), outbox.onRecovered(() => this.wake())];
    this.close = () => {
      for (const stop of stops) stop();
    };
  }

  /** Drains until `signal` is aborted. Never rejects for what a sink or a disk does. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = await this.drainOnce(signal);
      await this.#notifier.wait(Math.min(waitMs, compareEveryMs), signal);
      if (this.#options.clock.monotonicMs() - this.#comparedAt >= compareEveryMs) this.#compare();
    }
  }

  /**
   * Sends what can be sent now and settles it. Joins a drain that is under way.
   * @returns after how many milliseconds it is worth draining again; infinite when nothing is left.
   */
  drainOnce(signal: AbortSignal): Promise<number> {
    this.#draining ??= this.#drain(signal).finally(() => {
      this.#draining = null;
    });
    return this.#draining;
  }

  /** For changes of the outbox without a notification: compares the whole backlog. */
  wake(): void {
    this.#compare();
    this.#notifier.notify();
  }

  /** What failed with one of these codes works again: ends the pause of the sink for that. */
  resume(isOver: (code: string) => boolean): void {
    this.#tracker.resume(isOver);
    this.#notifier.notify();
  }

  health(): RelayHealth {
    const { sink } = this.#options;
    const { step, retryAt, lastErrorCode, lastErrorReason } = this.#tracker.progress();
    const waits = this.#backlog.queues.size > 0 || this.#backlog.hasMore();
    const well = this.#inFlight.size > 0 ? 'sending' : waits ? 'waiting' : 'idle';
    const state = this.#failing() ? 'failing' : well;
    const [inFlight, recordsInFlight] = [this.#inFlight.size, this.#recordsInFlight()];
    const deadLetterCounts = this.#tracker.deadLetterCounts();
    const error = { lastErrorCode, lastErrorReason };
    return { sink: sink.name, state, step, retryAt, ...error, inFlight, recordsInFlight, deadLetterCounts };
  }

  /** Before an end: drains until nothing is left (true), or the sink fails or `deadlineMs` have passed (false). */
  async flush(deadlineMs: number): Promise<boolean> {
    const stop = new AbortController();
    const over = new AbortController();
    const missed = this.#options.clock.sleep(deadlineMs, over.signal).then(() => {
      stop.abort();
      return false;
    });
    const drained = await Promise.race([this.#drainToEnd(stop.signal), missed]);
    over.abort();
    return drained;
  }

  async #drainToEnd(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const waitMs = await this.drainOnce(signal);
      if (waitMs === Number.POSITIVE_INFINITY) return true;
      if (this.#failing()) return false;
      await this.#options.clock.sleep(waitMs, signal);
    }
    return false;
  }

  /**
   * 1. Handle the results that arrived. 2. Send what can be sent, so that the sink works while 3. the outbox may write the
   * delivery updates. 4. Wait for something to happen.
   */
  async #drain(signal: AbortSignal): Promise<number> {
    for (;;) {
      this.#options.onPass();
      this.#handleResults(signal.aborted);
      const launchedAt = this.#options.clock.monotonicMs();
      if (!signal.aborted) this.#launch(launchedAt, signal);
      this.#settle();
      this.#logStatus();
      if (this.#inFlight.size === 0) return this.#rest(launchedAt);
      await this.#notifier.wait(this.#dueMs(launchedAt), signal.aborted ? undefined : signal);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #handleResults(stopping: boolean): void {
    const { sink, outbox, log } = this.#options;
    const { streamId } = outbox.state;
    if (this.#streamId !== streamId) this.#begin(streamId);
    for (const { sentBatch, result } of this.#finished.splice(0)) {
      this.#inFlight.delete(sentBatch);
      const positions = sentBatch.batch.map(({ position }) => position);
      log.debug({ sink: sink.name, positions, result }, 'result of a batch');
      for (const { eventKey } of sentBatch.batch) this.#busy.delete(eventKey);
      // A result that a stop interrupted proves nothing about the sink.
      const counts = sentBatch.streamId === streamId && (!stopping || result.kind === 'delivered');
      if (counts) this.#tracker.handleResult(sentBatch, result);
    }
  }

  /** A new stream: at the start, and when the outbox was archived. Nothing of the old one may be sent or settled any more. */
  #begin(streamId: string): void {
    const { sink, outbox, clock, isUrgent } = this.#options;
    if (this.#streamId !== null) this.#tracker.forget();
    this.#streamId = streamId;
    this.#comparedAt = clock.monotonicMs();
    const now = clock.now().getTime();
    // What is urgent for this VM may be the newest of a long backlog.
    const own = [...outbox.state.events].filter(([, { open, affectsUs }]) => open && affectsUs);
    const onlyEvents = new Set(own.map(([eventKey]) => eventKey));
    const ofOwnEvents = outbox.pending(sink.name, { limit: mostOfOwnEvents, onlyEvents });
    for (const { json, eventKey, position } of [...this.#backlog.load(), ...ofOwnEvents]) {
      const record = recordOf({ json });
      const isFresh = record !== null && now - Date.parse(record.observedAt) < freshMs;
      if (isFresh && isUrgent(record)) this.#urgency.note(eventKey, { position, isOwn: record.observerAffected });
    }
  }

  #launch(now: number, signal: AbortSignal): void {
    this.#loadUrgent(now);
    this.#launchOutOfTurn(now, signal);
    if (this.#tracker.pace().pausedUntil > now) return;
    // A probe is to find any record that gets through: not only among those that fill the memory.
    if (this.#backlog.records() - this.#recordsInFlight() < lowWater || this.#tracker.pace().step > 0)
      this.#loadMore(now);
    const status = (eventKey: string) => this.#tracker.status(eventKey, now);
    const records = Math.min(this.#options.sink.limits.records, this.#tracker.pace().concurrencyLimit);
    do this.#startBatches({ status, slots: this.#slots(), records }, now, false, signal);
    while (this.#slots() > 0 && this.#loadMore(now));
  }

  /** One attempt for what is urgent, where its ordinary turn does not come at once. */
  #launchOutOfTurn(now: number, signal: AbortSignal): void {
    const { sink } = this.#options;
    const due = this.#urgency.due(now);
    const mustWait = (eventKey: string): boolean => this.#tracker.status(eventKey, now) === 'held';
    const inTurn = this.#tracker.pace().pausedUntil <= now && this.#slots() > 0 && ![...due].some(mustWait);
    if (due.size === 0 || inTurn) return;
    const status = (eventKey: string) => (due.has(eventKey) ? this.#tracker.isolatedOrReady(eventKey) : 'held');
    const slots = Math.min(1, sink.inFlight - this.#inFlight.size);
    this.#startBatches({ status, slots, records: sink.limits.records }, now, true, signal);
  }

  #startBatches(
    allowed: Pick<BatchRequest, 'status' | 'slots' | 'records'>,
    now: number,
    outOfTurn: boolean,
    signal: AbortSignal,
  ): void {
    const { batchBy, limits } = this.#options.sink;
    const batches = nextBatches({
      queues: this.#backlog.queues,
      busy: this.#busy,
      urgent: this.#urgency.events(),
      batchBy,
      bytes: limits.bytes,
      probing: this.#tracker.pace().step > 0,
      ...allowed,
    });
    const { generation, concurrencyLimit } = this.#tracker.pace();
    const { streamId } = this.#options.outbox.state;
    const delivered = this.#tracker.delivered();
    for (const batch of batches) {
      const sentBatch = { batch, streamId, delivered, generation, concurrencyLimit, outOfTurn };
      const eventKeys = new Set(batch.map(({ eventKey }) => eventKey));
      for (const eventKey of eventKeys) this.#busy.add(eventKey);
      this.#inFlight.add(sentBatch);
      this.#urgency.tried(eventKeys, now, outOfTurn);
      faultPoint('before-send');
      void send(batch, this.#options, signal).then((result) => {
        faultPoint('result-arrived');
        this.#finished.push({ sentBatch, result });
        this.#notifier.notify();
      });
    }
  }

  #recordsInFlight(): number {
    return [...this.#inFlight].reduce((sum, { batch }) => sum + batch.length, 0);
  }

  /** How many batches the pace lets start now. */
  #slots(): number {
    return Math.min(this.#options.sink.inFlight, this.#tracker.pace().concurrencyLimit) - this.#inFlight.size;
  }

  #loadMore(now: number): boolean {
    if (!this.#backlog.hasMore()) return false;
    // What is delivered but not yet settled would be read, and sent, once more.
    this.#settle();
    const { step } = this.#tracker.pace();
    const idle = (eventKey: string): boolean =>
      !this.#busy.has(eventKey) && (step > 0 || this.#tracker.status(eventKey, now) === 'held');
    return this.#backlog.load(idle).length > 0;
  }

  /** Urgent events are loaded as a whole, wherever in the backlog they are. */
  #loadUrgent(now: number): void {
    const missing = [...this.#urgency.events()].filter((eventKey) => !this.#backlog.queues.has(eventKey));
    const wanted = [...missing, ...this.#urgency.due(now)];
    if (wanted.length === 0) return;
    this.#settle();
    this.#backlog.loadEvents(wanted);
    for (const eventKey of missing) {
      // Purged or expired.
      if (!this.#backlog.queues.has(eventKey)) this.#urgency.settled(eventKey, Number.POSITIVE_INFINITY);
    }
  }

  #settle(): void {
    const { sink, outbox } = this.#options;
    const updates = this.#tracker.takeUpdates();
    if (updates.length > 0) outbox.settle(sink.name, updates, this.#tracker.progress());
  }

  #logStatus(): void {
    const { sink, outbox } = this.#options;
    const waiting = (): number => outbox.counters()[sink.name]?.pending ?? 0;
    this.#statusLog.status(this.#failing(), this.#tracker.delivered(), waiting);
  }

  /** Unchanged while the one batch is in flight that decides whether the record or the sink is at fault. */
  #failing(): SinkProgress | null {
    const failing = this.#tracker.failing(this.#options.clock.monotonicMs());
    const isDecided = failing === null || this.#tracker.pace().step > 0 || this.#inFlight.size === 0;
    if (isDecided) this.#lastFailing = failing;
    return this.#lastFailing;
  }

  #rest(launchedAt: number): number {
    if (this.#backlog.queues.size === 0 && !this.#backlog.hasMore()) {
      this.#tracker.allDone();
      return Number.POSITIVE_INFINITY;
    }
    const waitMs = this.#dueMs(launchedAt);
    return Number.isFinite(waitMs) ? waitMs : compareEveryMs;
  }

  /** Until something may be sent that was not allowed at `launchedAt`. What came due since then, while the outbox wrote, is due now. */
  #dueMs(launchedAt: number): number {
    return Math.max(0, this.#tracker.nextDueAt(launchedAt) - this.#options.clock.monotonicMs());
  }

  #appended(records: readonly ParsedEntry['record'][]): void {
    for (const record of records) {
      const eventKey = record.eventId.toLowerCase();
      this.#backlog.appended(eventKey);
      const { position, observerAffected: isOwn } = record;
      if (this.#options.isUrgent(record)) this.#urgency.note(eventKey, { position, isOwn });
    }
    this.#notifier.notify();
  }

  #compare(): void {
    this.#comparedAt = this.#options.clock.monotonicMs();
    this.#backlog.compare((eventKey) => !this.#busy.has(eventKey));
  }
}
