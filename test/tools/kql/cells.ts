import { dynamicOf } from './json.ts';
import { datetimeText, parseDatetime, timespanText } from './time-text.ts';
import { datetime, isArray, isBag, nothingOf, type TypeName, type Value } from './values.ts';

/** A cell of an answer as JSON: times as text with seven digits, longs beyond 2^53 and reals that are no number as text. */
export type Cell = null | boolean | number | string | readonly Cell[] | { readonly [name: string]: Cell };

export function cellAsJson(value: Value): Cell {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (isArray(value)) return value.map(cellAsJson);
  if (isBag(value)) return Object.fromEntries([...value].map(([name, each]) => [name, cellAsJson(each)]));
  if (value.kind === 'guid') return value.text;
  return value.kind === 'datetime' ? datetimeText(value) : timespanText(value);
}

/** A value of a row given by a test, as a cell of a column of `type`. Throws where it cannot be one. */
export function cellFromJson(json: unknown, type: TypeName): Value {
  if (json === null || json === undefined) return nothingOf(type);
  switch (type) {
    case 'string':
      if (typeof json === 'string') return json;
      break;
    case 'bool':
      if (typeof json === 'boolean') return json;
      break;
    case 'int':
    case 'long':
      if (typeof json === 'bigint') return json;
      if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
      break;
    case 'real':
      if (typeof json === 'number') return json;
      break;
    case 'datetime': {
      const moment = typeof json === 'string' ? parseDatetime(json) : undefined;
      if (moment) return datetime(moment.ticks);
      break;
    }
    case 'dynamic':
      return dynamicOf(json);
  }
  throw new Error(`${JSON.stringify(json)} is not a value of type ${type}`);
}
