import { type Bench, type Decision, decide } from './decide.ts';
import type { Unplaced } from './describe.ts';
import { changed, isGap, previousSighting, resetWindowMs } from './facts.ts';
import type { HostImpact } from './impact.ts';
import { isoOf, type Look, lookAgain, momentOf, offsetOf, steadyOffset } from './look.ts';
import { isoAfter, isWithin, lostBetween, type Moment, msBetween } from './moment.ts';
import { isPauseMeasured, pauseBetween } from './pause.ts';
import type { LifecycleRecord } from './record.ts';
import type { HostEvidence, Observer, Seen } from './scheduled-event.ts';
import type { Scope } from './scope.ts';
import { setAside } from './set-aside.ts';
import { isSnapshotDue, snapshotRecord } from './snapshot.ts';
import type { LifecycleState, Unbooked } from './state.ts';

/** Everything beside the document that a turn is decided with. */
export interface Given {
  readonly host: HostEvidence;
  /** Null until the observer is known: documents are then set aside and decided, in order, once it is. */
  readonly observer: Observer | null;
  readonly scope: Scope;
  /** More than this since the previous valid document is a gap. */
  readonly gapAfterMs: number;
  /** So long after the service was switched on its list may still be incomplete. */
  readonly enablingMs: number;
  readonly bridgeVersion: string;
  readonly at: Date;
  /** Of a clock that nobody sets, comparable within a boot of the machine. */
  readonly monotonicMs: number;
}

/** One turn: what was seen, what to remember and what to tell. */
export interface Turn {
  readonly seen: Seen;
  readonly state: LifecycleState;
  readonly records: readonly LifecycleRecord[];
  /** Distinct events that came in sight in this turn, and those that affect this VM. */
  readonly appeared: Decision['appeared'];
}

/** A gap: polls were missed for longer than a slow answer takes. */
export const gapAfterMs = (pollIntervalSeconds: number): number => Math.max(10_000, 3000 * pollIntervalSeconds);

/**
 * The whole lifecycle as one pure function: what was remembered, what was seen, and the circumstances, to what to
 * remember and what to tell. The same input gives the same records with the same ids, so a crash between two turns
 * neither loses nor doubles a step.
 */
export function transition(state: LifecycleState, seen: Seen, given: Given): Turn {
  const { observer } = given;
  if (!observer) return { seen, ...nothingToTell(setAside(state, seen, given)) };
  const known = { ...given, observer };
  const looks = state.undecided.map(lookAgain);
  const now = lookNow(state, seen, given);
  if (now) looks.push(now);
  let told = nothingToTell(state.undecided.length > 0 ? { ...state, undecided: [] } : state);
  if (!now) told = nothingToTell(withoutDocument(told.state, given));
  for (const look of looks) told = join(told, decideLook(told.state, look, known));
  if (!now) return { seen, ...told };
  const lastDocument = momentOf(now, told.state.clockOffsetSeconds);
  return { seen, ...told, state: { ...told.state, lastDocumentAt: isoOf(given.at), lastDocument } };
}

type Told = Omit<Turn, 'seen'>;

const nothingToTell = (state: LifecycleState): Told => ({ state, records: [], appeared: { seen: 0, ours: 0 } });

const join = (before: Told, after: Told): Told => ({
  state: after.state,
  records: [...before.records, ...after.records],
  appeared: {
    seen: before.appeared.seen + after.appeared.seen,
    ours: before.appeared.ours + after.appeared.ours,
  },
});

/** The present answer as a look; null where it is no observation, or repeats a document that we do not hold. */
function lookNow(state: LifecycleState, seen: Seen, { at, monotonicMs, host }: Given): Look | null {
  if (seen.kind === 'unavailable') return null;
  const { azureTime, clockOffsetSeconds } = seen;
  const { lastDocumentAt: previousDocumentAt, lastDocument: previousDocument } = state;
  const look = { at, monotonicMs, previousDocumentAt, previousDocument, azureTime, clockOffsetSeconds, host };
  if (seen.kind === 'document') return { ...look, document: seen.document, imdsApiVersion: seen.imdsApiVersion };
  const isHeld = state.imdsApiVersion !== null || state.undecided.length > 0;
  return isHeld ? { ...look, document: null, imdsApiVersion: state.imdsApiVersion ?? '' } : null;
}

