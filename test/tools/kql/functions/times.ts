import { calculate } from '../arithmetic.ts';
import { formatDatetime, formatTimespan } from '../format-time.ts';
import type { ScalarFunction, ScalarFunctions } from '../scope.ts';
import {
  dateOf,
  datetimeIfAny,
  datetimeOfDate,
  floorDivide,
  lastTick,
  momentOf,
  ticksPerDay,
  ticksPerHour,
  ticksPerMinute,
  ticksPerSecond,
  unixEpoch,
} from '../time-text.ts';
import { unsupported } from '../unsupported.ts';
import { type Datetime, datetime, isDatetime, isNumeric, isTimespan, timespan, type Value } from '../values.ts';
import { addPart, differenceOf, partOf } from './time-parts.ts';

/** A function of a moment; null of null. */
const ofMoment =
  (calculateFrom: (moment: Datetime, ...rest: Value[]) => Value): ScalarFunction =>
  ([moment = null, ...rest], { name }) => {
    if (moment === null) return null;
    return isDatetime(moment) ? calculateFrom(moment, ...rest) : unsupported(`${name}() of no datetime`);
  };

type Unit = 'day' | 'week' | 'month' | 'year';

/** The first moment of the day, week (Sunday), month or year, `offset` of them later. */
function startOf(unit: Unit, moment: Datetime, offset: bigint): Datetime | null {
  const midnight = moment.ticks - (moment.ticks % ticksPerDay);
  const date = dateOf(moment);
  switch (unit) {
    case 'day':
      return datetimeIfAny(midnight + offset * ticksPerDay);
    case 'week':
      return datetimeIfAny(midnight + (offset * 7n - BigInt(date.getUTCDay())) * ticksPerDay);
    case 'month': {
      const month = date.getUTCFullYear() * 12 + date.getUTCMonth() + Number(offset);
      return momentOf([Math.floor(month / 12), (((month % 12) + 12) % 12) + 1, 1]);
    }
    case 'year':
      return momentOf([date.getUTCFullYear() + Number(offset), 1, 1]);
  }
}

const offsetOf = (value: Value | undefined): bigint =>
  value === undefined ? 0n : typeof value === 'bigint' ? value : unsupported('an offset that is no whole number');

const start = (unit: Unit) => ofMoment((moment, offset) => startOf(unit, moment, offsetOf(offset)));

/** One tick before the next begins. */
const end = (unit: Unit) =>
  ofMoment((moment, offset) => {
    const next = startOf(unit, moment, offsetOf(offset) + 1n);
    return datetime(next ? next.ticks - 1n : lastTick);
  });

/** Week of the year by ISO 8601. */
function weekOfYear(moment: Datetime): bigint {
  const day = floorDivide(moment.ticks, ticksPerDay);
  const weekday = day % 7n;
  const thursday = day - weekday + 3n;
  const year = dateOf(datetime(thursday * ticksPerDay)).getUTCFullYear();
  const first = momentOf([year, 1, 1]) ?? unsupported('a week outside the calendar');
  return (thursday - first.ticks / ticksPerDay) / 7n + 1n;
}

const whole = (value: Value | undefined, otherwise: number): number =>
  value === undefined
    ? otherwise
    : isNumeric(value)
      ? Number(value)
      : unsupported('a part of a time that is no number');

function makeDatetime(args: readonly Value[]): Value {
  if (args.some((arg) => arg === null)) return null;
  if (args.length < 3) return unsupported('make_datetime() of a text');
  const [year, month, day, hour, minute, second] = args;
  const seconds = whole(second, 0);
  const fraction = BigInt(Math.round((seconds - Math.floor(seconds)) * 1e7));
  return momentOf(
    [whole(year, 0), whole(month, 0), whole(day, 0)],
    [whole(hour, 0), whole(minute, 0), Math.floor(seconds)],
    fraction,
  );
}

/** Hours and minutes; or hours, minutes and seconds; or days before them. */
function makeTimespan(args: readonly Value[]): Value {
  if (args.some((arg) => arg === null)) return null;
  const [days, hours, minutes, seconds] = args.length === 4 ? args : [0n, ...args];
  const clock = [whole(hours, 0), whole(minutes, 0), Math.floor(whole(seconds, 0))];
  if (clock.some((value) => value < 0) || (clock[0] ?? 0) > 23 || (clock[1] ?? 0) > 59 || (clock[2] ?? 0) > 59) {
    return unsupported('make_timespan() beyond the clock');
  }
  const fraction = Math.round((whole(seconds, 0) % 1) * 1e7);
  return timespan(
    BigInt(whole(days, 0)) * ticksPerDay +
      BigInt(clock[0] ?? 0) * ticksPerHour +
      BigInt(clock[1] ?? 0) * ticksPerMinute +
      BigInt(clock[2] ?? 0) * ticksPerSecond +
      BigInt(fraction),
  );
}

