import { calculate } from '../arithmetic.ts';
import { equal, order, sortOrder } from '../comparison.ts';
import type { ScalarFunction, ScalarFunctions } from '../scope.ts';
import { ticksPerHour } from '../time-text.ts';
import { unsupported } from '../unsupported.ts';
import { isArray, isBag, isNumeric, isTimespan, timespan, type Value } from '../values.ts';

/** A function of an array; null of what is none. */
const ofArray =
  (calculateFrom: (items: readonly Value[], ...rest: Value[]) => Value): ScalarFunction =>
  ([items = null, ...rest]) =>
    isArray(items) ? calculateFrom(items, ...rest) : null;

function slice(items: readonly Value[], start: Value = null, end: Value = null): Value {
  if (typeof start !== 'bigint' || typeof end !== 'bigint') return unsupported('array_slice() without whole numbers');
  const at = (index: bigint) => (index < 0n ? Number(index) + items.length : Number(index));
  return items.slice(Math.max(0, at(start)), at(end) + 1);
}

/** Shifts to the left; to the right when negative. Empty places hold `fill`. */
function shifted(items: readonly Value[], by: Value, fill: Value): Value {
  if (typeof by !== 'bigint') return unsupported('a shift by no whole number');
  return items.map((_, index) => items[index + Number(by)] ?? fill);
}

function rotated(items: readonly Value[], by: Value): Value {
  if (typeof by !== 'bigint') return unsupported('a rotation by no whole number');
  const size = items.length;
  return items.map((_, index) => items[(((index + Number(by)) % size) + size) % size] ?? null);
}

const opposite = (by: Value): Value => (typeof by === 'bigint' ? -by : by);

const kindOf = (value: Value): string => (isNumeric(value) ? 'number' : typeof value);

/**
 * Sorted, nulls last unless the last argument is false. Of several arrays the first is sorted and the others are put
 * into its order: as many results as arrays.
 */
const sorted =
  (sign: 1 | -1): ScalarFunction =>
  (args) => {
    const [items = null, ...rest] = args;
    const last = rest.at(-1);
    const isNullsLast = typeof last === 'boolean' ? last : true;
    const others = typeof last === 'boolean' ? rest.slice(0, -1) : rest;
    if (!isArray(items)) return others.length === 0 ? null : unsupported('the sort of several, the first no array');
    const values = items.filter((item) => item !== null);
    if (new Set(values.map(kindOf)).size > 1) return unsupported('the sort of an array of several types');
    const indexes = items.map((_, index) => index);
    const compare = sortOrder(sign === 1, !isNullsLast);
    indexes.sort((a, b) => compare(items[a] ?? null, items[b] ?? null));
    const inOrder = (array: readonly Value[]) => indexes.map((index) => array[index] ?? null);
    if (others.length === 0) return inOrder(items);
    const isEven = (other: Value) => isArray(other) && other.length === items.length;
    return [items, ...others].map((each) =>
      isArray(each) && isEven(each) ? inOrder(each) : unsupported('the sort of arrays of several lengths'),
    );
  };

function split(items: readonly Value[], at: Value = null): Value {
  const places = isArray(at) ? at : [at];
  const indexes = places.map((place) => {
    if (typeof place !== 'bigint') return unsupported('array_split() at no whole number');
    return Number(place < 0n ? BigInt(items.length) + place : place);
  });
  const bounds = [0, ...indexes, items.length];
  return bounds.slice(1).map((end, index) => items.slice(bounds[index] ?? 0, end));
}

function indexOf(items: readonly Value[], wanted: Value = null, ...rest: Value[]): Value {
  if (rest.length > 0) return unsupported('array_index_of() in a part of the array');
  return BigInt(items.findIndex((item) => kindOf(item) === kindOf(wanted) && equal(item, wanted) === true));
}

function sum(items: readonly Value[]): Value {
  const numbers = items.filter(isNumeric);
  if (numbers.length < items.filter((item) => item !== null).length)
    return unsupported('array_sum() of what is no number');
  if (items.length === 0) return null;
  return numbers.reduce<number>((total, item) => total + Number(item), 0);
}

/** `range(from, to, step)`: the last value is the last that does not pass `to`. */
function range([from = null, to = null, step]: readonly Value[]): Value {
  const by = step ?? (isTimespan(from) ? timespan(ticksPerHour) : 1n);
  if (from === null || to === null || by === null) return unsupported('range() with nulls');
  if (step === undefined && typeof from !== 'bigint' && !isTimespan(from)) return unsupported('range() without a step');
  const values: Value[] = [];
  for (let value: Value = from; value !== null && order(value, to) <= 0; value = calculate('+', value, by)) {
    values.push(value);
    if (values.length > 100_000) return unsupported('range() without an end');
  }
  return values;
}

function zip(args: readonly Value[]): Value {
  const arrays = args.map((arg) => (isArray(arg) ? arg : [arg]));
  const length = Math.max(...arrays.map((items) => items.length));
  return Array.from({ length }, (_, index) => arrays.map((items) => items[index] ?? null));
}

function choose([conditions = null, whenTrue = null, whenFalse = null]: readonly Value[]): Value {
  if (!isArray(conditions)) return null;
  const pick = (from: Value, index: number) => (isArray(from) ? (from[index] ?? null) : from);
  return conditions.map((condition, index) => {
    if (condition === null) return null;
    const holds = isNumeric(condition) ? Number(condition) !== 0 : condition;
    if (typeof holds !== 'boolean') return unsupported('array_iff() of no condition');
    return pick(holds ? whenTrue : whenFalse, index);
  });
}

export const arrayFunctions: ScalarFunctions = {
  array_length: ofArray((items) => BigInt(items.length)),
  array_concat: (args) => args.flatMap((arg) => (isArray(arg) ? arg : [])),
  array_slice: ofArray(slice),
  array_reverse: ofArray((items) => items.toReversed()),
  array_rotate_left: ofArray((items, by = null) => rotated(items, by)),
  array_rotate_right: ofArray((items, by = null) => rotated(items, opposite(by))),
  array_shift_left: ofArray((items, by = null, fill = null) => shifted(items, by, fill)),
  array_shift_right: ofArray((items, by = null, fill = null) => shifted(items, opposite(by), fill)),
  array_sort_asc: sorted(1),
  array_sort_desc: sorted(-1),
  array_split: ofArray(split),
  array_index_of: ofArray(indexOf),
  array_sum: ofArray(sum),
  array_iff: choose,
  pack_array: (args) => [...args],
  range,
  zip,
  repeat: ([value = null, times = null]) => {
    if (typeof times !== 'bigint' || isBag(value) || isArray(value)) return unsupported('repeat() of that');
    return Array.from({ length: Math.max(0, Number(times)) }, () => value);
  },
};
