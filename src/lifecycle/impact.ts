import { type Pause, pauseIsEvidenceMs } from './pause.ts';
import type { IsoTime } from './record.ts';
import type { ScheduledEvent } from './scheduled-event.ts';

/**
 * To which event a pause, an outage or a change of host belongs. Each is booked once, to the event whose impact was
 * possible then: one that had started, that was approved, or whose notBefore had passed. Where several were, or where it
 * may have been none, one gets it and the word that it may not be its own.
 */

/** What the machine measured on itself between two documents. */
export interface HostImpact {
  readonly pause: Pause | null;
  /** Azure's time when that pause began. */
  readonly pausedAt: IsoTime | null;
  readonly booted: boolean;
  readonly outageSeconds: number | null;
  /** Of a boot not long ago, which no event has explained. */
  readonly earlierOutageSeconds: number | null;
  readonly moved: boolean;
  /** Azure's time of the previous observation; null after a gap without a boot: then only bounds are known. */
  readonly previousAt: IsoTime | null;
}

/** An event of this VM to which an impact may belong. */
export interface Candidate {
  readonly key: string;
  readonly eventType: ScheduledEvent['eventType'];
  readonly started: boolean;
  /** Its notBefore has passed, or this bridge approved it. */
  readonly due: boolean;
  readonly listed: boolean;
  /** This document lists it first, or first again. */
  readonly isNew: boolean;
  /** It left, and a document in between was not seen: it may have started there. */
  readonly leftUnseen: boolean;
}

/** What is booked for one event. */
export interface Booking extends Pick<HostImpact, 'outageSeconds' | 'booted' | 'moved'> {
  readonly pause: Pause | null;
  readonly ambiguous: boolean;
  readonly impactAt: IsoTime | null;
}

const interrupts = ['Freeze', 'Reboot', 'Redeploy'];
const reboots = ['Reboot', 'Redeploy', 'Preempt', 'Terminate'];

/** The events that may have had the impact. */
const explaining = (candidates: readonly Candidate[], types: readonly string[]): Candidate[] =>
  candidates.filter(({ eventType, started, due }) => (started || due) && types.includes(eventType ?? ''));

/** Those that left before their time with a document unseen in between: they may have started there. */
const unseen = (candidates: readonly Candidate[], types: readonly string[]): Candidate[] =>
  candidates.filter(({ eventType, leftUnseen }) => leftUnseen && types.includes(eventType ?? ''));

/** Of several events the first: started before due, left before listed, then by id. The same on every run. */
const inOrder = (a: Candidate, b: Candidate): number =>
  Number(b.started) - Number(a.started) || Number(a.listed) - Number(b.listed) || (a.key < b.key ? -1 : 1);

/** The bookings of one observation, by lower-case EventId. */
export function bookImpact(candidates: readonly Candidate[], impact: HostImpact): ReadonlyMap<string, Booking> {
  const bookings = new Map<string, Booking>();
  const book = (events: Candidate[], booked: Partial<Booking>, isProof = true, others: Candidate[] = []): void => {
    const [first] = events.sort(inOrder);
    if (!first) return;
    const ambiguous = isProof && events.concat(others).some(({ key }) => key !== first.key);
    const before = bookings.get(first.key) ?? nothingBooked;
    const times = [before.impactAt, ambiguous ? null : (booked.impactAt ?? null)].filter((time) => time !== null);
    bookings.set(first.key, {
      ...before,
      ...booked,
      ambiguous: before.ambiguous || ambiguous || (booked.ambiguous ?? false),
      impactAt: times.sort()[0] ?? null,
    });
  };
  const { pause, pausedAt, booted, outageSeconds, earlierOutageSeconds, moved, previousAt } = impact;
  if (pause !== null && pause.totalMs > 0) {
    const isProof = pause.longestMs >= pauseIsEvidenceMs;
    const interrupted = explaining(candidates, interrupts);
    const gone = unseen(candidates, interrupts);
    if (interrupted.length > 0) book(interrupted, { pause, ...(isProof && { impactAt: pausedAt }) }, isProof, gone);
    else if (isProof) book(gone, { pause, impactAt: pausedAt });
  }
  const shifted = explaining(candidates, interrupts);
  if (moved && shifted.length > 0) book(shifted, { moved, impactAt: previousAt });
  else if (moved) book(unseen(candidates, interrupts), { moved, impactAt: previousAt });
  if (earlierOutageSeconds !== null) {
    const failed = candidates.filter(({ isNew, started }) => isNew && started);
    book(explaining(failed, reboots), { outageSeconds: earlierOutageSeconds });
  }
  if (!booted) return bookings;
  const rebooting = explaining(candidates, reboots);
  const failing = candidates.filter(({ started }) => started);
  if (rebooting.length > 0) book(rebooting, { booted, outageSeconds, impactAt: previousAt });
  // What had started may fail and stop the machine, regardless of its type; that proves nothing.
  else if (failing.length > 0) book(failing, { outageSeconds, impactAt: previousAt });
  // A machine that is down sees no document, so here unseen means little: it may have booted for its own reasons.
  else book(unseen(candidates, reboots), { outageSeconds, ambiguous: true });
  return bookings;
}

const nothingBooked: Booking = {
  pause: null,
  outageSeconds: null,
  booted: false,
  moved: false,
  ambiguous: false,
  impactAt: null,
};
