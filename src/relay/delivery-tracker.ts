import type { Clock } from '../clock.ts';
import { type DeliveryUpdate, noProgress, type SinkProgress } from '../outbox/outbox.ts';
import type { SendResult } from '../sinks/sink.ts';
import type { Backlog } from './backlog.ts';
import { backoff, type Cause, longestRetryAfterMs } from './backoff.ts';
import type { Waiting } from './batch.ts';
import {
  afterRefusal,
  afterRetry,
  type EventBackoff,
  isHopeless,
  isIsolated,
  released,
  wasRefused,
} from './event-backoff.ts';
import { afterFailure, afterStaleFailure, afterSuccess, counts, type Pace, type Sent, startingPace } from './pace.ts';
import { settle } from './settle.ts';
import { shorten } from './shorten.ts';
import type { Failing, StatusLog } from './status-log.ts';
import type { Urgency } from './urgency.ts';

/** So many refusals of records one after the other, none accepted: the sink is left alone for a while. */
const refusalsOfASickSink = 3;

/** A batch on its way, and what was so when it was sent. */
export interface InFlightBatch extends Sent {
  readonly batch: readonly Waiting[];
  /** Another stream means that the outbox was archived meanwhile: its positions mean other records now. */
  readonly streamId: string;
  /** Batches that had got through before. */
  readonly delivered: number;
}

/** What the relay knows of its sink and of the events on their way to it, kept up to date by what became of each batch. */
export interface DeliveryTracker {
  handleResult(sentBatch: InFlightBatch, result: SendResult): void;
  pace(): Pace;
  /** Batches that got through. */
  delivered(): number;
  status(eventKey: string, now: number): 'ready' | 'isolated' | 'held';
  isolatedOrReady(eventKey: string): 'ready' | 'isolated';
  /** Null: nothing is wrong. */
  failing(now: number): Failing | null;
  /** How long until something may be sent that may not be sent now; endless when nothing waits for time. */
  nextDueMs(now: number): number;
  /** Outcomes that nobody has taken. */
  unwritten(): number;
  /** What has to be written, once. */
  takeOutcomes(): readonly DeliveryUpdate[];
  progress(): SinkProgress;
  /** Records that were refused for ever, by code. */
  deadLetterCounts(): Readonly<Record<string, number>>;
  /** The sink may be asked at once, if what it failed for last is over. */
  resume(isOver: (code: string) => boolean): void;
  /** Nothing is left: what was held against single events went with them. */
  allDone(): void;
  /** The stream is another one: its events are not these. */
  forget(): void;
}

interface Refusal {
  readonly code: string;
  readonly reason: string;
}

