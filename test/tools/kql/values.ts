import { unsupported } from './unsupported.ts';

/** A moment: ticks of 100 ns since 0001-01-01T00:00Z. */
export type Datetime = { readonly kind: 'datetime'; readonly ticks: bigint };
/** A duration: ticks of 100 ns. */
export type Timespan = { readonly kind: 'timespan'; readonly ticks: bigint };
export type Guid = { readonly kind: 'guid'; readonly text: string };
export type Bag = ReadonlyMap<string, Value>;

/**
 * One cell. `int` and `long` are bigints, `real` is a number, so a value always shows its type, inside `dynamic` too.
 * Null is the null of every type but `string`, which has none: there it is the empty string.
 */
export type Value = null | boolean | bigint | number | string | Datetime | Timespan | Guid | readonly Value[] | Bag;

/** The scalar types of Kusto, as the language service names them. */
export type TypeName = string;

export const datetime = (ticks: bigint): Datetime => ({ kind: 'datetime', ticks });
export const timespan = (ticks: bigint): Timespan => ({ kind: 'timespan', ticks });
export const guid = (text: string): Guid => ({ kind: 'guid', text: text.toLowerCase() });

export const isArray = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isBag = (value: Value): value is Bag => value instanceof Map;
const isMarked = (value: Value): value is Datetime | Timespan | Guid =>
  typeof value === 'object' && value !== null && 'kind' in value;
export const isDatetime = (value: Value): value is Datetime => isMarked(value) && value.kind === 'datetime';
export const isTimespan = (value: Value): value is Timespan => isMarked(value) && value.kind === 'timespan';
export const isGuid = (value: Value): value is Guid => isMarked(value) && value.kind === 'guid';
export const isNumeric = (value: Value): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

/** The type a value has by itself; every integer is a `long`. */
export function typeOfValue(value: Value): TypeName {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'long';
  if (typeof value === 'number') return 'real';
  if (typeof value === 'string') return 'string';
  if (isArray(value)) return 'array';
  if (isBag(value)) return 'bag';
  return value.kind;
}

/** What a cell of `type` holds when there is nothing: `string` has no null. */
export const nothingOf = (type: TypeName): Value => (type === 'string' ? '' : null);

const firstLong = -(2n ** 63n);
const lastLong = 2n ** 63n - 1n;
export const isLong = (value: bigint): boolean => value >= firstLong && value <= lastLong;
export const isInt = (value: bigint): boolean => value >= -2147483648n && value <= 2147483647n;

/**
 * The value as a cell of a column of `type`. The binder says what each expression gives; a value of another type means
 * that the engine and the binder disagree, and then the answer is not to be trusted.
 */
export function cellOf(value: Value, type: TypeName): Value {
  if (value === null) return nothingOf(type);
  if (type === 'dynamic' || type === 'unknown') return value;
  const given = typeOfValue(value);
  if (given === type || (type === 'int' && given === 'long')) return value;
  if (type === 'real' && typeof value === 'bigint') return Number(value);
  return unsupported(`a value of type ${given} where the language service expects ${type}`);
}

/** Two values are the same group, the same join key, the same member of a set, exactly when their keys are equal. */
export function keyOf(value: Value): string {
  if (value === null) return 'n';
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'bigint') return `l${value}`;
  if (typeof value === 'number') return Number.isInteger(value) ? `l${BigInt(value)}` : `r${value}`;
  if (typeof value === 'boolean') return `b${value}`;
  if (isArray(value)) return `[${value.map((each) => JSON.stringify(keyOf(each))).join(',')}]`;
  if (isBag(value)) {
    const pairs = [...value].map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(keyOf(each))}`);
    return `{${pairs.sort().join(',')}}`;
  }
  return value.kind === 'guid' ? `g${value.text}` : `${value.kind[0]}${value.ticks}`;
}

/** Each key with its length before it: no two lists of values run into one. */
export function keyOfAll(values: readonly Value[]): string {
  let all = '';
  for (const value of values) {
    const key = keyOf(value);
    all += `${key.length} ${key}`;
  }
  return all;
}

/** Refuses what is no long; the engine wraps around there only for arithmetic on columns. */
export const wrapLong = (value: bigint): bigint => BigInt.asIntN(64, value);
