/** The part of JSON Schema that the published schemas use; a test fails when they use more. */
interface Keywords {
  readonly type: string | readonly string[];
  readonly const: unknown;
  readonly not: Schema;
  readonly allOf: readonly Schema[];
  readonly if: Schema;
  readonly then: Schema;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
  readonly additionalProperties: Schema;
  readonly items: Schema;
  readonly minLength: number;
  readonly minimum: number;
  readonly pattern: string;
  readonly format: string;
}
export type Schema = Partial<Keywords>;

/** The patterns of a schema by their text. To compile them for each message would take longer than all the rest. */
export type Patterns = ReadonlyMap<string, RegExp>;

export function patternsIn(schema: Schema): Patterns {
  const { not, if: condition, items, additionalProperties, allOf = [], properties = {}, pattern } = schema;
  const inner = [not, condition, schema.then, items, additionalProperties, ...allOf, ...Object.values(properties)];
  return new Map([
    ...(pattern === undefined ? [] : [[pattern, new RegExp(pattern, 'u')] as const]),
    ...inner.flatMap((one) => (one === undefined ? [] : [...patternsIn(one)])),
  ]);
}

/**
 * What is wrong with a value, each with where it is: `observedAt: expected a time such as 2026-03-14T09:26:53.123Z, found "yesterday"`.
 * Nothing when the value is valid.
 */
export function problemsOf(
  value: unknown,
  schema: Schema,
  path = '',
  patterns: Patterns = patternsIn(schema),
): string[] {
  const fits = (text: string, pattern: string): boolean => patterns.get(pattern)?.test(text) ?? false;
  const problem = (expected: string): string[] => [`${path || 'the body'}: expected ${expected}, found ${show(value)}`];
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOfType(value, type)))
    return problem([schema.type].flat().map(named).join(' or '));
  if ('const' in schema && value !== schema.const) return problem(JSON.stringify(schema.const));
  if (typeof value === 'string') {
    if (schema.format === 'date-time' && !isTime(value)) return problem(aTime);
    if (schema.minLength !== undefined && value.length < schema.minLength) return problem('a text that is not empty');
    if (schema.pattern !== undefined && !fits(value, schema.pattern)) return problem(`a text like ${schema.pattern}`);
  }
  if (typeof value === 'number' && schema.minimum !== undefined && value < schema.minimum)
    return problem(`at least ${schema.minimum}`);
  const check: Check = (one, inner, at) => problemsOf(one, inner, at, patterns);
  const inside = Array.isArray(value)
    ? problemsOfItems(value, schema, { path, check })
    : problemsOfFields(value, schema, { path, check });
  return [...inside, ...problemsOfConditions(value, schema, { path, check })];
}

type Check = (value: unknown, schema: Schema, path: string) => string[];
interface Place {
  readonly path: string;
  readonly check: Check;
}

const problemsOfItems = (items: readonly unknown[], { items: schema = {} }: Schema, { path, check }: Place): string[] =>
  items.flatMap((item, index) => check(item, schema, `${path}[${index}]`));

function problemsOfFields(value: unknown, schema: Schema, { path, check }: Place): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { required = [], properties = {}, additionalProperties } = schema;
  const at = (field: string): string => (path === '' ? field : `${path}.${field}`);
  const fields = value as Readonly<Record<string, unknown>>;
  const problems = required.filter((field) => !Object.hasOwn(fields, field)).map((field) => `${at(field)}: missing`);
  for (const [field, one] of Object.entries(properties))
    if (Object.hasOwn(fields, field)) problems.push(...check(fields[field], one, at(field)));
  if (additionalProperties === undefined) return problems;
  for (const field of Object.keys(fields).filter((name) => !Object.hasOwn(properties, name)))
    problems.push(...check(fields[field], additionalProperties, at(field)));
  return problems;
}

function problemsOfConditions(value: unknown, schema: Schema, { path, check }: Place): string[] {
  const isValid = (one: Schema): boolean => check(value, one, path).length === 0;
  return [
    ...(schema.allOf ?? []).flatMap((one) => check(value, one, path)),
    ...(schema.if && isValid(schema.if) ? check(value, schema.then ?? {}, path) : []),
    ...(schema.not && isValid(schema.not) ? [`${path || 'the body'}: ${show(value)} is not allowed`] : []),
  ];
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

const aTime = 'a time such as 2026-03-14T09:26:53.123Z';
const names: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};
const named = (type: string): string => names[type] ?? type;

/** A day that exists: Date takes the 30th of February for the 2nd of March. */
const isTime = (value: string): boolean => !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;

/** Enough of a value to recognize it. */
export function show(value: unknown): string {
  const text = textOf(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** JSON cannot express a cycle or a bigint. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
