import { readDate } from './wire-date.ts';

/**
 * A `Retry-After` header in milliseconds from the answer on; null if it is missing or neither a number of seconds nor a date.
 * @param now the server's own time, where it is known: a wrong clock of ours then does no harm.
 * https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
 */
export function readRetryAfter(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  const until = readDate(text);
  return until === null ? null : Math.max(0, Date.parse(until) - now.getTime());
}
