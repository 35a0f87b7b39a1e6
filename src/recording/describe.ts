import type { RecordedAnswer } from './format.ts';

/** A poll result in one line. */
export function describePoll(seen: RecordedAnswer): string {
  if ('failure' in seen) return `no document: ${seen.failure.reason}`;
  if ('answer' in seen) {
    const { status } = seen.answer;
    return status === 200 ? 'no document: status 200 without one' : `no document: status ${status}`;
  }
  const { DocumentIncarnation, Events } = seen.document;
  const events = Events.map(({ EventType, EventId, EventStatus, Resources, NotBefore }) => {
    const of = Array.isArray(Resources) ? Resources.join(', ') : 'no VM';
    return `${EventType} ${EventId} of ${of} ${EventStatus}${NotBefore ? `, not before ${NotBefore}` : ''}`;
  });
  return `incarnation ${DocumentIncarnation}: ${events.length === 0 ? 'no events' : events.join('; ')}`;
}