const fromUnix =
  (ticks: (value: bigint) => bigint, perUnit: number): ScalarFunction =>
  ([value = null]) => {
    if (value === null) return null;
    if (typeof value === 'bigint') return datetimeIfAny(unixEpoch + ticks(value));
    if (typeof value !== 'number' || !Number.isFinite(value)) return unsupported('a moment of no number');
    return datetimeIfAny(unixEpoch + BigInt(Math.round(value * perUnit)));
  };

const text = (value: Value | undefined): string =>
  typeof value === 'string' ? value : unsupported('a format or a part of a time that is no text');

const part = (name: string) => ofMoment((moment) => partOf(name, moment));

/** https://learn.microsoft.com/kusto/query/datetime-utc-to-local-function with the zone's rules of this machine. */
function localOf(moment: Datetime, zone: Value = null): Value {
  const date = dateOf(moment);
  try {
    const local = new Date(`${date.toLocaleString('sv-SE', { timeZone: text(zone) }).replace(' ', 'T')}Z`);
    return datetime(datetimeOfDate(local).ticks + (moment.ticks % ticksPerSecond));
  } catch {
    return unsupported(`the time zone ${text(zone)}`);
  }
}

export const timeFunctions: ScalarFunctions = {
  now: ([offset = null], { now }) => (offset === null ? now : calculate('+', now, offset)),
  ago: ([span = null], { now }) => calculate('-', now, span),
  startofday: start('day'),
  startofweek: start('week'),
  startofmonth: start('month'),
  startofyear: start('year'),
  endofday: end('day'),
  endofweek: end('week'),
  endofmonth: end('month'),
  endofyear: end('year'),
  dayofweek: ofMoment((moment) => {
    if (moment.ticks > lastTick - ticksPerDay) return unsupported('the day of the week at the end of time');
    return timespan(((moment.ticks / ticksPerDay + 1n) % 7n) * ticksPerDay);
  }),
  dayofmonth: part('day'),
  dayofyear: part('dayOfYear'),
  monthofyear: part('month'),
  getmonth: part('month'),
  getyear: part('year'),
  hourofday: part('hour'),
  week_of_year: ofMoment(weekOfYear),
  weekofyear: ofMoment(weekOfYear),
  datetime_part: ([name, moment = null]) => {
    if (moment === null) return null;
    if (!isDatetime(moment)) return unsupported('datetime_part() of no datetime');
    const wanted = text(name).toLowerCase();
    return wanted === 'week_of_year' ? weekOfYear(moment) : partOf(wanted, moment);
  },
  datetime_add: ([unit, amount = null, moment = null]) => {
    if (amount === null || moment === null) return null;
    if (typeof amount !== 'bigint' || !isDatetime(moment)) return unsupported('datetime_add() of that');
    return addPart(text(unit).toLowerCase(), amount, moment);
  },
  datetime_diff: ([unit, later = null, earlier = null]) => {
    if (later === null || earlier === null) return null;
    if (!isDatetime(later) || !isDatetime(earlier)) return unsupported('datetime_diff() of no datetimes');
    return differenceOf(text(unit).toLowerCase(), later, earlier);
  },
  format_datetime: ofMoment((moment, format) => formatDatetime(moment, text(format))),
  format_timespan: ([span = null, format]) => {
    if (span === null) return '';
    return isTimespan(span) ? formatTimespan(span, text(format)) : unsupported('format_timespan() of no timespan');
  },
  make_datetime: makeDatetime,
  make_timespan: makeTimespan,
  unixtime_seconds_todatetime: fromUnix((value) => value * ticksPerSecond, 1e7),
  unixtime_milliseconds_todatetime: fromUnix((value) => value * 10_000n, 1e4),
  unixtime_microseconds_todatetime: fromUnix((value) => value * 10n, 10),
  unixtime_nanoseconds_todatetime: fromUnix((value) => value / 100n, 0.01),
  datetime_utc_to_local: ofMoment(localOf),
};
