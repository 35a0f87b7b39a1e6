import type { EventsDocument, ScheduledEvent } from './scheduled-event.ts';

/**
 * What the operator was shown of an event. A manual approval holds for these terms only: by the time it
 * is sent, the event of this EventId may reboot, last longer, or affect other VMs.
 */
export interface ApprovalTerms {
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly durationSeconds: number | null;
  readonly resources: readonly string[] | null;
  /** The document listed the EventId more than once, so that the other fields may be those of either entry. */
  readonly listedTwice: boolean;
}

export const isListedTwice = (
  document: EventsDocument | undefined,
  { eventId }: Pick<ScheduledEvent, 'eventId'>,
): boolean => document?.listedTwice?.includes(eventId.toLowerCase()) ?? false;

export function termsOf(event: ScheduledEvent, document: EventsDocument | undefined): ApprovalTerms {
  const { eventType, eventSource, durationSeconds, resources } = event;
  return { eventType, eventSource, durationSeconds, resources, listedTwice: isListedTwice(document, event) };
}

/** How the event differs by now, as the end of a sentence; null: it is what was agreed to. Order and letters of names are nothing. */
export function differenceBetween(agreed: ApprovalTerms, now: ApprovalTerms): string | null {
  if (now.eventType !== agreed.eventType) return `is of the type ${wordFor(now.eventType)}`;
  if (now.eventSource !== agreed.eventSource) return `has the source ${wordFor(now.eventSource)}`;
  if (now.durationSeconds !== agreed.durationSeconds) return `has the duration ${wordFor(now.durationSeconds)}`;
  if (namesOf(now) !== namesOf(agreed)) return `names other VMs: ${now.resources?.join(', ') || 'none'}`;
  return now.listedTwice && !agreed.listedTwice ? 'is listed more than once' : null;
}

const wordFor = (value: string | number | null): string => (value === null ? 'unknown' : String(value));

const namesOf = ({ resources }: ApprovalTerms): string =>
  JSON.stringify((resources ?? []).map((name) => name.toLowerCase()).sort());

/** Terms that were written as JSON; null where that is not what this is. */
export function readTerms(value: unknown): ApprovalTerms | null {
  if (typeof value !== 'object' || value === null) return null;
  const { eventType, eventSource, durationSeconds, resources, listedTwice }: Partial<Record<string, unknown>> = {
    ...value,
  };
  if (!isTextOrNull(eventType) || !isTextOrNull(eventSource) || typeof listedTwice !== 'boolean') return null;
  if (durationSeconds !== null && typeof durationSeconds !== 'number') return null;
  if (resources !== null && !(Array.isArray(resources) && resources.every((name) => typeof name === 'string'))) {
    return null;
  }
  return { eventType, eventSource, durationSeconds, resources, listedTwice };
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';
