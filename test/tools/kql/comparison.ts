import { unsupported } from './unsupported.ts';
import { isArray, isBag, isDatetime, isGuid, isNumeric, isTimespan, type Value } from './values.ts';

/** The order of two values of one kind that are not null; -1, 0 or 1. NaN has no order: callers check for it first. */
export function order(a: Value, b: Value): number {
  if (isNumeric(a) && isNumeric(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if ((isDatetime(a) && isDatetime(b)) || (isTimespan(a) && isTimespan(b))) {
    return a.ticks < b.ticks ? -1 : a.ticks > b.ticks ? 1 : 0;
  }
  if (isGuid(a) && isGuid(b) && a.text === b.text) return 0;
  return unsupported('an order between values of these types');
}

const isNoNumber = (value: Value): boolean => typeof value === 'number' && Number.isNaN(value);

/**
 * Equality as `==` knows it: null when both are null, false when one is.
 * https://learn.microsoft.com/kusto/query/scalar-data-types/null-values
 */
export function equal(a: Value, b: Value): boolean | null {
  if (a === null || b === null) return a === null && b === null ? null : false;
  if (isNoNumber(a) || isNoNumber(b)) return false;
  if (isArray(a) || isArray(b) || isBag(a) || isBag(b)) return unsupported('the equality of arrays or property bags');
  if (isGuid(a) && isGuid(b)) return a.text === b.text;
  return order(a, b) === 0;
}

/** `<`, `<=`, `>` and `>=`: null when a side is null, false when a side is not a number. */
export function ordered(a: Value, b: Value, holds: (order: number) => boolean): boolean | null {
  if (a === null || b === null) return null;
  if (isNoNumber(a) || isNoNumber(b)) return false;
  return holds(order(a, b));
}

const kleene = (value: Value): boolean | null =>
  value === null || typeof value === 'boolean' ? value : unsupported('a condition that is no bool');

export const not = (value: Value): boolean | null => {
  const known = kleene(value);
  return known === null ? null : !known;
};

/** The order in which rows are sorted by one column: nulls first or last, NaN with the nulls' neighbours refused. */
export function sortOrder(isAscending: boolean, isNullsFirst: boolean): (a: Value, b: Value) => number {
  return (a, b) => {
    if (a === null || b === null) {
      if (a === b) return 0;
      return (a === null) === isNullsFirst ? -1 : 1;
    }
    if (isNoNumber(a) || isNoNumber(b)) return unsupported('the order of NaN');
    return isAscending ? order(a, b) : order(b, a);
  };
}
