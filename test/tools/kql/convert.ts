import { jsonText, parseJson } from './json.ts';
import { realText } from './real-text.ts';
import { datetimeIfAny, datetimeText, parseDatetime, parseTimespan, timespanText } from './time-text.ts';
import { unsupported } from './unsupported.ts';
import {
  type Datetime,
  type Guid,
  guid,
  isArray,
  isBag,
  isDatetime,
  isGuid,
  isInt,
  isLong,
  isNumeric,
  isTimespan,
  type Timespan,
  type TypeName,
  timespan,
  type Value,
} from './values.ts';

/** What `tostring` gives. A bool of a column is `True`, one inside a dynamic value is JSON: `true`. */
export function textOf(value: Value, type: TypeName): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return type === 'dynamic' ? String(value) : value ? 'True' : 'False';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return realText(value);
  if (isDatetime(value)) return datetimeText(value);
  if (isTimespan(value)) return timespanText(value);
  if (isGuid(value)) return value.text;
  return jsonText(value);
}

/** `tolong` and `toint`: reals are cut, text is read as decimal or hexadecimal, what does not fit is null. */
export function wholeOf(value: Value, fits: (value: bigint) => boolean): bigint | null {
  if (value === null || isArray(value) || isBag(value)) return null;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'bigint') return fits(value) ? value : wrapInt(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return unsupported('an integer of a real that is none');
    const cut = BigInt(Math.trunc(value));
    return fits(cut) ? cut : unsupported('an integer of a real that is too large');
  }
  if (typeof value === 'string') return wholeOfText(value.trim(), fits);
  if (isDatetime(value) || isTimespan(value)) {
    return fits(value.ticks) ? value.ticks : wrapInt(value.ticks);
  }
  return null;
}

/** A long that is too long for an int loses its upper half. */
const wrapInt = (value: bigint): bigint => BigInt.asIntN(32, value);

function wholeOfText(text: string, fits: (value: bigint) => boolean): bigint | null {
  if (/^[+-]?\d+$/.test(text)) {
    const whole = BigInt(text.replace('+', ''));
    return fits(whole) ? whole : null;
  }
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) {
    const bits = BigInt.asIntN(64, BigInt(text));
    return fits(bits) ? bits : unsupported(`an int of the text "${text}"`);
  }
  if (!/^[+-]?\d+\.?\d*e[+-]?\d+$/i.test(text)) return null;
  return Math.abs(Number(text)) > 1e19 / 2 ? null : unsupported(`an integer of the text "${text}"`);
}

export const intOf = (value: Value): bigint | null => wholeOf(value, isInt);
export const longOf = (value: Value): bigint | null => wholeOf(value, isLong);

/** `toreal`. */
export function realOf(value: Value): number | null {
  if (value === null || isArray(value) || isBag(value)) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (isNumeric(value)) return Number(value);
  if (isDatetime(value) || isTimespan(value)) return Number(value.ticks);
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  const named = namedReals.get(text);
  if (named !== undefined) return named;
  return /^0x|nan|inf/i.test(text) && text !== 'INF' ? unsupported(`a real of the text "${text}"`) : null;
}

/** The service reads these spellings and not, for one, `INF`. */
const namedReals: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['Inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['+Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** `tobool`: numbers are true unless 0; of texts only `true`, `false` and integers are known. */
export function boolOf(value: Value): boolean | null {
  if (value === null || typeof value === 'boolean') return value;
  if (isNumeric(value)) return Number(value) !== 0;
  if (typeof value !== 'string') return null;
  if (/^true$/i.test(value)) return true;
  if (/^false$/i.test(value)) return false;
  return /^-?\d+$/.test(value) ? Number(value) !== 0 : null;
}

/** `todatetime`: numbers are ticks. */
export function datetimeOf(value: Value): Datetime | null {
  if (value === null || isDatetime(value)) return value;
  if (typeof value === 'bigint') return datetimeIfAny(value);
  if (typeof value === 'number') return datetimeIfAny(BigInt(Math.trunc(value)));
  if (typeof value !== 'string') return null;
  const moment = parseDatetime(value);
  return moment === undefined ? unsupported(`a datetime of the text "${value}"`) : moment;
}

/** `totimespan`: numbers are ticks. */
export function timespanOf(value: Value): Timespan | null {
  if (value === null || isTimespan(value)) return value;
  if (typeof value === 'string') return parseTimespan(value);
  return typeof value === 'bigint' ? timespan(value) : null;
}

export function guidOf(value: Value): Guid | null {
  if (value === null || isGuid(value)) return value;
  if (typeof value !== 'string' || !/^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(value)) return null;
  const digits = value.replaceAll('-', '');
  return guid(digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
}

/** `parse_json`: what is no JSON stays the text it is. */
export function parsed(value: Value): Value {
  if (typeof value !== 'string') return value;
  if (value === '') return null;
  const json = parseJson(value);
  if (json !== undefined) return json;
  return /^\s*[[{].*'/s.test(value) ? unsupported(`JSON in single quotes: ${value}`) : value;
}

/** The value converted to `type`, as `mv-expand … to typeof()` and `parse x:long` do it. */
export function converted(value: Value, from: TypeName, type: TypeName): Value {
  switch (type) {
    case 'string':
      return textOf(value, from);
    case 'int':
      return intOf(value);
    case 'long':
      return longOf(value);
    case 'real':
      return realOf(value);
    case 'bool':
      return boolOf(value);
    case 'datetime':
      return datetimeOf(value);
    case 'timespan':
      return timespanOf(value);
    case 'guid':
      return guidOf(value);
    case 'dynamic':
      return value;
    default:
      return unsupported(`a conversion to ${type}`);
  }
}