export function createDeliveryTracker(parts: {
  readonly backlog: Backlog;
  readonly urgency: Urgency;
  readonly statusLog: StatusLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly full: number;
  readonly stored: SinkProgress;
}): DeliveryTracker {
  const { backlog, urgency, statusLog, clock, random, full, stored } = parts;
  const backoffs = new Map<string, EventBackoff>();
  const suspects = new Set<string>();
  const deadLetterCounts: Record<string, number> = {};
  let outcomes: DeliveryUpdate[] = [];
  const pauseMs = storedPauseMs(stored, clock);
  let progress = pauseMs > 0 ? { ...stored, retryAt: new Date(clock.now().getTime() + pauseMs).toISOString() } : stored;
  let pace = startingPace(stored.step, clock.monotonicMs() + pauseMs);
  let delivered = 0;
  let refusals = 0;

  const wallTime = (): string => clock.now().toISOString();
  const moment = () => ({ at: clock.monotonicMs(), delivered, random });

  const clearFailures = (eventKey: string): void => {
    backoffs.delete(eventKey);
    suspects.delete(eventKey);
  };

  const done = (batch: readonly Waiting[]): void => {
    backlog.remove(batch);
    for (const { eventKey, position } of batch) {
      urgency.settled(eventKey, position);
      clearFailures(eventKey);
    }
  };

  const noteError = ({ code, reason }: Refusal, batch: readonly Waiting[]): void => {
    progress = { ...progress, lastErrorAt: wallTime(), lastErrorCode: code, lastErrorReason: reason };
    for (const entry of batch) {
      entry.attempts += 1;
      outcomes.push({ position: entry.position, outcome: 'attempted', code, reason });
    }
  };

  const noteFailure = (sentBatch: InFlightBatch, cause: Cause, retryAfterMs = 0): void => {
    const now = clock.monotonicMs();
    const isNews = counts(pace, sentBatch);
    const next = backoff(pace.step).next();
    const pauseMs = isNews ? next.pauseMs(cause, random, retryAfterMs) : Math.min(retryAfterMs, longestRetryAfterMs);
    pace = isNews ? afterFailure(pace, now + pauseMs) : afterStaleFailure(pace, now + pauseMs);
    const retryAt = new Date(clock.now().getTime() + Math.max(0, pace.pausedUntil - now)).toISOString();
    progress = { ...progress, step: pace.step, retryAt: pace.pausedUntil > now ? retryAt : null };
  };

  const clearAllFailures = (): void => {
    backoffs.clear();
    suspects.clear();
    refusals = 0;
  };

  const onDelivered = (sentBatch: InFlightBatch): void => {
    for (const { position } of sentBatch.batch) outcomes.push({ position, outcome: 'delivered' });
    done(sentBatch.batch);
    delivered += 1;
    refusals = 0;
    for (const eventKey of suspects) {
      const backoff = backoffs.get(eventKey);
      if (backoff) backoffs.set(eventKey, released(backoff));
    }
    pace = afterSuccess(pace, sentBatch, full);
    progress = {
      ...progress,
      lastSuccessAt: wallTime(),
      step: pace.step,
      retryAt: pace.step > 0 ? progress.retryAt : null,
    };
  };

  const onKept = (sentBatch: InFlightBatch, failure: Refusal & { cause: Cause; retryAfterMs?: number }): void => {
    noteError(failure, sentBatch.batch);
    noteFailure(sentBatch, failure.cause, failure.retryAfterMs);
    if (sentBatch.outOfTurn) return;
    for (const eventKey of new Set(sentBatch.batch.map((entry) => entry.eventKey))) {
      backoffs.set(eventKey, afterRetry(backoffs.get(eventKey), moment()));
    }
  };

  const onSuspected = (sentBatch: InFlightBatch, entry: Waiting, refusal: Refusal): void => {
    noteError(refusal, [entry]);
    backlog.isolate([entry]);
    refusals += 1;
    suspects.add(entry.eventKey);
    backoffs.set(entry.eventKey, afterRefusal(backoffs.get(entry.eventKey), entry.position, moment()));
    if (refusals >= refusalsOfASickSink) noteFailure(sentBatch, 'configuration');
  };

  const onDead = (entry: Waiting, { code, reason }: Refusal): void => {
    progress = { ...progress, lastErrorAt: wallTime(), lastErrorCode: code, lastErrorReason: reason };
    outcomes.push({ position: entry.position, outcome: 'dead', code, reason });
    statusLog.dead(entry.position, code, reason);
    deadLetterCounts[code] = (deadLetterCounts[code] ?? 0) + 1;
    done([entry]);
  };

  const halve = (batch: readonly Waiting[]): void => {
    const middle = Math.ceil(batch.length / 2);
    backlog.isolate(batch.slice(0, middle));
    backlog.isolate(batch.slice(middle));
  };

  const isolatedOrReady = (eventKey: string): 'ready' | 'isolated' => {
    const backoff = backoffs.get(eventKey);
    return backoff && isIsolated(backoff) ? 'isolated' : 'ready';
  };

  return {
    handleResult(sentBatch, result) {
      const [entry] = sentBatch.batch;
      if (!entry) return;
      const tooLarge = sentBatch.batch.length === 1 && result.kind === 'rejected' && result.cause === 'too-large';
      const shorter = tooLarge ? shorten(entry.json) : null;
      const decision = settle(
        {
          records: sentBatch.batch.length,
          canShorten: shorter !== null,
          refusedBefore: wasRefused(backoffs.get(entry.eventKey), entry.position, sentBatch.delivered),
          isHopeless: isHopeless(backoffs.get(entry.eventKey), {
            position: entry.position,
            ageMs: clock.now().getTime() - Date.parse(entry.appendedAt),
            suspects: suspects.size,
          }),
        },
        result,
      );
      if (decision.kind === 'delivered') onDelivered(sentBatch);
      else if (decision.kind === 'kept') onKept(sentBatch, decision);
      else if (decision.kind === 'halved') halve(sentBatch.batch);
      else if (decision.kind === 'suspected') onSuspected(sentBatch, entry, decision);
      else if (decision.kind === 'dead') onDead(entry, decision);
      else if (shorter) backlog.replace(entry, shorter);
    },
    pace: () => pace,
    delivered: () => delivered,
    status: (eventKey, now) => ((backoffs.get(eventKey)?.heldUntil ?? now) > now ? 'held' : isolatedOrReady(eventKey)),
    isolatedOrReady,
    failing(now) {
      const { step, retryAt, lastErrorCode, lastErrorReason } = progress;
      if (pace.step === 0 && pace.pausedUntil <= now && refusals === 0) return null;
      return { code: lastErrorCode ?? 'unknown', reason: lastErrorReason ?? 'no reason is known', step, retryAt };
    },
    nextDueMs(now) {
      const times = [pace.pausedUntil, urgency.dueAt() ?? now];
      // While the sink is left alone as a whole, no single event's time matters.
      if (pace.pausedUntil <= now) for (const { heldUntil } of backoffs.values()) times.push(heldUntil);
      return Math.min(...times.filter((time) => time > now)) - now;
    },
    unwritten: () => outcomes.length,
    takeOutcomes() {
      const taken = outcomes;
      outcomes = [];
      return taken;
    },
    progress: () => progress,
    deadLetterCounts: () => ({ ...deadLetterCounts }),
    resume(isOver) {
      if (!isOver(progress.lastErrorCode ?? '')) return;
      const now = clock.monotonicMs();
      if (pace.step > 0) pace = { ...pace, pausedUntil: now };
      for (const [eventKey, backoff] of backoffs) backoffs.set(eventKey, { ...backoff, heldUntil: now });
    },
    allDone: clearAllFailures,
    forget() {
      backlog.forget();
      urgency.forget();
      clearAllFailures();
      // How long another VM had to wait is no reason for this one to.
      progress = noProgress;
      pace = startingPace(0, clock.monotonicMs());
    },
  };
}

/**
 * What is left of the pause that was stored. The wall clock may have been stepped since: a pause is never longer than it
 * was when it began, which is when the error that caused it was noted.
 */
function storedPauseMs({ step, retryAt, lastErrorAt }: SinkProgress, clock: Clock): number {
  if (step === 0 || retryAt === null) return 0;
  const until = Date.parse(retryAt);
  const length = lastErrorAt === null ? longestRetryAfterMs : until - Date.parse(lastErrorAt);
  const left = Math.min(until - clock.now().getTime(), length, longestRetryAfterMs);
  return Number.isFinite(left) ? Math.max(0, left) : 0;
}
