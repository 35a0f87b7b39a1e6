import { type Decision, decide } from './decide.ts';
import type { DecisionContext } from './decision-context.ts';
import { changed, isGap, previousSighting, resetWindowMs } from './facts.ts';
import type { HostImpact } from './impact.ts';
import { isoAfter, isWithin, lostBetween, type Moment, msBetween } from './moment.ts';
import { momentOf, type Observation, offsetOf, steadyOffset } from './observation.ts';
import { isPauseMeasured, pauseBetween } from './pause.ts';
import type { LifecycleRecord } from './record.ts';
import type { HostEvidence, Observer, PollResult } from './scheduled-event.ts';
import type { Scope } from './scope.ts';
import { isSnapshotDue, snapshotRecord } from './snapshot.ts';
import type { LifecycleState, Unbooked } from './state.ts';
import { bufferUndecided } from './undecided.ts';

/** Everything besides the answer of the poll that decides a transition. */
export interface TransitionInput {
  readonly host: HostEvidence;
  /** Null until the observer is known: documents are then stored and decided in order once it is. */
  readonly observer: Observer | null;
  readonly scope: Scope;
  /** A longer time than this since the previous valid document is a gap. */
  readonly gapAfterMs: number;
  /** For this long after Scheduled Events was enabled, its list may be incomplete. */
  readonly enablingMs: number;
  readonly bridgeVersion: string;
  readonly at: Date;
  /** Of the monotonic clock, comparable within a boot of the machine. */
  readonly monotonicMs: number;
}

/** The result of one poll: its answer, the new state and the records to publish. */
export interface Transition {
  readonly pollResult: PollResult;
  readonly state: LifecycleState;
  readonly records: readonly LifecycleRecord[];
  /** Number of events that are new, and of those that affect this VM from now on. */
  readonly appeared: Decision['appeared'];
}

/** A gap: polls were missed for longer than a slow answer takes. */
export const gapAfterMs = (pollIntervalSeconds: number): number => Math.max(10_000, 3000 * pollIntervalSeconds);

/**
 * The whole lifecycle as one pure function: from the state, the answer of a poll and the circumstances to the new state and
 * the records to publish. The same input gives the same records with the same ids, so a crash between two polls
 * neither loses nor doubles a step.
 */
export function transition(state: LifecycleState, seen: PollResult, input: TransitionInput): Transition {
  const { observer } = input;
  if (!observer) return { pollResult: seen, ...withoutRecords(bufferUndecided(state, seen, input)) };
  const known = { ...input, observer };
  const observations = [...state.undecided];
  const now = observationOf(state, seen, input);
  if (now) observations.push(now);
  let result = withoutRecords(state.undecided.length > 0 ? { ...state, undecided: [] } : state);
  if (!now) result = withoutRecords(withoutDocument(result.state, input));
  for (const observation of observations) result = join(result, decideObservation(result.state, observation, known));
  if (!now) return { pollResult: seen, ...result };
  const lastDocument = momentOf(now, result.state.clockOffsetSeconds);
  return { pollResult: seen, ...result, state: { ...result.state, lastDocumentAt: now.at, lastDocument } };
}

type TransitionResult = Omit<Transition, 'pollResult'>;

const withoutRecords = (state: LifecycleState): TransitionResult => ({
  state,
  records: [],
  appeared: { seen: 0, ours: 0 },
});

const join = (before: TransitionResult, after: TransitionResult): TransitionResult => ({
  state: after.state,
  records: [...before.records, ...after.records],
  appeared: {
    seen: before.appeared.seen + after.appeared.seen,
    ours: before.appeared.ours + after.appeared.ours,
  },
});

/** The result of this poll as an observation; null if it has no document, or refers to one that is not known here. */
function observationOf(
  state: LifecycleState,
  seen: PollResult,
  { at, monotonicMs, host }: TransitionInput,
): Observation | null {
  if (seen.kind === 'unavailable') return null;
  const observation = {
    at: at.toISOString(),
    monotonicMs,
    previousDocumentAt: state.lastDocumentAt,
    previousDocument: state.lastDocument,
    azureTime: seen.azureTime?.toISOString() ?? null,
    clockOffsetSeconds: seen.clockOffsetSeconds,
    host,
  };
  if (seen.kind === 'document') return { ...observation, document: seen.document, imdsApiVersion: seen.imdsApiVersion };
  const isHeld = state.imdsApiVersion !== null || state.undecided.length > 0;
  return isHeld ? { ...observation, document: null, imdsApiVersion: state.imdsApiVersion ?? '' } : null;
}

