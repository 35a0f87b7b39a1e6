import { realText } from './real-text.ts';
import { datetimeText, timespanText } from './time-text.ts';
import { type Bag, isArray, isBag, isLong, type Value } from './values.ts';

/** A dynamic value as Kusto writes it: no white space, reals with a point, times as text. */
export function jsonText(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? realText(value) : quoted(realText(value));
  if (isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (isBag(value)) return `{${[...value].map(([name, each]) => `${quoted(name)}:${jsonText(each)}`).join(',')}}`;
  if (value.kind === 'guid') return quoted(value.text);
  return quoted(value.kind === 'datetime' ? datetimeText(value) : timespanText(value));
}

const quoted = (text: string): string => JSON.stringify(text);

/** The dynamic value of JSON text, or `undefined` for invalid JSON. Keeps order and whole numbers. */
export function parseJson(text: string): Value | undefined {
  let at = 0;
  const space = () => {
    while (/[\s]/.test(text.charAt(at)) && at < text.length) at++;
  };
  const take = (token: string) => {
    space();
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };
  const match = (pattern: RegExp): string | undefined => {
    space();
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const string = (): string | undefined => {
    const found = match(/"(?:[^"\\]|\\.)*"/sy);
    if (found === undefined) return undefined;
    try {
      return String(JSON.parse(found));
    } catch {
      return undefined;
    }
  };
  const value = (): Value | undefined => {
    if (take('{')) return bag();
    if (take('[')) return array();
    if (take('true')) return true;
    if (take('false')) return false;
    if (take('null')) return null;
    const number = match(/-?\d+(\.\d+)?([eE][+-]?\d+)?/y);
    if (number !== undefined) return numberOf(number);
    return string();
  };
  const array = (): Value | undefined => {
    const items: Value[] = [];
    if (take(']')) return items;
    do {
      const item = value();
      if (item === undefined) return undefined;
      items.push(item);
    } while (take(','));
    return take(']') ? items : undefined;
  };
  const bag = (): Bag | undefined => {
    const pairs = new Map<string, Value>();
    if (take('}')) return pairs;
    do {
      const name = string();
      const item = name === undefined || !take(':') ? undefined : value();
      if (name === undefined || item === undefined) return undefined;
      pairs.set(name, item);
    } while (take(','));
    return take('}') ? pairs : undefined;
  };
  const whole = value();
  space();
  return at === text.length ? whole : undefined;
}

function numberOf(text: string): Value {
  if (/^-?\d+$/.test(text)) {
    const whole = BigInt(text);
    return isLong(whole) ? whole : Number(text);
  }
  return Number(text);
}

/** A value of JavaScript's own JSON (rows of a table) as a dynamic one. Numbers without a fraction are longs. */
export function dynamicOf(json: unknown): Value {
  if (json === null || json === undefined) return null;
  if (typeof json === 'string' || typeof json === 'boolean') return json;
  if (Array.isArray(json)) return json.map(dynamicOf);
  if (Object.getPrototypeOf(json) !== Object.prototype) return parseJson(JSON.stringify(json)) ?? null;
  const pairs = Object.entries(json).filter(([, value]) => value !== undefined);
  return new Map(pairs.map(([name, value]) => [name, dynamicOf(value)]));
}
