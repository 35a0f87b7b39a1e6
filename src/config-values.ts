/** The kinds of values that options take: what each has to be, in a file as JSON and in a variable as text. */

/** What a value has to be. */
export interface Accepts<T> {
  /** Completes "expected …". */
  readonly expects: string;
  /** Undefined when the value is not acceptable. */
  accept(value: unknown): T | undefined;
  /** The JSON value that the text of an environment variable stands for. */
  fromText(text: string): unknown;
}

const asItIs = (text: string): unknown => text;

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function text(expects: string, pattern: RegExp): Accepts<string> {
  return {
    expects,
    fromText: asItIs,
    accept: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  };
}

export function oneOf<const T extends string>(...allowed: readonly T[]): Accepts<T> {
  return {
    expects: `one of ${allowed.join(', ')}`,
    fromText: asItIs,
    accept: (value) => allowed.find((one) => one === value),
  };
}

export function number(from: number, to: number, unit = ''): Accepts<number> {
  const accept = (value: unknown) => (typeof value === 'number' && value >= from && value <= to ? value : undefined);
  return { expects: `a number from ${from} to ${to}${unit}`, fromText: asJson, accept };
}

export function wholeNumber(from: number, to: number, unit = ''): Accepts<number> {
  const { accept } = number(from, to);
  return {
    expects: `a whole number from ${from} to ${to}${unit}`,
    fromText: asJson,
    accept: (value) => (Number.isInteger(value) ? accept(value) : undefined),
  };
}

export const flag: Accepts<boolean> = {
  expects: 'true or false',
  fromText: asJson,
  accept: (value) => (typeof value === 'boolean' ? value : undefined),
};

export function list(expects: string): Accepts<readonly string[]> {
  return {
    expects: `a list of ${expects}`,
    fromText: (text) => (text.trimStart().startsWith('[') ? asJson(text) : text.split(',').map((part) => part.trim())),
    accept: (value) =>
      Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '') ? value : undefined,
  };
}

/** A URL of one of these schemes, without query and fragment; given back without a slash at the end. `also`: a word that does as well. */
export function url(
  expects: string,
  schemes: readonly string[],
  {
    path = false,
    user = false,
    also,
  }: { readonly path?: boolean; readonly user?: boolean; readonly also?: string } = {},
): Accepts<string> {
  return {
    expects,
    fromText: asItIs,
    accept(value) {
      if (typeof value !== 'string') return undefined;
      if (value === also) return value;
      const parsed = URL.parse(value);
      if (!parsed || !schemes.includes(parsed.protocol) || !parsed.hostname) return undefined;
      if (parsed.search || parsed.hash || (!path && parsed.pathname.length > 1)) return undefined;
      if (!user && (parsed.username || parsed.password)) return undefined;
      return value.replace(/\/+$/, '');
    },
  };
}

/** A section without keys: there or not. */
export const presence: Accepts<Readonly<Record<string, never>> | null> = {
  expects: 'an empty object, {}',
  fromText: asJson,
  accept(value) {
    if (value === true) return {};
    if (value === false || typeof value !== 'object' || value === null) return value === false ? null : undefined;
    return Object.keys(value).length === 0 && !Array.isArray(value) ? {} : undefined;
  },
};