/** No observation: what the machine measured is kept until a document shows to which event it belongs. */
function withoutDocument(state: LifecycleState, input: TransitionInput): LifecycleState {
  const { at, monotonicMs, host } = input;
  const unanswered = { azureTime: null, clockOffsetSeconds: null, previousDocument: state.lastDocument };
  const poll = { at: at.toISOString(), monotonicMs, host, ...unanswered };
  const moment = momentOf(poll, offsetOf(poll, state.clockOffsetSeconds));
  const isPaused = isPauseMeasured(host);
  const hasBooted = changed(state.unbooked?.booted?.bootId ?? state.bootId, host.bootId);
  if (!isPaused && !hasBooted) return state;
  const measured = measuredWith(state.unbooked, host);
  return {
    ...state,
    unbooked: {
      ...measured,
      pausedUntil: state.unbooked?.pausedUntil ?? (isPaused ? moment : null),
      booted: state.unbooked?.booted ?? (hasBooted ? moment : null),
      outage: state.unbooked?.outage ?? null,
    },
  };
}

/** The sum of what was kept and what was measured since. */
function measuredWith(
  kept: Unbooked | null,
  { tick, wallStepMs }: HostEvidence,
): Pick<Unbooked, 'tick' | 'wallStepMs'> {
  const [one, other] = [kept?.tick ?? null, tick];
  const both =
    one && other ? { longestMs: Math.max(one.longestMs, other.longestMs), totalMs: one.totalMs + other.totalMs } : null;
  return { tick: both ?? one ?? other, wallStepMs: (kept?.wallStepMs ?? 0) + wallStepMs };
}

// assumption: imds-list-incomplete, imds-off-after-a-day
/** Azure disables Scheduled Events after a day without a request; once enabled again, its list is empty for a while. */
const switchedOffAfterMs = 24 * 3_600_000;

/** After a boot on another host nothing has to be enabled, so the list is complete sooner. */
const emptyAfterMoveMs = 60_000;

function decideObservation(
  state: LifecycleState,
  observation: Observation,
  input: TransitionInput & { readonly observer: Observer },
): TransitionResult {
  const incarnation = observation.document?.incarnation ?? state.incarnation ?? 0;
  const observedOffset = offsetOf(observation, state.clockOffsetSeconds);
  const clockOffset = steadyOffset(state.clockOffsetSeconds, observedOffset);
  const moment = momentOf(observation, clockOffset);
  const isReset = state.incarnation !== null && incarnation < state.incarnation;
  const reset = isReset ? moment : state.reset;
  const wasOff =
    observation.previousDocument === null || msBetween(observation.previousDocument, moment) > switchedOffAfterMs;
  const enabled = wasOff ? moment : state.enabled;
  const elsewhere = mayBeElsewhere(state, observation.host, incarnation) ? moment : state.elsewhere;
  const imdsApiVersion = observation.document
    ? observation.imdsApiVersion
    : (state.imdsApiVersion ?? observation.imdsApiVersion);
  const previous = previousSighting(state, observation.previousDocumentAt, observation.previousDocument);
  const unreadable = observation.document?.unreadable ?? state.unreadable;
  const gap = isGap(previous, moment, input.gapAfterMs);
  const isAfterReset = isWithin(reset, moment, resetWindowMs);
  const context: DecisionContext = {
    ...observation,
    imdsApiVersion,
    clockOffsetSeconds: observedOffset ?? clockOffset,
    observer: input.observer,
    streamId: state.streamId,
    bridgeVersion: input.bridgeVersion,
    position: state.position,
    moment,
    azureTime: observation.azureTime ?? moment.azureAt,
    incarnation,
    incarnationStep: state.incarnationStep ?? 1,
    previous,
    gap,
    wasHidden: state.unreadable > unreadable,
    unreadable,
    reset: isAfterReset,
    settling: isAfterReset || isWithin(enabled, moment, input.enablingMs - 1),
    mayHaveMoved: isWithin(elsewhere, moment, Math.min(input.enablingMs, emptyAfterMoveMs) - 1),
    impact: impactOf(state, observation, { moment, gap, incarnation, clockOffset }),
    scope: input.scope,
    gapAfterMs: input.gapAfterMs,
    approved: state.approved,
  };
  const { events, records: stepRecords, appeared, isOutageBooked } = decide(state.events, context);
  const after: LifecycleState = {
    ...state,
    incarnation,
    incarnationStep: smallestStep(state, incarnation),
    bootId: observation.host.bootId,
    physicalHost: observation.host.physicalHost,
    clockOffsetSeconds: clockOffset,
    imdsApiVersion,
    hidden: unreadable > 0,
    unreadable,
    resetAt: isReset ? observation.at : state.resetAt,
    reset,
    enabled,
    elsewhere,
    unbooked: isOutageBooked ? null : unexplained(state.unbooked, context.impact, moment),
    events,
  };
  const position = state.position + stepRecords.length;
  const snapshot = isSnapshotDue(after, moment) ? [snapshotRecord(after, context, position + 1)] : [];
  const records = [...stepRecords, ...snapshot];
  const snapshotDue = after.snapshotDue && snapshot.length === 0;
  return { state: { ...after, snapshotDue, position: state.position + records.length }, records, appeared };
}

