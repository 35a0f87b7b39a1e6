import { pauseIsEvidenceMs } from './pause.ts';
import type { HostEvidence } from './scheduled-event.ts';
import type { AbsenceFacts, EventMemory, LifecycleState, Sighting } from './state.ts';

/** For this long after the incarnation went backwards an absence is not believed at once. */
export const resetWindowMs = 5 * 60_000;

/** `notBefore` further away than this was certainly not reached. */
const aheadMs = 60_000;

/** How one document stands to the one before it. */
export interface DocumentFacts {
  readonly at: Date;
  /** Azure's time: `Date` of the answer, else our own clock. */
  readonly azureTime: Date;
  readonly incarnation: number;
  readonly host: HostEvidence;
  /** The last valid document before this one. */
  readonly previous: Sighting;
  /** Too long since the previous document, another boot, or no previous document at all. */
  readonly gap: boolean;
  /** The previous document held an entry without a readable EventId: whatever is new may have been that one. */
  readonly hidden: boolean;
  /** The incarnation went backwards in this document, or less than five minutes ago. */
  readonly reset: boolean;
}

/** Another boot, host, …: true only where both sides are known. */
const changed = (before: string | null, now: string | null): boolean =>
  before !== null && now !== null && before !== now;

/** Is there a gap between a sighting and now? A clock that went backwards hides how long it was: then, too. */
export function isGap(since: Sighting, at: Date, bootId: string | null, gapAfterMs: number): boolean {
  if (since.at === null || changed(since.bootId, bootId)) return true;
  const elapsedMs = at.getTime() - Date.parse(since.at);
  return elapsedMs < 0 || elapsedMs > gapAfterMs;
}

/** The last valid document, as what a later absence is compared with. */
export const previousSighting = (state: LifecycleState, previousDocumentAt: string | null): Sighting => ({
  at: previousDocumentAt,
  incarnation: state.incarnation,
  bootId: state.bootId,
  physicalHost: state.physicalHost,
});

export const hasBooted = (facts: DocumentFacts): boolean => changed(facts.previous.bootId, facts.host.bootId);

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
    hostChanged: changed(listed.physicalHost, facts.host.physicalHost),
    paused: memory.pauseSinceListedMs >= pauseIsEvidenceMs,
    reset: facts.reset,
    exactlyOneMore: listed.incarnation !== null && facts.incarnation === listed.incarnation + 1,
    gap: isGap(listed, facts.at, facts.host.bootId, rest.gapAfterMs),
    notBefore: standing(memory.last.notBefore, facts.azureTime),
    approved: rest.approved,
    superseded: rest.superseded,
  };
}

function standing(notBefore: string | null, azureTime: Date): AbsenceFacts['notBefore'] {
  if (notBefore === null) return 'unknown';
  const aheadByMs = Date.parse(notBefore) - azureTime.getTime();
  if (aheadByMs > aheadMs) return 'ahead';
  return aheadByMs <= 0 ? 'passed' : 'near';
}
