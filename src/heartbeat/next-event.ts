import type { Outbox } from '../outbox/outbox.ts';

/** The event that Azure has planned next for this VM. */
export interface NextEvent {
  readonly eventId: string;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  /** ISO 8601. May have passed: Azure is sometimes late. */
  readonly notBefore: string;
}

/**
 * Of the open events that affect this VM and have not started, the one with the earliest known notBefore; of two with the same
 * one the first by EventId. Null without one.
 */
export function nextEvent({ events }: Pick<Outbox['state'], 'events'>): NextEvent | null {
  const [next] = [...events.values()]
    .filter(({ open, affectsUs, phase }) => open && affectsUs && phase === 'Scheduled')
    .flatMap(({ eventId, last: { eventType, eventSource, notBefore } }) =>
      notBefore === null ? [] : [{ eventId, eventType, eventSource, notBefore }],
    )
    .toSorted((a, b) => Date.parse(a.notBefore) - Date.parse(b.notBefore) || (a.eventId < b.eventId ? -1 : 1));
  return next ?? null;
}
