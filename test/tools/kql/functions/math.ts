import { binned } from '../arithmetic.ts';
import { not, order } from '../comparison.ts';
import type { ScalarFunction, ScalarFunctions } from '../scope.ts';
import { floorDivide } from '../time-text.ts';
import { unsupported } from '../unsupported.ts';
import { isDatetime, isNumeric, isTimespan, timespan, type Value, wrapLong } from '../values.ts';

/** A function of reals; null of null. */
const real =
  (calculate: (...numbers: number[]) => number | null): ScalarFunction =>
  (args, { name }) => {
    if (args.some((value) => value === null)) return null;
    return calculate(
      ...args.map((value) => (isNumeric(value) ? Number(value) : unsupported(`${name}() of no number`))),
    );
  };

function absolute([value = null]: readonly Value[]): Value {
  if (value === null) return null;
  if (typeof value === 'number') return Math.abs(value);
  if (typeof value === 'bigint') return wrapLong(value < 0n ? -value : value);
  if (isTimespan(value)) return timespan(value.ticks < 0n ? -value.ticks : value.ticks);
  return unsupported('abs() of no number');
}

/** The first of all arguments in some order; nulls do not count, NaN wins. */
const extreme =
  (isBetter: (order: number) => boolean): ScalarFunction =>
  (args, { type }) => {
    const values = args.filter((value) => value !== null);
    if (type === 'string' || type === 'dynamic') return unsupported('min_of() or max_of() of text');
    if (values.some((value) => typeof value === 'number' && Number.isNaN(value))) return Number.NaN;
    return values.reduce<Value>((best, value) => (best === null || isBetter(order(value, best)) ? value : best), null);
  };

/** Half is rounded away from zero, as .NET's `MidpointRounding.AwayFromZero`. */
function rounded([value = null, digits = 0n]: readonly Value[]): Value {
  if (value === null || digits === null) return null;
  if (!isNumeric(value) || typeof digits !== 'bigint') return unsupported('round() of no number');
  if (digits < 0n || digits > 15n) return unsupported(`round() to ${digits} digits`);
  const scale = 10 ** Number(digits);
  const scaled = Math.abs(Number(value)) * scale;
  const whole = Math.round(scaled);
  if (whole !== Math.round(Number(scaled.toPrecision(15))))
    return unsupported(`round() of ${value}, which is almost a half`);
  return (Math.sign(Number(value)) * whole) / scale;
}

function binAt([value = null, size = null, fixed = null]: readonly Value[]): Value {
  if (value === null || size === null || fixed === null) return null;
  if (typeof value === 'bigint' && typeof size === 'bigint' && typeof fixed === 'bigint') {
    return size <= 0n ? null : floorDivide(value - fixed, size) * size + fixed;
  }
  if (isNumeric(value) && isNumeric(size) && isNumeric(fixed)) {
    const [at, step, from] = [Number(value), Number(size), Number(fixed)];
    return step <= 0 ? null : Math.floor((at - from) / step) * step + from;
  }
  if (isTimespan(size) && ((isDatetime(value) && isDatetime(fixed)) || (isTimespan(value) && isTimespan(fixed)))) {
    return binned(value, size, fixed.ticks);
  }
  return unsupported('bin_at() of values of these types');
}

const bin: ScalarFunction = ([value = null, size = null]) => binned(value, size);

/** Down or up to a whole number. */
function floor(args: readonly Value[]): Value {
  const [value = null, size = 1n] = args;
  return binned(value, size);
}

function ceiling([value = null]: readonly Value[]): Value {
  if (value === null || typeof value === 'bigint') return value;
  return isNumeric(value) ? Math.ceil(Number(value)) + 0 : unsupported('ceiling() of no number');
}

export const mathFunctions: ScalarFunctions = {
  abs: absolute,
  bin,
  floor,
  bin_at: binAt,
  ceiling,
  round: rounded,
  sqrt: real((value = 0) => Math.sqrt(value)),
  exp: real((value = 0) => Math.exp(value)),
  exp2: real((value = 0) => 2 ** value),
  exp10: real((value = 0) => 10 ** value),
  log: real((value = 0) => (value < 0 ? null : Math.log(value))),
  log2: real((value = 0) => (value < 0 ? unsupported('log2() of a negative number') : Math.log2(value))),
  log10: real((value = 0) => (value < 0 ? unsupported('log10() of a negative number') : Math.log10(value))),
  pow: real((base = 0, exponent = 0) => base ** exponent),
  sign: ([value = null]) => {
    if (value === null) return null;
    return isNumeric(value) ? Math.sign(Number(value)) || 0 : unsupported('sign() of no number');
  },
  not: ([value = null]) => not(value),
  max_of: extreme((order) => order > 0),
  min_of: extreme((order) => order < 0),
  isnan: ([value = null]) => (value === null ? null : Number.isNaN(value)),
  isinf: ([value = null]) => (value === null ? null : value === Infinity || value === -Infinity),
  isfinite: ([value = null]) => (value === null ? null : Number.isFinite(Number(value))),
  pi: () => Math.PI,
};
