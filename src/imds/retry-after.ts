import { readDate } from './wire-date.ts';

/**
 * What a `Retry-After` header asks for, in milliseconds from the answer on; null when there is none or it is neither a
 * number of seconds nor a date. A date is compared with the server's own (`now`), so that a wrong clock of ours does no harm.
 * https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
 */
export function readRetryAfter(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  const until = readDate(text);
  return until === null ? null : Math.max(0, Date.parse(until) - now.getTime());
}
