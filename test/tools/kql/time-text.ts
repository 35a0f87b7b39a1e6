import { unsupported } from './unsupported.ts';
import { type Datetime, datetime, type Timespan, timespan } from './values.ts';

export const ticksPerMillisecond = 10_000n;
export const ticksPerSecond = 10_000_000n;
export const ticksPerMinute = 60n * ticksPerSecond;
export const ticksPerHour = 60n * ticksPerMinute;
export const ticksPerDay = 24n * ticksPerHour;
/** Ticks from 0001-01-01 to 1970-01-01. */
export const unixEpoch = 621_355_968_000_000_000n;
export const lastTick = 3_155_378_975_999_999_999n;

/** Rounds towards the past, as times need it; bigint division rounds towards zero. */
export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by !== 0n && value < 0n !== by < 0n ? quotient - 1n : quotient;
}

/** The moment, or null outside the years 1 to 9999. */
export const datetimeIfAny = (ticks: bigint): Datetime | null =>
  ticks < 0n || ticks > lastTick ? null : datetime(ticks);

export const datetimeOfDate = (date: Date): Datetime =>
  datetime(BigInt(date.getTime()) * ticksPerMillisecond + unixEpoch);

/** JavaScript's date of a moment; digits below the millisecond are dropped. */
export const dateOf = (moment: Datetime): Date =>
  new Date(Number(floorDivide(moment.ticks - unixEpoch, ticksPerMillisecond)));

/** `2026-08-01T12:00:00.0000000Z` */
export function datetimeText(moment: Datetime): string {
  return `${dateOf(moment).toISOString().slice(0, 19)}.${sevenDigits(moment.ticks % ticksPerSecond)}Z`;
}

const sevenDigits = (ticks: bigint): string => String(ticks).padStart(7, '0');
const two = (count: bigint): string => String(count).padStart(2, '0');

/** `[-][d.]hh:mm:ss[.fffffff]` */
export function timespanText(span: Timespan): string {
  const ticks = span.ticks < 0n ? -span.ticks : span.ticks;
  const days = ticks / ticksPerDay;
  const clock = [(ticks / ticksPerHour) % 24n, (ticks / ticksPerMinute) % 60n, (ticks / ticksPerSecond) % 60n];
  const fraction = ticks % ticksPerSecond;
  return [
    span.ticks < 0n ? '-' : '',
    days > 0n ? `${days}.` : '',
    clock.map(two).join(':'),
    fraction > 0n ? `.${sevenDigits(fraction)}` : '',
  ].join('');
}

const isoDate =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7}))?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/;
const americanDate = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;

/** A moment of the date's parts, or null where there is no such day. */
export function momentOf(
  [year, month, day]: readonly [number, number, number],
  [hour, minute, second]: readonly [number, number, number] = [0, 0, 0],
  fraction = 0n,
): Datetime | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || year < 1) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  date.setUTCHours(hour, minute, second);
  return datetimeIfAny(datetimeOfDate(date).ticks + fraction);
}

/** What `todatetime` makes of a text it knows (ISO 8601), null for what is surely no date, `undefined` when in doubt. */
export function parseDatetime(text: string): Datetime | null | undefined {
  const trimmed = text.trim();
  const iso = isoDate.exec(trimmed);
  if (iso) {
    const [, year, month, day, hour, minute, second, fraction, zone] = iso;
    const moment = momentOf(
      [Number(year), Number(month), Number(day)],
      [Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0)],
      BigInt((fraction ?? '').padEnd(7, '0')),
    );
    return moment === null ? null : datetimeIfAny(moment.ticks - offsetOf(zone));
  }
  const american = americanDate.exec(trimmed);
  if (american) {
    const [, month, day, year, hour, minute, second] = american;
    return momentOf(
      [Number(year), Number(month), Number(day)],
      [Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0)],
    );
  }
  return /\d/.test(trimmed) ? undefined : null;
}

function offsetOf(zone: string | undefined): bigint {
  const parts = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  if (!parts) return 0n;
  const minutes = BigInt(Number(parts[2]) * 60 + Number(parts[3]));
  return (parts[1] === '-' ? -minutes : minutes) * ticksPerMinute;
}

const units: Readonly<Record<string, bigint>> = {
  d: ticksPerDay,
  day: ticksPerDay,
  days: ticksPerDay,
  h: ticksPerHour,
  hr: ticksPerHour,
  hrs: ticksPerHour,
  hour: ticksPerHour,
  hours: ticksPerHour,
  m: ticksPerMinute,
  min: ticksPerMinute,
  minute: ticksPerMinute,
  minutes: ticksPerMinute,
  s: ticksPerSecond,
  sec: ticksPerSecond,
  second: ticksPerSecond,
  seconds: ticksPerSecond,
  ms: ticksPerMillisecond,
  millisecond: ticksPerMillisecond,
  milliseconds: ticksPerMillisecond,
  microsecond: 10n,
  microseconds: 10n,
  tick: 1n,
  ticks: 1n,
};

const clockSpan = /^(-)?(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?$/;

/** What `totimespan` makes of a text (`1.02:03:04.5`, `90m`) or null. */
export function parseTimespan(text: string): Timespan | null {
  const trimmed = text.trim();
  const unit = /^(-?)(\d+)(?:\.(\d+))?\s*([a-z]*)$/.exec(trimmed);
  if (unit) {
    const [, sign, whole = '0', fraction = '', name = ''] = unit;
    const per = units[name];
    if (name === '' && fraction === '') return unsupported(`the timespan "${text}", which has no unit`);
    if (per === undefined) return null;
    const ticks = (BigInt(whole + fraction) * per) / 10n ** BigInt(fraction.length);
    return timespan(sign === '-' ? -ticks : ticks);
  }
  const clock = clockSpan.exec(trimmed);
  if (!clock) return null;
  const [, sign, days, hours, minutes, seconds, fraction] = clock;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds ?? 0) > 59) return null;
  const ticks =
    BigInt(days ?? 0) * ticksPerDay +
    BigInt(hours ?? 0) * ticksPerHour +
    BigInt(minutes ?? 0) * ticksPerMinute +
    BigInt(seconds ?? 0) * ticksPerSecond +
    BigInt((fraction ?? '').padEnd(7, '0'));
  return timespan(sign === '-' ? -ticks : ticks);
}
