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

/**
 * What is wrong with a value, each with where it is: `observedAt: expected a time such as 2026-03-14T09:26:53.123Z, found "yesterday"`.
 * Nothing when the value is valid.
 */
export function problemsOf(value: unknown, schema: Schema, path = ''): string[] {
  const problem = (expected: string): string[] => [`${path || 'the body'}: expected ${expected}, found ${show(value)}`];
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOfType(value, type)))
    return problem([schema.type].flat().map(named).join(' or '));
  if ('const' in schema && value !== schema.const) return problem(JSON.stringify(schema.const));
  if (typeof value === 'string') {
    if (schema.format === 'date-time' && !isTime(value, schema.pattern ?? '')) return problem(aTime);
    if (schema.minLength !== undefined && value.length < schema.minLength) return problem('a text that is not empty');
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value))
      return problem(`a text like ${schema.pattern}`);
  }
  if (typeof value === 'number' && schema.minimum !== undefined && value < schema.minimum)
    return problem(`at least ${schema.minimum}`);
  const inside = Array.isArray(value) ? problemsOfItems(value, schema, path) : problemsOfFields(value, schema, path);
  return [...inside, ...problemsOfConditions(value, schema, path)];
}

const problemsOfItems = (items: readonly unknown[], { items: schema = {} }: Schema, path: string): string[] =>
  items.flatMap((item, index) => problemsOf(item, schema, `${path}[${index}]`));

function problemsOfFields(value: unknown, schema: Schema, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { required = [], properties = {}, additionalProperties = {} } = schema;
  const at = (field: string): string => (path === '' ? field : `${path}.${field}`);
  return [
    ...required.filter((field) => !Object.hasOwn(value, field)).map((field) => `${at(field)}: missing`),
    ...Object.entries(value).flatMap(([field, one]) =>
      problemsOf(one, Object.hasOwn(properties, field) ? (properties[field] ?? {}) : additionalProperties, at(field)),
    ),
  ];
}

function problemsOfConditions(value: unknown, schema: Schema, path: string): string[] {
  const isValid = (one: Schema): boolean => problemsOf(value, one, path).length === 0;
  return [
    ...(schema.allOf ?? []).flatMap((one) => problemsOf(value, one, path)),
    ...(schema.if && isValid(schema.if) ? problemsOf(value, schema.then ?? {}, path) : []),
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
const isTime = (value: string, pattern: string): boolean =>
  new RegExp(pattern, 'u').test(value) && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;

/** Enough of a value to recognize it. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
