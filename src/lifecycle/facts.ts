import type { DecisionContext } from './decision-context.ts';
import { longestBetween, type Moment } from './moment.ts';
import { pauseIsEvidenceMs } from './pause.ts';
import type { IsoTime } from './record.ts';
import type { AbsenceFacts, EventMemory, LifecycleState, Sighting } from './state.ts';

// assumption: imds-incarnation-resets
/** For this long after the incarnation went backwards an absence is not believed at once. */
export const resetWindowMs = 5 * 60_000;

/** An absence is confirmed by another document without the event, or after this long: three polls of one document. */
export const confirmAfterMs = 1500;

/** For this long an entry that cannot be read hides an event that left when it came. */
export const hideMs = 5 * 60_000;

/** A `notBefore` further ahead than this was certainly not reached. */
const aheadMs = 60_000;

/** Another boot, host, …: true only where both sides are known. */
export const changed = (before: string | null, now: string | null): boolean =>
  before !== null && now !== null && before !== now;

/** Is there a gap between a sighting and now? A time that went backwards hides how long it was: then, too. */
export function isGap(since: Sighting, { bootId, ...now }: Moment, gapAfterMs: number): boolean {
  if (since.moment === null || changed(since.bootId, bootId)) return true;
  const elapsedMs = longestBetween(since.moment, { bootId, ...now });
  return elapsedMs < 0 || elapsedMs > gapAfterMs;
}

/** The last valid document, as what a later absence is compared with. */
export const previousSighting = (state: LifecycleState, at: string | null, moment: Moment | null): Sighting => ({
  at,
  moment,
  incarnation: state.incarnation,
  bootId: state.bootId,
  physicalHost: state.physicalHost,
  unreadable: state.unreadable,
});

/** All that is known about the absence of one open event from one document. */
export function absenceFacts(memory: EventMemory, context: DecisionContext, isSuperseded: boolean): AbsenceFacts {
  const listed = memory.listedIn ?? context.previous;
  return {
    bootChanged: changed(listed.bootId, context.host.bootId),
    bootKnownSame: listed.bootId !== null && listed.bootId === context.host.bootId,
    hostChanged: memory.movedSinceListed,
    paused: memory.pauseSinceListedMs >= pauseIsEvidenceMs,
    rebooted: memory.bootedSinceListed,
    ambiguous: memory.ambiguous,
    reset: context.reset,
    exactlyOneMore: listed.incarnation !== null && context.incarnation === listed.incarnation + 1,
    gap: isGap(listed, context.moment, context.gapAfterMs),
    notBefore: dueState(memory.last.notBefore, context.azureTime),
    approved: context.approved.has(memory.eventId.toLowerCase()),
    superseded: isSuperseded,
    unreadable: context.unreadable > listed.unreadable,
    settling: context.settling,
  };
}

export function dueState(notBefore: string | null, azureTime: IsoTime): AbsenceFacts['notBefore'] {
  if (notBefore === null) return 'unknown';
  const aheadByMs = Date.parse(notBefore) - Date.parse(azureTime);
  if (aheadByMs > aheadMs) return 'ahead';
  return aheadByMs <= 0 ? 'passed' : 'near';
}
