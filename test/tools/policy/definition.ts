import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/source-tree.ts';
import { holds, type Subject, valueIn } from './condition.ts';
import { isList, isObject, type Json, type JsonObject } from './expression.ts';
import { written } from './template.ts';

/** Kinds of resources that policies touch, and what is done to each, as the files of `infra/policy` are named. */
export const kinds = ['virtual-machine', 'scale-set'] as const;
export const rules = ['identity', 'inject', 'update', 'uncovered', 'user-events'] as const;
export type Kind = (typeof kinds)[number];
export type Rule = (typeof rules)[number];

/** A definition as `infra/fleet.bicep` deploys it: its own conditions after those that its kind shares. */
export interface Definition {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly conditions: readonly Json[];
  readonly effect: string;
  readonly details: JsonObject;
}

/** The effect of a rule. `change`: what it writes, or adds to the request. `skipped`: not in a request of this version. */
export type Outcome =
  | { readonly kind: 'not meant' | 'skipped' }
  | { readonly kind: 'as it should be' }
  | { readonly kind: 'listed' }
  | { readonly kind: 'change'; readonly resources: readonly JsonObject[] };

export function readDefinition(rule: Rule, kind: Kind): Definition {
  const shared = read(`eligible-${kind}`);
  const own = read(`${rule}-${kind}`);
  const then = objectAt(own, 'then');
  return {
    name: String(own.name),
    displayName: String(own.displayName),
    description: String(own.description),
    parameters: { ...objectAt(shared, 'parameters'), ...objectAt(own, 'parameters') },
    conditions: [...listAt(shared, 'conditions'), ...listAt(own, 'conditions')],
    effect: String(then.effect),
    details: isObject(then.details) ? then.details : {},
  };
}

/** Evaluates a definition as Azure Policy does, and carries out its effect. Refuses parameters too many or too few. */
export function outcome(definition: Definition, subject: Subject, given: JsonObject): Outcome {
  const { conditions, effect, details } = definition;
  const parameters = Object.fromEntries(
    Object.keys(definition.parameters).map((name) => {
      const value = given[name];
      if (value === undefined) throw new Error(`${definition.name}: no value for its parameter ${name}`);
      return [name, value];
    }),
  );
  if (!conditions.every((one) => holds(one, subject, parameters))) return { kind: 'not meant' };
  if (effect === 'audit') return { kind: 'listed' };
  if (effect === 'modify') return modified(details, subject, parameters);
  if (effect !== 'deployIfNotExists') throw new Error(`${definition.name}: the effect ${effect} is not known`);
  if (
    details.type !== subject.resource.type ||
    valueIn(details.name ?? null, subject, parameters) !== subject.resource.name
  ) {
    throw new Error(`${definition.name}: looks at another resource than the one that it is about`);
  }
  if (holds(details.existenceCondition ?? null, subject, parameters)) return { kind: 'as it should be' };
  const { template, parameters: values } = objectAt(objectAt(details, 'deployment'), 'properties');
  const passed = Object.entries(isObject(values) ? values : {}).map(([name, one]) => [
    name,
    isObject(one) ? valueIn(one.value ?? null, subject, parameters) : null,
  ]);
  return { kind: 'change', resources: written(template ?? null, Object.fromEntries(passed), subject.resource) };
}

/**
 * What a modify effect leaves. An operation whose condition does not hold is skipped, and the request continues unchanged:
 * https://learn.microsoft.com/azure/governance/policy/concepts/effect-modify#skipped-modification
 */
function modified(details: JsonObject, subject: Subject, parameters: JsonObject): Outcome {
  const [operation, ...more] = listAt(details, 'operations');
  if (!isObject(operation) || more.length > 0 || operation.operation !== 'add') throw new Error('one add is known');
  if (valueIn(operation.condition ?? true, subject, parameters) !== true) return { kind: 'skipped' };
  return { kind: 'change', resources: [added(operation, subject, parameters)] };
}

/** The list of applications: additions are appended. */
function added(operation: JsonObject, subject: Subject, parameters: JsonObject): JsonObject {
  const path = /\/((?:virtualMachineProfile\.)?applicationProfile)\.galleryApplications$/.exec(
    String(operation.field),
  )?.[1];
  if (!path || !isObject(operation.value)) throw new Error(`${operation.field}: adding to it is not known`);
  const value = Object.entries(operation.value).map(([key, one]) => [key, valueIn(one, subject, parameters)]);
  const { type = null, name = null, properties } = subject.resource;
  const profile = path
    .split('.')
    .reduce<Json>((of, key) => (isObject(of) ? (of[key] ?? null) : null), properties ?? null);
  const before = isObject(profile) && isList(profile.galleryApplications) ? profile.galleryApplications : [];
  const applicationProfile = { galleryApplications: [...before, Object.fromEntries(value)] };
  return {
    type,
    name,
    properties: path.includes('.') ? { virtualMachineProfile: { applicationProfile } } : { applicationProfile },
  };
}

function read(name: string): JsonObject {
  const content: Json = JSON.parse(readFileSync(join(root, 'infra/policy', `${name}.json`), 'utf8'));
  if (!isObject(content)) throw new Error(`infra/policy/${name}.json is no object`);
  return content;
}

function objectAt(of: JsonObject, key: string): JsonObject {
  const value = of[key];
  if (isObject(value)) return value;
  throw new Error(`${key} is no object`);
}

function listAt(of: JsonObject, key: string): readonly Json[] {
  const value = of[key];
  if (isList(value)) return value;
  throw new Error(`${key} is no list`);
}
