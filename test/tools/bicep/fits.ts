import { type Finding, finding } from './finding.ts';
import { infer, localsOfLoop } from './infer.ts';
import type { Scope } from './scope.ts';
import { describeShape, hint, mayBeNull, membersOf, type ObjectShape, type Shape, withoutNull } from './shape.ts';
import { type Entry, type Expression, plainText } from './syntax.ts';

type Of<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

/** Why an expression cannot stand where `wanted` is wanted; empty when it can, or when that cannot be seen. */
export function mismatches(expression: Expression, wanted: Shape, where: string, scope: Scope): Finding[] {
  if (wanted.kind === 'any') return [];
  switch (expression.kind) {
    case 'choice':
      return [expression.then, expression.else].flatMap((half) => mismatches(half, wanted, where, scope));
    case 'condition':
      return mismatches(expression.body, wanted, where, scope);
    case 'object':
      return objectMismatches(expression, wanted, where, scope);
    case 'list':
      return listMismatches(expression, wanted, where, scope);
    case 'loop': {
      const inner = scope.with(localsOfLoop(expression, scope));
      const { array, clash } = arrayWanted(expression, wanted, where);
      return array === null ? clash : mismatches(expression.body, array.of, `${where}[]`, inner);
    }
    default:
      return plainMismatches(expression, wanted, where, scope);
  }
}

const wrong = (line: number, where: string, what: string): Finding => finding(line, 'BCP036', `${where}: ${what}`);

function objectMismatches(expression: Of<'object'>, wanted: Shape, where: string, scope: Scope): Finding[] {
  const answers = membersOf(wanted).flatMap((member): Finding[][] => {
    if (member.kind === 'object') return [againstObject(expression, member, where, scope)];
    if (member.kind === 'tagged') return [againstTagged(expression, member, where, scope)];
    return member.kind === 'any' ? [[]] : [];
  });
  const [best] = answers.sort((a, b) => a.length - b.length);
  return best ?? [wrong(expression.line, where, `${describeShape(wanted)} is wanted, this is an object`)];
}

function againstTagged(
  expression: Of<'object'>,
  { by, cases }: Extract<Shape, { kind: 'tagged' }>,
  where: string,
  scope: Scope,
): Finding[] {
  const tag = expression.entries.find(({ key }) => key === by);
  if (tag === undefined) return [missing(expression.line, where, by)];
  const text = plainText(tag.value);
  if (text === null) return [];
  const shape = cases.get(text);
  if (shape !== undefined) return objectMismatches(expression, shape, where, scope);
  return [wrong(tag.line, join(where, by), notOneOf(text, [...cases.keys()]))];
}

const missing = (line: number, where: string, name: string): Finding =>
  finding(line, 'BCP035', `${where === '' ? '' : `${where}: `}${name} is required and missing`);

const join = (where: string, name: string): string => (where === '' ? name : `${where}.${name}`);

const notOneOf = (text: string, allowed: readonly string[]): string =>
  `'${text}' is not one of ${allowed.map((one) => `'${one}'`).join(', ')}${hint(text, allowed)}`;

function againstObject({ line, entries }: Of<'object'>, wanted: ObjectShape, where: string, scope: Scope): Finding[] {
  const { properties } = wanted;
  const given = new Set(entries.map(({ key }) => key));
  const lacking = given.has(null)
    ? []
    : [...properties]
        .filter(([name, { required }]) => required && !given.has(name))
        .map(([name]) => missing(line, where, name));
  const twice = entries.filter(({ key }, n) => key !== null && entries.findIndex((other) => other.key === key) < n);
  return [
    ...lacking,
    ...twice.map((entry) => finding(entry.line, 'BCP025', `${join(where, String(entry.key))} occurs twice`)),
    ...entries.flatMap((entry) => entryMismatches(entry, wanted, where, scope)),
  ];
}

function entryMismatches({ line, key, value }: Entry, wanted: ObjectShape, where: string, scope: Scope): Finding[] {
  const { properties, rest } = wanted;
  const path = join(where, key ?? '…');
  const property = key === null ? undefined : properties.get(key);
  if (property?.readOnly) return [finding(line, 'BCP073', `${path} is read-only: Azure sets it`)];
  if (property !== undefined) {
    return mismatches(value, property.required ? property.shape : orNull(property.shape), path, scope);
  }
  if (rest !== null) return mismatches(value, rest, path, scope);
  if (key === null) return [];
  return [finding(line, 'BCP037', `${path}: there is no such property${hint(key, properties.keys())}`)];
}

/** An optional property may be given null: it is as if it were not there. */
const orNull = (shape: Shape): Shape => ({ kind: 'union', of: [...membersOf(shape), { kind: 'null' }] });

function arrayWanted(expression: Expression, wanted: Shape, where: string) {
  const array = membersOf(wanted).find((member) => member.kind === 'array') ?? null;
  const open = membersOf(wanted).some(({ kind }) => kind === 'any');
  const clash = open ? [] : [wrong(expression.line, where, `${describeShape(wanted)} is wanted, this is an array`)];
  return { array, clash };
}

