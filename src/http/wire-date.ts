const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `Mon, 11 Apr 2022 22:26:58 GMT`: what the endpoint gives. */
const rfc1123 =
  /^(?:[a-z]+,\s*)?(\d{1,2})[ -]([a-z]{3})[a-z]*[ -](\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(gmt|utc|z|[+-]\d{2}:?\d{2})?$/i;

/** `2026-11-21T04:20:17Z`: what Microsoft's own mock gives, and what was seen in the field. */
const iso8601 =
  /^(\d{4})-(\d{2})-(\d{2})[t ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(gmt|utc|z|[+-]\d{2}:?\d{2})?$/i;

/**
 * A date of the wire as ISO 8601 in UTC with milliseconds; null when it is missing, blank or no date. A date without a
 * zone is UTC, as the documentation says of all of them.
 *
 * Not `Date.parse`: it finds a date in nearly everything ("node 3" is March 2001) and reads the year 0001, a .NET
 * program's "no date", as 2001.
 */
export function readDate(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const classic = rfc1123.exec(text);
  if (classic) {
    const [, day, month = '', year, hour, minute, second, zone] = classic;
    return toIso([year, months.indexOf(month.toLowerCase()) + 1, day, hour, minute, second], 0, zone);
  }
  const iso = iso8601.exec(text);
  if (!iso) return null;
  const [, year, month, day, hour, minute, second, fraction = '', zone] = iso;
  return toIso([year, month, day, hour, minute, second], Number(`${fraction}000`.slice(0, 3)), zone);
}

type Part = string | number | undefined;

function toIso(parts: readonly Part[], milliseconds: number, zone: string | undefined): string | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds));
  const isReal =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!isReal || year < 2000) return null;
  return new Date(date.getTime() - zoneMinutes(zone) * 60_000).toISOString();
}

function zoneMinutes(zone: string | undefined): number {
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  if (!offset) return 0;
  return (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3]));
}
