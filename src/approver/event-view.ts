import type { Clock } from '../clock.ts';
import { freshMs } from '../lifecycle/approval.ts';
import { type ApprovalTerms, isListedTwice, termsOf } from '../lifecycle/approval-terms.ts';
import type { EventsDocument, ScheduledEvent } from '../lifecycle/scheduled-event.ts';
import { keyOf } from './event-key.ts';

/** What the documents show to who approves: the last valid one, how old it is, and how long an event has been what it is. */
export interface EventView {
  /** Null before the first. */
  document(): EventsDocument | null;
  /** The same document came, or another. `wallMs`: when, by a clock that may be set. @returns the keys of what is Scheduled in it. */
  see(document: EventsDocument, wallMs: number): ReadonlySet<string>;
  /** How many times something was seen. */
  times(): number;
  /** Null before the first; negative where the clock was set back. */
  ageMs(): number | null;
  /** The document is no older than an approval allows. */
  isFresh(): boolean;
  listed(key: string): ScheduledEvent | undefined;
  termsOf(event: ScheduledEvent): ApprovalTerms;
  isListedTwice(event: ScheduledEvent): boolean;
  /** How long this process has watched a Scheduled event being what it is, on the monotonic clock. */
  watchedForMs(event: ScheduledEvent): number;
}

export function createEventView(clock: Clock): EventView {
  let last: { readonly document: EventsDocument; readonly wallMs: number; readonly monotonicMs: number } | null = null;
  let times = 0;
  const watched = new Map<string, { readonly what: string; readonly sinceMs: number }>();

  const ageMs = (): number | null =>
    last && Math.max(clock.monotonicMs() - last.monotonicMs, clock.now().getTime() - last.wallMs);
  const termsNow = (event: ScheduledEvent): ApprovalTerms => termsOf(event, last?.document);

  return {
    document: () => last?.document ?? null,
    see(document, wallMs) {
      last = { document, wallMs, monotonicMs: clock.monotonicMs() };
      times += 1;
      const scheduled = document.events.filter(({ eventStatus }) => eventStatus === 'Scheduled');
      for (const event of scheduled) {
        const what = JSON.stringify(termsNow(event));
        if (watched.get(keyOf(event))?.what !== what) watched.set(keyOf(event), { what, sinceMs: clock.monotonicMs() });
      }
      const keys = new Set(scheduled.map(keyOf));
      for (const key of watched.keys()) if (!keys.has(key)) watched.delete(key);
      return keys;
    },
    times: () => times,
    ageMs,
    isFresh() {
      const age = ageMs();
      return age !== null && age >= 0 && age <= freshMs;
    },
    listed: (key) => last?.document.events.find((event) => keyOf(event) === key),
    termsOf: termsNow,
    isListedTwice: (event) => isListedTwice(last?.document, event),
    watchedForMs(event) {
      const sinceMs = watched.get(keyOf(event))?.sinceMs;
      return sinceMs === undefined ? 0 : clock.monotonicMs() - sinceMs;
    },
  };
}
