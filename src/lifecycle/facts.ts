import { longestBetween, type Moment } from './moment.ts';
import { pauseIsEvidenceMs } from './pause.ts';
import type { HostEvidence } from './scheduled-event.ts';
import type { AbsenceFacts, EventMemory, LifecycleState, Sighting } from './state.ts';

/** For this long after the incarnation went backwards an absence is not believed at once. */
export const resetWindowMs = 5 * 60_000;

/** An absence is believed once another document lacks the event too, or after this long: three polls of one document. */
export const confirmAfterMs = 1500;

/** For this long an entry that cannot be read hides an event that left when it came. */
export const hideMs = 5 * 60_000;

/** `notBefore` further away than this was certainly not reached. */
const aheadMs = 60_000;

/** How one document stands to the one before it. */
export interface DocumentFacts {
  readonly at: Date;
  readonly moment: Moment;
  /** Azure's time: `Date` of the answer, else our own clock put right by the offset known last. */
  readonly azureTime: Date;
  readonly incarnation: number;
  /** The smallest step by which it was seen to grow before. */
  readonly incarnationStep: number;
  readonly host: HostEvidence;
  /** The last valid document before this one. */
  readonly previous: Sighting;
  /** Too long since the previous document, another boot, or no previous document at all. */
  readonly gap: boolean;
  /** The previous document held more entries without a readable EventId: what is new may have been one of them. */
  readonly wasHidden: boolean;
  /** How many such entries this document holds. */
  readonly unreadable: number;
  /** The incarnation went backwards in this document, or less than five minutes ago. */
  readonly reset: boolean;
  /** Around a reset, or while the service is being switched on: what is listed may be incomplete. */
  readonly settling: boolean;
  /** The machine booted a moment ago, and the service may be that of another host: what is new may be older. */
  readonly mayHaveMoved: boolean;
}

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
export function absenceFacts(
  memory: EventMemory,
  facts: DocumentFacts,
  rest: { readonly gapAfterMs: number; readonly approved: boolean; readonly superseded: boolean },
): AbsenceFacts {
  const listed = memory.listedIn ?? facts.previous;
  return {
    bootChanged: changed(listed.bootId, facts.host.bootId),
    bootKnownSame: listed.bootId !== null && listed.bootId === facts.host.bootId,
    hostChanged: memory.movedSinceListed,
    paused: memory.pauseSinceListedMs >= pauseIsEvidenceMs,
    rebooted: memory.bootedSinceListed,
    ambiguous: memory.ambiguous,
    reset: facts.reset,
    exactlyOneMore: listed.incarnation !== null && facts.incarnation === listed.incarnation + 1,
    gap: isGap(listed, facts.moment, rest.gapAfterMs),
    notBefore: dueState(memory.last.notBefore, facts.azureTime),
    approved: rest.approved,
    superseded: rest.superseded,
    unreadable: facts.unreadable > listed.unreadable,
    settling: facts.settling,
  };
}

export function dueState(notBefore: string | null, azureTime: Date): AbsenceFacts['notBefore'] {
  if (notBefore === null) return 'unknown';
  const aheadByMs = Date.parse(notBefore) - azureTime.getTime();
  if (aheadByMs > aheadMs) return 'ahead';
  return aheadByMs <= 0 ? 'passed' : 'near';
}
