/** What a value may be. Azure's types, the project's own types and the results of expressions are all described by these shapes. */
export type Shape =
  | { readonly kind: 'any' | 'bool' | 'null' }
  | ({ readonly kind: 'string' } & TextLimits)
  | { readonly kind: 'int'; readonly min?: number | undefined; readonly max?: number | undefined }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | {
      readonly kind: 'array';
      readonly of: Shape;
      readonly minLength?: number | undefined;
      readonly maxLength?: number | undefined;
    }
  | ObjectShape
  | { readonly kind: 'union'; readonly of: readonly Shape[] }
  /** An object whose property `by` selects the case. */
  | { readonly kind: 'tagged'; readonly by: string; readonly cases: ReadonlyMap<string, Shape> };

export interface TextLimits {
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly pattern?: string | undefined;
}

export interface ObjectShape {
  readonly kind: 'object';
  /** For sentences. */
  readonly name: string;
  readonly properties: ReadonlyMap<string, Property>;
  /** What any other property may be; null where there may be none. */
  readonly rest: Shape | null;
}

export interface Property {
  /** A getter where types are recursive. */
  readonly shape: Shape;
  readonly required: boolean;
  readonly readOnly: boolean;
}

export const any: Shape = { kind: 'any' };
export const string: Shape = { kind: 'string' };
export const int: Shape = { kind: 'int' };
export const bool: Shape = { kind: 'bool' };
export const anyObject: Shape = { kind: 'object', name: 'object', properties: new Map(), rest: any };

export const arrayOf = (of: Shape): Shape => ({ kind: 'array', of });

/** One shape for several: what is the same stands once, and `any` swallows all. */
export function unionOf(shapes: readonly Shape[]): Shape {
  const flat = shapes.flatMap((shape) => (shape.kind === 'union' ? shape.of : [shape]));
  if (flat.some(({ kind }) => kind === 'any')) return any;
  const seen = new Set<string>();
  const of = flat.filter((shape) => {
    if (shape.kind === 'object' || shape.kind === 'array' || shape.kind === 'tagged') return true;
    const key = JSON.stringify(shape);
    return seen.has(key) ? false : seen.add(key);
  });
  return of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'union', of };
}

/** The members of a union, or the one shape. */
export const membersOf = (shape: Shape): readonly Shape[] => (shape.kind === 'union' ? shape.of : [shape]);

export const withoutNull = (shape: Shape): Shape => unionOf(membersOf(shape).filter(({ kind }) => kind !== 'null'));

export const mayBeNull = (shape: Shape): boolean => membersOf(shape).some(({ kind }) => kind === 'null');

/** The shape of a value of JSON, as it is loaded into Bicep. */
export function shapeOfJson(value: unknown, name: string): Shape {
  if (value === null) return { kind: 'null' };
  if (typeof value === 'string' || typeof value === 'boolean') return { kind: 'literal', value };
  if (typeof value === 'number') return Number.isInteger(value) ? { kind: 'literal', value } : any;
  if (Array.isArray(value)) return arrayOf(unionOf(value.map((item) => shapeOfJson(item, name))));
  const properties = Object.entries(value as object).map(
    ([key, child]) => [key, { shape: shapeOfJson(child, name), required: true, readOnly: false }] as const,
  );
  return { kind: 'object', name, properties: new Map(properties), rest: null };
}

/** A shape in words. */
export function describeShape(shape: Shape): string {
  switch (shape.kind) {
    case 'literal':
      return typeof shape.value === 'string' ? `'${shape.value}'` : String(shape.value);
    case 'array':
      return 'an array';
    case 'object':
    case 'tagged':
      return 'an object';
    case 'string':
      return 'a string';
    case 'int':
      return 'an int';
    case 'bool':
      return 'a bool';
    case 'union':
      return [...new Set(shape.of.map(describeShape))].join(' or ');
    default:
      return shape.kind;
  }
}

/** The one of these names that was probably meant; null when none is near. */
export function meant(name: string, names: Iterable<string>): string | null {
  const lower = name.toLowerCase();
  const near = [...names]
    .map((other) => ({ other, far: distance(lower, other.toLowerCase()) }))
    .filter(
      ({ other, far }) => other !== name && far <= Math.max(1, Math.floor(Math.min(name.length, other.length) / 3)),
    )
    .sort((a, b) => a.far - b.far);
  return near[0]?.other ?? null;
}

/** Letters to add, drop or change to come from one word to the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** ` (did you mean x?)`, or nothing. */
export function hint(name: string, names: Iterable<string>): string {
  const near = meant(name, names);
  return near === null ? '' : ` (did you mean ${near}?)`;
}
