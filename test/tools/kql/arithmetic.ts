import { datetimeIfAny, floorDivide } from './time-text.ts';
import { unsupported } from './unsupported.ts';
import { isDatetime, isNumeric, isTimespan, timespan, type Value, wrapLong } from './values.ts';

export type Operation = '+' | '-' | '*' | '/' | '%';

/** `a <operation> b`. Null gives null; longs wrap around; `%` is never negative. */
export function calculate(operation: Operation, a: Value, b: Value): Value {
  if (a === null || b === null) return null;
  if (typeof a === 'bigint' && typeof b === 'bigint') return wholes(operation, a, b);
  if (isNumeric(a) && isNumeric(b)) return reals(operation, Number(a), Number(b));
  if (isTimespan(a) && isTimespan(b)) return spans(operation, a.ticks, b.ticks);
  if (isTimespan(a) && isNumeric(b)) return scaled(operation, a.ticks, b);
  if (isNumeric(a) && isTimespan(b) && operation === '*') return scaled('*', b.ticks, a);
  if (isDatetime(a) && isDatetime(b) && operation === '-') return timespan(a.ticks - b.ticks);
  if (isDatetime(a) && isTimespan(b) && (operation === '+' || operation === '-')) {
    return datetimeIfAny(operation === '+' ? a.ticks + b.ticks : a.ticks - b.ticks);
  }
  if (isTimespan(a) && isDatetime(b) && operation === '+') return datetimeIfAny(a.ticks + b.ticks);
  return unsupported(`${operation} between values of these types`);
}

function wholes(operation: Operation, a: bigint, b: bigint): Value {
  switch (operation) {
    case '+':
      return wrapLong(a + b);
    case '-':
      return wrapLong(a - b);
    case '*':
      return wrapLong(a * b);
    case '/':
      return b === 0n ? null : wrapLong(a / b);
    case '%':
      return b === 0n ? null : remainder(a, b);
  }
}

/** What is left, from 0 up to the size of `by`. */
function remainder(value: bigint, by: bigint): bigint {
  const size = by < 0n ? -by : by;
  return ((value % size) + size) % size;
}

function reals(operation: Operation, a: number, b: number): number {
  switch (operation) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%': {
      const size = Math.abs(b);
      const left = a % size;
      return left < 0 ? left + size : left;
    }
  }
}

function spans(operation: Operation, a: bigint, b: bigint): Value {
  switch (operation) {
    case '+':
      return timespan(a + b);
    case '-':
      return timespan(a - b);
    case '/':
      return b === 0n ? unsupported('a timespan divided by none') : Number(a) / Number(b);
    case '%':
      return b === 0n ? unsupported('what is left of a timespan by none') : timespan(remainder(a, b));
    default:
      return unsupported(`${operation} between timespans`);
  }
}

function scaled(operation: Operation, ticks: bigint, by: bigint | number): Value {
  if (operation !== '*' && operation !== '/') return unsupported(`${operation} between a timespan and a number`);
  if (typeof by === 'bigint') {
    if (operation === '*') return timespan(ticks * by);
    return by === 0n ? unsupported('a timespan divided by 0') : timespan(ticks / by);
  }
  const result = operation === '*' ? Number(ticks) * by : Number(ticks) / by;
  return Number.isFinite(result) ? timespan(BigInt(Math.trunc(result))) : unsupported('a timespan without end');
}

export function negate(value: Value): Value {
  if (value === null) return null;
  if (typeof value === 'bigint') return wrapLong(-value);
  if (typeof value === 'number') return -value;
  if (isTimespan(value)) return timespan(-value.ticks);
  return unsupported('the minus of a value of this type');
}

/** Rounds down to a multiple of `size`, counted from `origin` (0 for numbers and timespans, year 1 for datetimes). */
export function binned(value: Value, size: Value, origin: bigint = 0n): Value {
  if (value === null || size === null) return null;
  if (typeof value === 'bigint' && typeof size === 'bigint') {
    return size <= 0n ? null : floorDivide(value - origin, size) * size + origin;
  }
  if (isNumeric(value) && isNumeric(size)) {
    return Number(size) <= 0 ? null : Math.floor(Number(value) / Number(size)) * Number(size);
  }
  if (isTimespan(size) && (isTimespan(value) || isDatetime(value))) {
    if (size.ticks <= 0n) return null;
    const ticks = floorDivide(value.ticks - origin, size.ticks) * size.ticks + origin;
    return isDatetime(value) ? datetimeIfAny(ticks) : timespan(ticks);
  }
  return unsupported('bin() of values of these types');
}
