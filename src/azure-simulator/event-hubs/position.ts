import type { StoredEvent } from './stored-event.ts';

/**
 * Where a consumer begins, from its selector: index of the first event to deliver.
 * `amqp.annotation.x-opt-offset > '-1'` · `… > '@latest'` · `x-opt-sequence-number >= '7'` · `x-opt-enqueued-time > '1700000000000'`
 *
 * Without one it begins at the beginning.
 *
 * @returns null when the selector is none of these.
 */
export function startIndex(selector: string, events: readonly StoredEvent[]): number | null {
  if (selector === '') return 0;
  const match = /x-opt-(offset|sequence-number|enqueued-time)\s*(>=?)\s*'?([^']+?)'?\s*$/.exec(selector);
  if (match === null) return null;
  const [, what, operator, value] = match;
  if (value === '@latest') return events.length;
  const from = Number(value);
  if (Number.isNaN(from)) return null;
  const first = events.findIndex((event) => {
    const own = ordinal(event, what);
    return operator === '>=' ? own >= from : own > from;
  });
  return first === -1 ? events.length : first;
}

function ordinal(event: StoredEvent, what: string | undefined): number {
  if (what === 'offset') return Number(event.offset);
  return what === 'sequence-number' ? event.sequenceNumber : event.enqueuedAt.getTime();
}
