import { type Functions, isList, isObject, type Json } from './expression.ts';

function text(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  throw new Error(`${JSON.stringify(value)} is no text`);
}

function lengthOf(value: Json | undefined): number {
  if (typeof value === 'string' || isList(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  throw new Error(`${JSON.stringify(value)} has no length`);
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Functions that conditions and templates share. */
const everywhere: Functions = {
  concat: (...given) => (given.every(isList) ? given.flat() : given.map(text).join('')),
  empty: (value) => value === undefined || value === null || lengthOf(value) === 0,
  length: (value) => lengthOf(value),
  split: (value, by) => text(value).split(text(by)),
};

/** What a condition of a policy may call: https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-policy-rule#policy-functions */
export const inConditions: Functions = {
  ...everywhere,
  greaterOrEquals: (one, other) => text(one) >= text(other),
  last: (value) => (isList(value) ? (value.at(-1) ?? null) : text(value).slice(-1)),
};

/** What the template that a policy deploys may call. Names of properties are not case-sensitive to `union`. */
export const inTemplates: Functions = {
  ...everywhere,
  and: (...given) => given.every((one) => one === true),
  coalesce: (...given) => given.find((one) => one !== null) ?? null,
  contains: (value, part) => {
    if (typeof value === 'string') return value.includes(text(part));
    if (isObject(value)) return Object.keys(value).some((key) => same(key, text(part)));
    throw new Error('contains() takes a text or an object here');
  },
  createArray: (...given) => given,
  createObject: (...given) =>
    Object.fromEntries(given.flatMap((key, n) => (n % 2 === 0 ? [[text(key), given[n + 1] ?? null]] : []))),
  equals: (one, other) =>
    typeof one === 'string' && typeof other === 'string' ? one === other : Object.is(one, other),
  false: () => false,
  not: (value) => value === false,
  startsWith: (value, start) => text(value).startsWith(text(start)),
  toLower: (value) => text(value).toLowerCase(),
  tryGet: (value, ...keys) =>
    keys.reduce<Json>((of, key) => (isObject(of) ? (of[text(key)] ?? null) : null), value ?? null),
  union: (...given) => {
    const merged: { [key: string]: Json } = {};
    for (const [key, value] of given.flatMap((one) => (isObject(one) ? Object.entries(one) : []))) {
      merged[Object.keys(merged).find((known) => same(known, key)) ?? key] = value;
    }
    return merged;
  },
  uniqueString: (value) => `unique-${text(value).length}`,
};
