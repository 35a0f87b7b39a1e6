import type { Clock } from '../clock.ts';
import { faultPoint } from '../fault-point.ts';
import { type DeliveryUpdate, noProgress, type PendingDelivery, type SinkProgress } from '../outbox/outbox.ts';
import type { SendResult } from '../sinks/sink.ts';
import type { Backlog } from './backlog.ts';
import { backoffMs, type Cause, longestRetryAfterMs } from './backoff.ts';
import type { Batch } from './batch.ts';
import {
  afterRefusal,
  afterRetry,
  type EventBackoff,
  isHopeless,
  isIsolated,
  released,
  wasRefused,
} from './event-backoff.ts';
import { afterFailure, afterSuccess, isNewFailure, type Sent, startingPace } from './pace.ts';
import { type BatchDecision, settle } from './settle.ts';
import { shorten } from './shorten.ts';
import type { StatusLog } from './status-log.ts';
import type { Urgency } from './urgency.ts';

/** After this many consecutive refusals of records, none accepted, the sink is paused for a while. */
const refusalsOfAFailingSink = 3;

/** A batch in flight, and what was so when it was sent. */
export interface InFlightBatch extends Sent {
  readonly batch: Batch;
  /** Another stream means that the outbox was archived meanwhile: its positions mean other records now. */
  readonly streamId: string;
  /** Batches that had got through before. */
  readonly delivered: number;
}

type Refusal = Pick<Extract<BatchDecision, { kind: 'dead' }>, 'code' | 'reason'>;