/** Keeps an outage that no event explains for five minutes. */
function unexplained(kept: Unbooked | null, { outageSeconds }: HostImpact, now: Moment): Unbooked | null {
  const outage = outageSeconds === null ? (kept?.outage ?? null) : { seconds: outageSeconds, over: now };
  if (outage === null || !isWithin(outage.over, now, resetWindowMs)) return null;
  const isSame = kept?.outage === outage && kept.tick === null && kept.wallStepMs === 0 && kept.booted === null;
  return isSame ? kept : { tick: null, wallStepMs: 0, pausedUntil: null, booted: null, outage };
}

/** A pause began after the observation before the one that shows it. */
const latest = (previous: Moment | null, began: string): string =>
  previous !== null && previous.azureAt > began ? previous.azureAt : began;

function smallestStep({ incarnation: before, incarnationStep }: LifecycleState, incarnation: number): number | null {
  if (before === null || incarnation <= before) return incarnationStep;
  return Math.min(incarnationStep ?? Number.POSITIVE_INFINITY, incarnation - before);
}

// assumption: imds-incarnation-resets
/**
 * After a boot the VM may be on a host whose service restarts its counter. A lower incarnation shows that; the same one, as both may
 * have just begun, does not. If the host is known to be another one, no incarnation proves that the list is complete.
 */
function mayBeElsewhere(before: LifecycleState, { bootId, physicalHost }: HostEvidence, incarnation: number): boolean {
  const isSameHost = physicalHost !== null && physicalHost === before.physicalHost;
  const isOtherHost = changed(before.physicalHost, physicalHost);
  return changed(before.bootId, bootId) && (isOtherHost || (!isSameHost && incarnation === before.incarnation));
}

/** What the machine measured between the last valid document and this one. */
function impactOf(
  { incarnation: before, unbooked, clockOffsetSeconds, bootId, physicalHost }: LifecycleState,
  { host, previousDocument }: Observation,
  {
    moment,
    gap,
    incarnation,
    clockOffset,
  }: { moment: Moment; gap: boolean; incarnation: number; clockOffset: number | null },
): HostImpact {
  const measured = measuredWith(unbooked, host);
  const ourClockLostMs = measured.wallStepMs + 1000 * ((clockOffset ?? 0) - (clockOffsetSeconds ?? clockOffset ?? 0));
  // A clock that was set may be off by any amount, also after a boot: time lost to a pause is missing in the monotonic clock too.
  const monotonicLostMs = previousDocument === null ? 0 : lostBetween(previousDocument, moment);
  const pause = pauseBetween(
    { ...host, ...measured },
    {
      incarnationSkipped: before !== null && incarnation > before + 1,
      azureRanAheadMs: Math.min(ourClockLostMs, monotonicLostMs) - measured.wallStepMs,
    },
  );
  const booted = changed(bootId, host.bootId);
  const upSinceMs = unbooked?.booted?.bootId === host.bootId ? msBetween(unbooked.booted, moment) : 0;
  const outageMs = previousDocument && booted ? msBetween(previousDocument, moment) - upSinceMs : null;
  // If our clock went backwards across the boot and no answer had Azure's time, the outage cannot be measured.
  const outageSeconds = outageMs === null || outageMs < 0 ? null : outageMs / 1000;
  return {
    pause,
    pausedAt: pause && latest(previousDocument, isoAfter((unbooked?.pausedUntil ?? moment).azureAt, -pause.totalMs)),
    booted,
    outageSeconds,
    earlierOutageSeconds: unbooked?.outage?.seconds ?? null,
    moved: changed(physicalHost, host.physicalHost),
    previousAt: !gap || booted ? (previousDocument?.azureAt ?? null) : null,
  };
}