function listMismatches(expression: Of<'list'>, wanted: Shape, where: string, scope: Scope): Finding[] {
  const { array, clash } = arrayWanted(expression, wanted, where);
  if (array === null) return clash;
  const { line, items } = expression;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = array;
  const count =
    items.length < minLength
      ? [wrong(line, where, `at least ${minLength} are wanted, these are ${items.length}`)]
      : items.length > maxLength
        ? [wrong(line, where, `at most ${maxLength} are wanted, these are ${items.length}`)]
        : [];
  return [...count, ...items.flatMap((item, n) => mismatches(item, array.of, `${where}[${n}]`, scope))];
}

function plainMismatches(expression: Expression, wanted: Shape, where: string, scope: Scope): Finding[] {
  const given = infer(expression, scope);
  if (mayBeNull(given) && !mayBeNull(wanted) && membersOf(wanted).every(({ kind }) => kind !== 'any')) {
    const what = 'this may be null: give it a value with ??, or say with ! that it is not';
    return [finding(expression.line, 'BCP321', `${where}: ${what}`)];
  }
  return membersOf(withoutNull(given)).flatMap((member) => {
    const clash = clashOf(member, withoutNull(wanted));
    return clash === null ? [] : [wrong(expression.line, where, clash)];
  });
}

/**
 * Azure leaves most lists of values open, for values to come. Here a value is one of the list, or one of these: a rule
 * that is sent to directly, streams of our own, and sizes of VMs, of which the list has but the oldest.
 */
const beyondLists = /^(Direct|Custom-.*|Standard_[A-Z]+\d.*)$/;
const isListed = (value: string, literals: readonly string[]): boolean =>
  literals.includes(value) || beyondLists.test(value);

/** Types may contain themselves; nothing handwritten is deeper. */
const deepest = 20;

/** Why no value of the one shape can be one of the other; null when some can. */
export function clashOf(given: Shape, wanted: Shape, depth = 0): string | null {
  if (given === wanted || depth > deepest) return null;
  if (given.kind === 'union') {
    return given.of.map((one) => clashOf(one, wanted, depth + 1)).find((clash) => clash !== null) ?? null;
  }
  const answers = membersOf(wanted).map((member) => clashOfOne(given, member, depth + 1));
  const literals = membersOf(wanted).flatMap((member) => (member.kind === 'literal' ? [String(member.value)] : []));
  if (given.kind === 'literal' && literals.length > 0 && !isListed(String(given.value), literals)) {
    return notOneOf(String(given.value), literals);
  }
  if (answers.includes(null)) return null;
  return answers.length === 1
    ? (answers[0] ?? null)
    : `${describeShape(wanted)} is wanted, this is ${describeShape(given)}`;
}

function clashOfOne(given: Shape, wanted: Shape, depth: number): string | null {
  if (given.kind === 'any' || wanted.kind === 'any') return null;
  if (kindOf(given) !== kindOf(wanted)) return `${describeShape(wanted)} is wanted, this is ${describeShape(given)}`;
  if (given.kind === 'literal') return outside(given.value, wanted);
  if (given.kind === 'array' && wanted.kind === 'array') return clashOf(given.of, wanted.of, depth);
  if (given.kind === 'object' && wanted.kind === 'object') return clashOfObjects(given, wanted, depth);
  return null;
}

/** What TypeScript would call typeof. */
function kindOf(shape: Shape): string {
  if (shape.kind === 'tagged') return 'object';
  if (shape.kind !== 'literal') return shape.kind;
  return { string: 'string', number: 'int', boolean: 'bool' }[typeof shape.value as 'string' | 'number' | 'boolean'];
}

/** Limits that a literal can be seen to break. */
function outside(value: string | number | boolean, wanted: Shape): string | null {
  if (wanted.kind === 'literal') return value === wanted.value ? null : notOneOf(String(value), [String(wanted.value)]);
  if (wanted.kind === 'int' && typeof value === 'number') {
    if (value < (wanted.min ?? value)) return `${value} is less than ${wanted.min}`;
    return value > (wanted.max ?? value) ? `${value} is more than ${wanted.max}` : null;
  }
  if (wanted.kind !== 'string' || typeof value !== 'string') return null;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = wanted;
  if (value.length < minLength) return `'${value}' is shorter than ${minLength} characters`;
  if (value.length > maxLength) return `'${value}' is longer than ${maxLength} characters`;
  return pattern === undefined || new RegExp(pattern).test(value) ? null : `'${value}' does not match ${pattern}`;
}

function clashOfObjects(given: ObjectShape, wanted: ObjectShape, depth: number): string | null {
  for (const [name, { required, readOnly, shape }] of wanted.properties) {
    const own = given.properties.get(name);
    if (own === undefined && required && given.rest === null) return `${name} is required, and this has none`;
    if (own === undefined || readOnly) continue;
    const clash = clashOf(withoutNull(own.shape), withoutNull(shape), depth);
    if (clash !== null) return `${name}: ${clash}`;
  }
  return null;
}