/** What the relay knows about its sink and about the events on their way to it, updated by the result of each batch. */
export function createDeliveryTracker(parts: {
  readonly backlog: Backlog;
  readonly urgency: Urgency;
  readonly statusLog: StatusLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly full: number;
  readonly stored: SinkProgress;
}) {
  const { backlog, urgency, statusLog, clock, random, full, stored } = parts;
  const backoffs = new Map<string, EventBackoff>();
  const deadLetterCounts: Record<string, number> = {};
  let updates: DeliveryUpdate[] = [];
  const pauseMs = storedPauseMs(stored, clock);
  const wallTime = (inMs = 0): string => new Date(clock.now().getTime() + inMs).toISOString();
  /** Without the times and steps of `pace`. */
  let results = stored;
  let pace = startingPace(stored.step, clock.monotonicMs() + pauseMs);
  let delivered = 0;
  let refusals = 0;

  const moment = () => ({ at: clock.monotonicMs(), delivered, random });

  const done = (batch: Batch): void => {
    backlog.remove(batch);
    for (const { eventKey, position } of batch) {
      urgency.settled(eventKey, position);
      backoffs.delete(eventKey);
    }
  };

  const noteError = ({ code, reason }: Refusal, batch: Batch, state: 'pending' | 'dead'): void => {
    results = { ...results, lastErrorAt: wallTime(), lastErrorCode: code, lastErrorReason: reason };
    for (const delivery of batch) {
      delivery.attempts += 1;
      updates.push({ position: delivery.position, state, code, reason });
    }
  };

  const noteFailure = (sentBatch: InFlightBatch, cause: Cause, retryAfterMs = 0): void => {
    const now = clock.monotonicMs();
    const isNew = isNewFailure(pace, sentBatch);
    const pauseMs = isNew
      ? backoffMs(pace.step + 1, cause, random, retryAfterMs)
      : Math.min(retryAfterMs, longestRetryAfterMs);
    pace = afterFailure(pace, now + pauseMs, isNew);
  };

  /** With the next attempt: also where the sink is not paused, but every event that failed is held. */
  const progress = (): SinkProgress => {
    const now = clock.monotonicMs();
    const held = [...backoffs.values()].map(({ heldUntil }) => heldUntil).filter((time) => time > now);
    const next = pace.pausedUntil > now ? pace.pausedUntil : Math.min(...held);
    return { ...results, step: pace.step, retryAt: Number.isFinite(next) ? wallTime(next - now) : null };
  };

  const clearAllFailures = (): void => {
    backoffs.clear();
    refusals = 0;
  };

  const onDelivered = (sentBatch: InFlightBatch): void => {
    for (const { position } of sentBatch.batch) updates.push({ position, state: 'delivered' });
    done(sentBatch.batch);
    delivered += 1;
    refusals = 0;
    for (const [eventKey, backoff] of backoffs) backoffs.set(eventKey, released(backoff));
    pace = afterSuccess(pace, sentBatch, full);
    results = { ...results, lastSuccessAt: wallTime() };
  };

  const onRetry = (sentBatch: InFlightBatch, decision: Extract<BatchDecision, { kind: 'retry' }>): void => {
    noteError(decision, sentBatch.batch, 'pending');
    noteFailure(sentBatch, decision.cause, decision.retryAfterMs);
    if (sentBatch.outOfTurn) return;
    for (const eventKey of new Set(sentBatch.batch.map((delivery) => delivery.eventKey))) {
      backoffs.set(eventKey, afterRetry(backoffs.get(eventKey), moment()));
    }
  };

  const onSuspected = (sentBatch: InFlightBatch, delivery: PendingDelivery, refusal: Refusal): void => {
    noteError(refusal, [delivery], 'pending');
    backlog.isolate([delivery]);
    refusals += 1;
    backoffs.set(delivery.eventKey, afterRefusal(backoffs.get(delivery.eventKey), delivery.position, moment()));
    if (refusals >= refusalsOfAFailingSink) noteFailure(sentBatch, 'configuration');
  };

  const onDead = (delivery: PendingDelivery, refusal: Refusal): void => {
    const { code, reason } = refusal;
    noteError(refusal, [delivery], 'dead');
    statusLog.deadLetter(delivery.position, code, reason);
    deadLetterCounts[code] = (deadLetterCounts[code] ?? 0) + 1;
    faultPoint('dead-letter');
    done([delivery]);
  };

  const halve = (batch: Batch): void => {
    const middle = Math.ceil(batch.length / 2);
    backlog.isolate(batch.slice(0, middle));
    backlog.isolate(batch.slice(middle));
  };

  const isolatedOrReady = (eventKey: string): 'ready' | 'isolated' =>
    isIsolated(backoffs.get(eventKey)) ? 'isolated' : 'ready';

  return {
    handleResult(sentBatch: InFlightBatch, result: SendResult): void {
      const { batch } = sentBatch;
      const [delivery] = batch;
      if (!delivery) return;
      const { eventKey, position, appendedAt } = delivery;
      const isTooLarge = batch.length === 1 && result.kind === 'rejected' && result.cause === 'too-large';
      const shorter = isTooLarge ? shorten(delivery.json) : null;
      const suspects = [...backoffs.values()].filter(({ suspect }) => suspect !== null).length;
      const ageMs = clock.now().getTime() - Date.parse(appendedAt);
      const attempt = {
        records: batch.length,
        canShorten: shorter !== null,
        refusedBefore: wasRefused(backoffs.get(eventKey), position, sentBatch.delivered),
        isHopeless: isHopeless(backoffs.get(eventKey), { position, ageMs, suspects }),
      };
      const decision = settle(attempt, result);
      if (decision.kind === 'delivered') onDelivered(sentBatch);
      else if (decision.kind === 'retry') onRetry(sentBatch, decision);
      else if (decision.kind === 'halved') halve(batch);
      else if (decision.kind === 'suspected') onSuspected(sentBatch, delivery, decision);
      else if (decision.kind === 'dead') onDead(delivery, decision);
      else if (shorter) delivery.json = shorter;
    },
    pace: () => pace,
    /** Batches that got through. */
    delivered: () => delivered,
    status: (eventKey: string, now: number): 'ready' | 'isolated' | 'held' =>
      (backoffs.get(eventKey)?.heldUntil ?? now) > now ? 'held' : isolatedOrReady(eventKey),
    isolatedOrReady,
    /** Null: nothing is wrong. */
    failing: (now: number): SinkProgress | null =>
      pace.step === 0 && pace.pausedUntil <= now && refusals === 0 ? null : progress(),
    /** When something may be sent that may not be sent now; infinite when nothing waits for time. */
    nextDueAt(now: number): number {
      const times = [pace.pausedUntil, urgency.dueAt() ?? now];
      // While the sink is paused as a whole, no single event's time matters.
      if (pace.pausedUntil <= now) for (const { heldUntil } of backoffs.values()) times.push(heldUntil);
      return Math.min(...times.filter((time) => time > now));
    },
    /** What has to be settled, once. */
    takeUpdates(): readonly DeliveryUpdate[] {
      const taken = updates;
      updates = [];
      return taken;
    },
    progress,
    /** Records that were refused permanently, by code. */
    deadLetterCounts: (): Readonly<Record<string, number>> => ({ ...deadLetterCounts }),
    /** The sink may be tried at once, if its last failure has ended. */
    resume(isOver: (code: string) => boolean): void {
      if (!isOver(results.lastErrorCode ?? '')) return;
      const now = clock.monotonicMs();
      pace = { ...pace, pausedUntil: now };
      for (const [eventKey, backoff] of backoffs) backoffs.set(eventKey, { ...backoff, heldUntil: now });
    },
    /** Nothing is left: the failures of single events went with it. */
    allDone: clearAllFailures,
    /** The stream is another one: its events are not these. */
    forget(): void {
      backlog.forget();
      urgency.forget();
      clearAllFailures();
      // How long another VM had to wait is no reason for this one to.
      results = noProgress;
      pace = startingPace(0, clock.monotonicMs());
    },
  };
}

/**
 * What is left of the pause that was stored. The wall clock may have been stepped since: a pause is never longer than it
 * was when it began, which is when the error that caused it was noted.
 */
function storedPauseMs({ step, retryAt, lastErrorAt }: SinkProgress, clock: Clock): number {
  if (step === 0 || retryAt === null || lastErrorAt === null) return 0;
  const until = Date.parse(retryAt);
  const left = Math.min(until - clock.now().getTime(), until - Date.parse(lastErrorAt), longestRetryAfterMs);
  return Number.isFinite(left) ? Math.max(0, left) : 0;
}
