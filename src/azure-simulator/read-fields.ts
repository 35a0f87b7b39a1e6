/** What a field of foreign JSON may hold. */
export interface Kind<T> {
  /** Completes "expected …". */
  readonly expected: string;
  readonly fits: (value: unknown) => value is T;
}

type Kinds = Readonly<Record<string, Kind<unknown>>>;
type Fields<K extends Kinds> = { readonly [N in keyof K]?: K[N] extends Kind<infer T> ? T : never };

/** Foreign JSON is not as expected; the message is one sentence that names what, where and what was expected. */
export class InvalidInput extends Error {}

/** The fields of `value`, checked. All are optional. @throws {InvalidInput} */
export function readFields<K extends Kinds>(what: string, value: unknown, kinds: K): Fields<K> {
  const known = Object.keys(kinds).join(', ');
  if (!isObject(value)) throw new InvalidInput(`${what} is ${shown(value)}; expected an object of ${known}`);
  for (const [name, field] of Object.entries(value)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) throw new InvalidInput(`${what} has an unknown field "${name}"; known are ${known}`);
    if (!kind.fits(field)) throw new InvalidInput(`${name} of ${what} is ${shown(field)}; expected ${kind.expected}`);
  }
  return value as Fields<K>;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? 'missing';
  return json.length > 80 ? `${json.slice(0, 80)}…` : json;
}

const isText = (value: unknown): value is string => typeof value === 'string';

export const text: Kind<string> = { expected: 'text', fits: isText };

export const name: Kind<string> = {
  expected: 'text that is not empty',
  fits: (value): value is string => isText(value) && value !== '',
};

export function listOf<T>(kind: Kind<T>): Kind<readonly T[]> {
  return {
    expected: `a list, each of it ${kind.expected}`,
    fits: (value): value is T[] => Array.isArray(value) && value.every(kind.fits),
  };
}

export const texts: Kind<Readonly<Record<string, string>>> = {
  expected: 'an object of texts',
  fits: (value): value is Record<string, string> => isObject(value) && Object.values(value).every(isText),
};

export const trueOrFalse: Kind<boolean> = {
  expected: 'true or false',
  fits: (value) => typeof value === 'boolean',
};

export function oneOf<T extends string>(...values: readonly T[]): Kind<T> {
  return {
    expected: `one of ${values.join(', ')}`,
    fits: (value): value is T => (values as readonly unknown[]).includes(value),
  };
}

export function orNull<T>(kind: Kind<T>): Kind<T | null> {
  return {
    expected: `${kind.expected}, or null`,
    fits: (value): value is T | null => value === null || kind.fits(value),
  };
}

/** @param what as "a number of seconds" */
export function number(what: string, least: number, most: number): Kind<number> {
  return {
    expected: `${what} from ${least} to ${most}`,
    fits: (value): value is number => typeof value === 'number' && value >= least && value <= most,
  };
}

export function wholeNumber(least: number, most: number): Kind<number> {
  const { expected, fits } = number('a whole number', least, most);
  return { expected, fits: (value): value is number => fits(value) && Number.isInteger(value) };
}