/** No observation: what the machine measured on itself is kept until a document tells to which event it belongs. */
function withoutDocument(state: LifecycleState, given: Given): LifecycleState {
  const { host } = given;
  const look = { ...given, azureTime: null, clockOffsetSeconds: null, previousDocument: state.lastDocument };
  const moment = momentOf(look, offsetOf(look, state.clockOffsetSeconds));
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

/** What was kept, and what was measured since. */
function measuredWith(
  kept: Unbooked | null,
  { tick, wallStepMs }: HostEvidence,
): Pick<Unbooked, 'tick' | 'wallStepMs'> {
  const [one, other] = [kept?.tick ?? null, tick];
  const both =
    one && other ? { longestMs: Math.max(one.longestMs, other.longestMs), totalMs: one.totalMs + other.totalMs } : null;
  return { tick: both ?? one ?? other, wallStepMs: (kept?.wallStepMs ?? 0) + wallStepMs };
}

/** The service is switched off after a day without a request, and its list is empty for a while when it comes back. */
const switchedOffAfterMs = 24 * 3_600_000;

/** After a boot on another host nothing has to be switched on, so the list is complete sooner. */
const emptyAfterMoveMs = 60_000;

function decideLook(state: LifecycleState, look: Look, given: Given & { readonly observer: Observer }): Told {
  const incarnation = look.document?.incarnation ?? state.incarnation ?? 0;
  const lookOffset = offsetOf(look, state.clockOffsetSeconds);
  const clockOffset = steadyOffset(state.clockOffsetSeconds, lookOffset);
  const moment = momentOf(look, clockOffset);
  const isReset = state.incarnation !== null && incarnation < state.incarnation;
  const reset = isReset ? moment : state.reset;
  const wasOff = look.previousDocument === null || msBetween(look.previousDocument, moment) > switchedOffAfterMs;
  const enabled = wasOff ? moment : state.enabled;
  const elsewhere = mayBeElsewhere(state, look.host, incarnation) ? moment : state.elsewhere;
  const imdsApiVersion = look.document ? look.imdsApiVersion : (state.imdsApiVersion ?? look.imdsApiVersion);
  const previous = previousSighting(state, look.previousDocumentAt, look.previousDocument);
  const unreadable = look.document?.unreadable ?? state.unreadable;
  const gap = isGap(previous, moment, given.gapAfterMs);
  const isAfterReset = isWithin(reset, moment, resetWindowMs);
  const bench: Bench = {
    facts: {
      at: look.at,
      moment,
      azureTime: look.azureTime ?? new Date(moment.azureAt),
      incarnation,
      incarnationStep: state.incarnationStep ?? 1,
      host: look.host,
      previous,
      gap,
      wasHidden: state.unreadable > unreadable,
      unreadable,
      reset: isAfterReset,
      settling: isAfterReset || isWithin(enabled, moment, given.enablingMs - 1),
      mayHaveMoved: isWithin(elsewhere, moment, Math.min(given.enablingMs, emptyAfterMoveMs) - 1),
    },
    circumstances: {
      at: look.at,
      observer: given.observer,
      host: look.host,
      streamId: state.streamId,
      imdsApiVersion,
      clockOffsetSeconds: lookOffset ?? clockOffset,
      bridgeVersion: given.bridgeVersion,
    },
    impact: impactOf(state, look, { moment, gap, incarnation, clockOffset }),
    scope: given.scope,
    gapAfterMs: given.gapAfterMs,
    approved: state.approved,
  };
  const { events, records, appeared, isOutageBooked } = decide(state.events, look.document, bench);
  const after: LifecycleState = {
    ...state,
    incarnation,
    incarnationStep: smallestStep(state, incarnation),
    bootId: look.host.bootId,
    physicalHost: look.host.physicalHost,
    clockOffsetSeconds: clockOffset,
    imdsApiVersion,
    hidden: unreadable > 0,
    unreadable,
    resetAt: isReset ? isoOf(look.at) : state.resetAt,
    reset,
    enabled,
    elsewhere,
    unbooked: isOutageBooked ? null : unexplained(state.unbooked, bench.impact, moment),
    events,
  };
  const snapshot = isSnapshotDue(after, moment) ? [snapshotRecord(after, bench.circumstances)] : [];
  const placed = [...records, ...snapshot].map((record, n) => place(record, state.position + 1 + n));
  const snapshotDue = after.snapshotDue && snapshot.length === 0;
  return { state: { ...after, snapshotDue, position: state.position + placed.length }, records: placed, appeared };
}

/** Keeps an outage that no event explains for five minutes. */
function unexplained(kept: Unbooked | null, { outageSeconds }: HostImpact, now: Moment): Unbooked | null {
  const outage = outageSeconds === null ? (kept?.outage ?? null) : { seconds: outageSeconds, over: now };
  if (outage === null || !isWithin(outage.over, now, resetWindowMs)) return null;
  const isSame = kept?.outage === outage && kept.tick === null && kept.wallStepMs === 0 && kept.booted === null;
  return isSame ? kept : { tick: null, wallStepMs: 0, pausedUntil: null, booted: null, outage };
}

/** A pause that a look shows began after the look before it. */
const latest = (previous: Moment | null, began: string): string =>
  previous !== null && previous.azureAt > began ? previous.azureAt : began;

function smallestStep({ incarnation: before, incarnationStep }: LifecycleState, incarnation: number): number | null {
  if (before === null || incarnation <= before) return incarnationStep;
  return Math.min(incarnationStep ?? Number.POSITIVE_INFINITY, incarnation - before);
}

/**
 * After a boot the VM may be on a host whose service begins anew. A lower incarnation shows that; the same one, as both may
 * have just begun, does not. Where the host is known to be another, no incarnation tells that the list is complete.
 */
function mayBeElsewhere(before: LifecycleState, { bootId, physicalHost }: HostEvidence, incarnation: number): boolean {
  const isSameHost = physicalHost !== null && physicalHost === before.physicalHost;
  const isOtherHost = changed(before.physicalHost, physicalHost);
  return changed(before.bootId, bootId) && (isOtherHost || (!isSameHost && incarnation === before.incarnation));
}

/** What the machine measured between the last valid document and this one. */
function impactOf(
  { incarnation: before, unbooked, clockOffsetSeconds, bootId, physicalHost }: LifecycleState,
  { host, previousDocument }: Look,
  {
    moment,
    gap,
    incarnation,
    clockOffset,
  }: { moment: Moment; gap: boolean; incarnation: number; clockOffset: number | null },
): HostImpact {
  const measured = measuredWith(unbooked, host);
  const ourClockLostMs = measured.wallStepMs + 1000 * ((clockOffset ?? 0) - (clockOffsetSeconds ?? clockOffset ?? 0));
  // A clock that was set is off by any time, and a boot sets it anew: what was lost to a pause the monotonic clock lacks too.
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
  // Time that went backwards across the boot, where no answer told Azure's, measures nothing.
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

const place = (record: Unplaced, position: number): LifecycleRecord => ({ ...record, position });
