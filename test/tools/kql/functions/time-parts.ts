import {
  dateOf,
  datetimeIfAny,
  floorDivide,
  momentOf,
  ticksPerDay,
  ticksPerHour,
  ticksPerMillisecond,
  ticksPerMinute,
  ticksPerSecond,
} from '../time-text.ts';
import { unsupported } from '../unsupported.ts';
import type { Datetime } from '../values.ts';

/** Units that always last the same. */
const lengths: Readonly<Record<string, bigint>> = {
  nanosecond: 0n,
  microsecond: 10n,
  millisecond: ticksPerMillisecond,
  second: ticksPerSecond,
  minute: ticksPerMinute,
  hour: ticksPerHour,
  day: ticksPerDay,
  week: 7n * ticksPerDay,
};

const months: Readonly<Record<string, bigint>> = { month: 1n, quarter: 3n, year: 12n };

const monthOf = (moment: Datetime): bigint => {
  const date = dateOf(moment);
  return BigInt(date.getUTCFullYear() * 12 + date.getUTCMonth());
};

/** `datetime_part` and its relatives. */
export function partOf(name: string, moment: Datetime): bigint {
  const date = dateOf(moment);
  switch (name) {
    case 'year':
      return BigInt(date.getUTCFullYear());
    case 'quarter':
      return BigInt(Math.floor(date.getUTCMonth() / 3) + 1);
    case 'month':
      return BigInt(date.getUTCMonth() + 1);
    case 'day':
      return BigInt(date.getUTCDate());
    case 'dayOfYear':
    case 'dayofyear': {
      const first = momentOf([date.getUTCFullYear(), 1, 1]) ?? moment;
      return (moment.ticks - first.ticks) / ticksPerDay + 1n;
    }
    case 'hour':
      return BigInt(date.getUTCHours());
    case 'minute':
      return BigInt(date.getUTCMinutes());
    case 'second':
      return BigInt(date.getUTCSeconds());
    case 'millisecond':
      return (moment.ticks % ticksPerSecond) / ticksPerMillisecond;
    case 'microsecond':
      return (moment.ticks % ticksPerSecond) / 10n;
    case 'nanosecond':
      return (moment.ticks % ticksPerSecond) * 100n;
    default:
      return unsupported(`the part ${name} of a datetime`);
  }
}

/** `datetime_add`: a day that a month does not have becomes its last day. */
export function addPart(name: string, amount: bigint, moment: Datetime): Datetime | null {
  const length = lengths[name];
  if (name === 'nanosecond') return datetimeIfAny(moment.ticks + amount / 100n);
  if (length !== undefined) return datetimeIfAny(moment.ticks + amount * length);
  const count = months[name];
  if (count === undefined) return unsupported(`adding the part ${name} to a datetime`);
  const month = monthOf(moment) + amount * count;
  const [year, monthOfYear] = [Number(floorDivide(month, 12n)), Number(month - floorDivide(month, 12n) * 12n) + 1];
  const clock = moment.ticks % ticksPerDay;
  for (let day = dateOf(moment).getUTCDate(); day > 0; day--) {
    const found = momentOf([year, monthOfYear, day]);
    if (found) return datetimeIfAny(found.ticks + clock);
  }
  return null;
}

/** `datetime_diff`: how many borders of the unit lie between the two. */
export function differenceOf(name: string, later: Datetime, earlier: Datetime): bigint {
  const length = lengths[name];
  if (name === 'nanosecond') return (later.ticks - earlier.ticks) * 100n;
  if (name === 'week') return weeks(later) - weeks(earlier);
  if (length !== undefined) return floorDivide(later.ticks, length) - floorDivide(earlier.ticks, length);
  const count = months[name];
  if (count === undefined) return unsupported(`the difference of datetimes in the part ${name}`);
  return floorDivide(monthOf(later), count) - floorDivide(monthOf(earlier), count);
}

/** Weeks begin on Sunday; 0001-01-01 was a Monday. */
const weeks = (moment: Datetime): bigint => floorDivide(moment.ticks + ticksPerDay, 7n * ticksPerDay);
