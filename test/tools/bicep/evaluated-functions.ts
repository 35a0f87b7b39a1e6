import { createHash } from 'node:crypto';

type Json = unknown;
type Lambda = (...given: Json[]) => Json;

const list = (value: Json): Json[] => (Array.isArray(value) ? value : []);
const record = (value: Json): Record<string, Json> => (typeof value === 'object' && value !== null ? { ...value } : {});
const text = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
const lambda = (value: Json): Lambda => (typeof value === 'function' ? (value as Lambda) : () => null);
const isEmpty = (value: Json): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
const merge = (a: Json, b: Json): Json => {
  if (Array.isArray(a) && Array.isArray(b)) return [...new Set([...a, ...b])];
  const [left, right] = [record(a), record(b)];
  const isObject = (value: Json) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const both = Object.entries(right).map(
    ([key, value]) => [key, isObject(value) && isObject(left[key]) ? merge(left[key], value) : value] as const,
  );
  return { ...left, ...Object.fromEntries(both) };
};

/** What functions of Bicep give for plain values. What only Azure knows is none of them. */
export const evaluatedFunctions: Readonly<Record<string, (...given: readonly Json[]) => Json>> = {
  base64: (value) => Buffer.from(text(value)).toString('base64'),
  bool: (value) => value === true || String(value).toLowerCase() === 'true',
  concat: (...given) => (Array.isArray(given[0]) ? given.flatMap(list) : given.map(text).join('')),
  contains: (whole, part) => {
    if (typeof whole === 'string') return whole.includes(text(part));
    return Array.isArray(whole) ? whole.includes(part) : Object.keys(record(whole)).some((key) => key === part);
  },
  empty: isEmpty,
  endsWith: (whole, part) => text(whole).toLowerCase().endsWith(text(part).toLowerCase()),
  filter: (items, keep) => list(items).filter((item, n) => lambda(keep)(item, n) === true),
  first: (whole) => (typeof whole === 'string' ? whole.slice(0, 1) : (list(whole)[0] ?? null)),
  flatten: (lists) => list(lists).flatMap(list),
  format: (pattern, ...given) => text(pattern).replace(/\{(\d+)\}/g, (_, n) => text(given[Number(n)])),
  indexOf: (whole, part) =>
    Array.isArray(whole) ? whole.indexOf(part) : text(whole).toLowerCase().indexOf(text(part).toLowerCase()),
  int: (value) => Number.parseInt(text(value), 10),
  items: (object) =>
    Object.entries(record(object))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => ({ key, value })),
  join: (items, by) => list(items).map(text).join(text(by)),
  json: (value) => JSON.parse(text(value)),
  last: (whole) => (typeof whole === 'string' ? whole.slice(-1) : (list(whole).at(-1) ?? null)),
  lastIndexOf: (whole, part) =>
    Array.isArray(whole) ? whole.lastIndexOf(part) : text(whole).toLowerCase().lastIndexOf(text(part).toLowerCase()),
  length: (whole) => (typeof whole === 'string' ? whole.length : Object.keys(record(whole)).length),
  map: (items, each) => list(items).map((item, n) => lambda(each)(item, n)),
  mapValues: (object, each) =>
    Object.fromEntries(Object.entries(record(object)).map(([key, value]) => [key, lambda(each)(value)])),
  max: (...given) => Math.max(...(Array.isArray(given[0]) ? list(given[0]) : given).map(Number)),
  min: (...given) => Math.min(...(Array.isArray(given[0]) ? list(given[0]) : given).map(Number)),
  objectKeys: (object) => Object.keys(record(object)).sort(),
  padLeft: (value, length, by = ' ') => text(value).padStart(Number(length), text(by)),
  range: (from, count) => Array.from({ length: Number(count) }, (_, n) => Number(from) + n),
  reduce: (items, start, each) => list(items).reduce((sum, item) => lambda(each)(sum, item), start),
  replace: (whole, from, to) => text(whole).replaceAll(text(from), text(to)),
  shallowMerge: (objects) => Object.assign({}, ...list(objects).map(record)),
  skip: (whole, n) => (typeof whole === 'string' ? whole.slice(Number(n)) : list(whole).slice(Number(n))),
  sort: (items, isBefore) =>
    list(items).toSorted((a, b) => {
      if (typeof isBefore === 'function') return lambda(isBefore)(a, b) === true ? -1 : 1;
      return text(a) < text(b) ? -1 : 1;
    }),
  split: (whole, by) => {
    const marks = Array.isArray(by) ? by.map(text) : [text(by)];
    return marks.reduce((parts, mark) => parts.flatMap((part) => part.split(mark)), [text(whole)]);
  },
  startsWith: (whole, part) => text(whole).toLowerCase().startsWith(text(part).toLowerCase()),
  string: text,
  substring: (whole, from, count) =>
    text(whole).slice(Number(from), count === undefined ? undefined : Number(from) + Number(count)),
  take: (whole, n) => (typeof whole === 'string' ? whole.slice(0, Number(n)) : list(whole).slice(0, Number(n))),
  toLower: (value) => text(value).toLowerCase(),
  toObject: (items, key, value) =>
    Object.fromEntries(
      list(items).map((item) => [text(lambda(key)(item)), value === undefined ? item : lambda(value)(item)]),
    ),
  toUpper: (value) => text(value).toUpperCase(),
  trim: (value) => text(value).trim(),
  /** Thirteen characters, as Azure's; other ones. */
  uniqueString: (...given) =>
    BigInt(`0x${createHash('sha256').update(JSON.stringify(given)).digest('hex').slice(0, 20)}`)
      .toString(36)
      .slice(0, 13),
  union: (...given) => given.reduce(merge),
};
