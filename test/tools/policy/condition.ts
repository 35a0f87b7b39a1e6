import { at, elementsOf, fieldOf } from './aliases.ts';
import { evaluate, type Functions, isList, isObject, type Json, type JsonObject } from './expression.ts';
import { inConditions } from './functions.ts';

/** What a rule is evaluated on. */
export interface Subject {
  /** As Azure Resource Manager gives it. */
  readonly resource: JsonObject;
  readonly resourceGroup: { readonly name: string; readonly managedBy: string | null };
  /** API version of the request. For a resource that exists, Azure Policy uses the latest. */
  readonly apiVersion: string;
}

interface Scope extends Subject {
  readonly parameters: JsonObject;
  /** Element of a list under its alias, and values under their name, while a count evaluates them. */
  readonly elements: Readonly<Record<string, Json>>;
  readonly values: Readonly<Record<string, Json>>;
}

/**
 * Whether a condition of Azure Policy holds. As in Azure, text is compared without regard to case. Everything that this does
 * not know it refuses, so that a rule is never taken for one that it is not:
 * https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-policy-rule
 */
export function holds(condition: Json, subject: Subject, parameters: JsonObject): boolean {
  return decide(condition, { ...subject, parameters, elements: {}, values: {} });
}

/** The value of an expression of a rule. */
export const valueIn = (text: Json, subject: Subject, parameters: JsonObject): Json =>
  resolved(text, { ...subject, parameters, elements: {}, values: {} });

function decide(condition: Json, scope: Scope): boolean {
  if (!isObject(condition)) throw new Error(`${JSON.stringify(condition)} is no condition`);
  const { allOf, anyOf, not, ...rest } = condition;
  const only = Object.keys(condition).length === 1;
  if (only && isList(allOf)) return allOf.every((one) => decide(one, scope));
  if (only && isList(anyOf)) return anyOf.some((one) => decide(one, scope));
  if (only && not !== undefined) return !decide(not, scope);
  if (allOf ?? anyOf ?? not) throw new Error(`${Object.keys(condition)}: one of them only`);
  return compare(rest, scope);
}

function compare({ field, value, count, ...tests }: JsonObject, scope: Scope): boolean {
  const [[operator, wanted] = [], ...more] = Object.entries(tests);
  const subjects = [field, value, count].filter((one) => one !== undefined);
  if (operator === undefined || wanted === undefined || more.length > 0 || subjects.length !== 1) {
    throw new Error(`${JSON.stringify({ field, value, count, ...tests })}: wants one subject and one test`);
  }
  const test = operators[operator];
  if (!test) throw new Error(`${operator} is not known`);
  return test(subjectOf(field, value, count, scope), isList(wanted) ? wanted : resolved(wanted, scope));
}

function subjectOf(field: Json | undefined, value: Json | undefined, count: Json | undefined, scope: Scope): Json {
  if (field !== undefined) return namedField(resolved(field, scope), scope);
  if (value !== undefined) return resolved(value, scope);
  if (!isObject(count)) throw new Error('a count is an object');
  const { field: alias, value: listed, name, where, ...rest } = count;
  if (Object.keys(rest).length > 0) throw new Error(`${JSON.stringify(count)}: not a known count`);
  if (typeof alias === 'string' && listed === undefined) {
    const counted = elementsOf(scope.resource, alias);
    if (where === undefined) return counted.length;
    return counted.filter((item) => decide(where, { ...scope, elements: { ...scope.elements, [alias]: item } })).length;
  }
  const counted = resolved(listed ?? null, scope);
  if (!isList(counted) || typeof name !== 'string' || where === undefined) {
    throw new Error('a count of values wants a list, a name and a condition');
  }
  // https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-policy-rule#count
  if (counted.length > 100) throw new Error(`${name}: a count of values looks at 100 at most`);
  return counted.filter((item) => decide(where, { ...scope, values: { ...scope.values, [name]: item } })).length;
}

function namedField(name: Json, scope: Scope): Json {
  if (typeof name !== 'string') throw new Error(`${JSON.stringify(name)} is no name of a field`);
  for (const [alias, element] of Object.entries(scope.elements)) {
    if (name.startsWith(`${alias}.`)) return at(element, name.slice(alias.length + 1));
  }
  if (name.includes('[*].')) throw new Error(`${name}: only inside a count over its list`);
  return fieldOf(scope.resource, name);
}

function resolved(value: Json, scope: Scope): Json {
  if (typeof value !== 'string') return value;
  const functions: Functions = {
    ...inConditions,
    parameters: (name) => known(scope.parameters, name, 'parameters'),
    field: (name) => namedField(name ?? null, scope),
    current: (name) => known(scope.values, name, 'current'),
    resourceGroup: () => scope.resourceGroup,
    requestContext: () => ({ apiVersion: scope.apiVersion }),
  };
  return evaluate(value, functions);
}

function known(of: Readonly<Record<string, Json>>, name: Json | undefined, by: string): Json {
  const value = of[String(name)];
  if (value === undefined) throw new Error(`${by}('${name}') is not known here`);
  return value;
}

const lower = (value: Json): Json => (typeof value === 'string' ? value.toLowerCase() : value);

/** Azure compares true with 'true' and 1 with '1'. */
function equal(one: Json, other: Json): boolean {
  if (one === null || other === null) return false;
  return String(lower(one)) === String(lower(other));
}

function alike(value: Json, pattern: Json): boolean {
  if (typeof pattern !== 'string' || pattern.split('*').length > 2) throw new Error(`${pattern}: one * at most`);
  if (typeof value !== 'string') return false;
  const [start = '', end] = pattern.toLowerCase().split('*');
  const text = value.toLowerCase();
  if (end === undefined) return text === start;
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}

function among(value: Json, list: Json): boolean {
  if (!isList(list)) throw new Error('in wants a list');
  return list.some((one) => equal(value, one));
}

function hasKey(value: Json, key: Json): boolean {
  return isObject(value) && Object.keys(value).some((one) => equal(one, key));
}

function number(value: Json): number {
  if (typeof value !== 'number') throw new Error(`${JSON.stringify(value)} is no number`);
  return value;
}

const operators: Readonly<Record<string, (value: Json, wanted: Json) => boolean>> = {
  equals: equal,
  notEquals: (value, wanted) => !equal(value, wanted),
  in: among,
  notIn: (value, wanted) => !among(value, wanted),
  like: alike,
  notLike: (value, wanted) => !alike(value, wanted),
  contains: (value, part) => typeof value === 'string' && value.toLowerCase().includes(String(lower(part))),
  containsKey: hasKey,
  notContainsKey: (value, wanted) => !hasKey(value, wanted),
  exists: (value, wanted) => (value !== null) === equal(wanted, true),
  greater: (value, wanted) => number(value) > number(wanted),
  greaterOrEquals: (value, wanted) => number(value) >= number(wanted),
  less: (value, wanted) => number(value) < number(wanted),
};
