import type { LifecycleRecord } from './record.ts';
import type { EventMemory, LifecycleState } from './state.ts';

/** What the documents show about an approval whose outcome a process that ended never learned. */
export type SettledApproval =
  | { readonly outcome: 'accepted'; readonly reason: null }
  | { readonly outcome: 'outcome-unknown'; readonly reason: string };

/** What one poll returned. */
export interface SettlementInput {
  readonly state: Pick<LifecycleState, 'events' | 'clockOffsetSeconds'>;
  readonly records: readonly Pick<LifecycleRecord, 'eventId' | 'phase' | 'notBefore'>[];
  /** Azure's, as well as it is known. */
  readonly now: Date;
}

// assumption: imds-not-before
/**
 * Null: the event is still Scheduled, so only another request to Azure can decide it. Nothing starts before its notBefore unless it is
 * approved; this bridge was about to, so what did start early counts as accepted.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#event-properties
 */
export function settledBy(eventId: string, { state, records, now }: SettlementInput): SettledApproval | null {
  const key = eventId.toLowerCase();
  const memory = state.events.get(key);
  if (!memory?.open) {
    const end = records.find((record) => record.eventId.toLowerCase() === key && record.phase === 'Completed');
    return end && isEarly(end.notBefore, now) ? accepted : leftUnseen;
  }
  if (memory.phase !== 'Started') return null;
  return isEarly(memory.last.notBefore, startOf(memory, state.clockOffsetSeconds, now)) ? accepted : startedInTime;
}

/** Our clock may be off by a day: what it said is put right by what Azure's was ahead of it. */
const startOf = ({ startedAt }: EventMemory, offsetSeconds: number | null, now: Date): Date =>
  startedAt === null ? now : new Date(Date.parse(startedAt) + 1000 * (offsetSeconds ?? 0));

/** Closer to notBefore than this, clocks and polls cannot distinguish early from in time. */
const doubtMs = 60_000;

/** Without a notBefore nothing is early. */
const isEarly = (notBefore: string | null, at: Date): boolean =>
  notBefore !== null && at.getTime() < Date.parse(notBefore) - doubtMs;

const accepted: SettledApproval = { outcome: 'accepted', reason: null };
const startedInTime: SettledApproval = {
  outcome: 'outcome-unknown',
  reason:
    'The event has started, but not early enough to prove an approval: whether the request reached Azure is not known.',
};
const leftUnseen: SettledApproval = {
  outcome: 'outcome-unknown',
  reason: 'The event is no longer listed, and the outcome of its approval is not known.',
};
