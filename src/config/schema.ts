/** How options are declared: the kinds of values that they take, and what a declaration says about each. */

import * as v from 'valibot';

type Schema<T> = v.GenericSchema<unknown, T>;

/** Completes "expected …". */
const expects = <T>(phrase: string): v.MetadataAction<T, { readonly expects: string }> =>
  v.metadata({ expects: phrase });

/** In JSON Schema a pattern has no flags: letter case is part of the pattern. */
export const text = (phrase: string, pattern: RegExp): Schema<string> =>
  v.pipe(v.string(), v.regex(pattern), expects(phrase));

/** Letter case does not matter: read in lower case. */
export const lowerCase = (kind: Schema<string>): Schema<string> =>
  v.pipe(
    kind,
    v.transform((value) => value.toLowerCase()),
  );

export const oneOf = <const T extends string>(...allowed: readonly T[]): Schema<T> =>
  v.pipe(v.picklist(allowed), expects(`one of ${allowed.join(', ')}`)) as Schema<T>;

export const number = (from: number, to: number, unit = ''): Schema<number> =>
  v.pipe(v.number(), v.minValue(from), v.maxValue(to), expects(`a number from ${from} to ${to}${unit}`));

export const wholeNumber = (from: number, to: number, unit = ''): Schema<number> =>
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(from),
    v.maxValue(to),
    expects(`a whole number from ${from} to ${to}${unit}`),
  );

export const flag: Schema<boolean> = v.pipe(v.boolean(), expects('true or false'));

export const list = (items: string): Schema<readonly string[]> =>
  v.pipe(v.array(v.pipe(v.string(), v.nonEmpty())), expects(`a list of ${items}`));

/** `v.object` would accept a list. */
const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

/** A section without keys. `true` means the same, `false` that it is not there. */
export const presence = v.pipe(
  v.union([v.boolean(), v.custom<object>(isEmptyObject)]),
  v.transform((value) => (value === false ? null : {})),
  expects('{} or true'),
) as Schema<Readonly<Record<string, never>> | null>;

/** A pattern for `word` in any letter case. */
export const anyCase = (word: string): string =>
  word.replace(/[a-z]/gi, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`);

const host = String.raw`(?:\[[\dA-Fa-f:.]+\]|[^\s/?#@:<>\[\]\\^|]+)`;
const port = String.raw`(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])?`;

/**
 * A URL of this scheme, without fragment; read without a slash at the end unless it may have a query. `path`, `query`, `user`: it may
 * have one.
 * `also`: a word that is accepted instead.
 */
export function url(
  phrase: string,
  scheme: string,
  {
    path = false,
    query = false,
    user = false,
    also,
  }: { readonly path?: boolean; readonly query?: boolean; readonly user?: boolean; readonly also?: string } = {},
): Schema<string> {
  const userInfo = user ? String.raw`(?:[^/?#\\]*@)?` : '';
  const whole = `${anyCase(scheme)}://${userInfo}${host}(?::${port})?${path ? '(?:/[^?#]*)?' : '/?'}${query ? '(?:[?][^#]*)?' : ''}`;
  return v.pipe(
    v.string(),
    v.regex(new RegExp(also ? `^(?:${also}|${whole})$` : `^${whole}$`)),
    v.check((value) => value === also || URL.canParse(value)),
    v.transform((value) => (query ? value : value.replace(/\/+$/, ''))),
    expects(phrase),
  );
}

/** What a declaration says about an option or a section, beside its values. */
export interface About {
  /** Completes "expected …". Of options only. */
  readonly expects?: string;
  /** Whether this value is a secret: never shown, and only taken from where others cannot read it. Called with wrong values too. */
  readonly isSecret?: (value: unknown) => boolean;
  /** Of sections only. */
  readonly rules?: readonly Rule[];
  /** Of sinks only: what `config init` writes for each way to authenticate, the usual one first. Capital letters are placeholders for the user's values. */
  readonly samples?: Samples;
}
export type Samples = Readonly<Record<string, object>>;

/** A condition between several options. */
export interface Rule {
  /**
   * The problem, as one sentence; null where the condition holds. `section` is the section that the rule stands at, `config` the whole
   * configuration, both with defaults; a value may be of the wrong kind, which is a problem of its own.
   */
  readonly problem: (section: Section, config: Section) => string | null;
  /** The same as JSON Schema of the section, or of the whole configuration; absent where that cannot say it. */
  readonly jsonSchema?: object;
  readonly jsonSchemaOfAll?: object;
}
export type Section = Readonly<Record<string, unknown>>;

type Entry = v.GenericSchema<unknown, unknown>;
const saying = <T extends Entry>(schema: T, meaning: string, about: About = {}): T =>
  v.pipe(schema, v.description(meaning), v.metadata({ ...about })) as unknown as T;

/** An option that has to be set wherever its section is. */
export const required = <T>(kind: Schema<T>, meaning: string, about?: About): Schema<T> => saying(kind, meaning, about);

export const withDefault = <T>(fallback: NoInfer<T>, kind: Schema<T>, meaning: string): Schema<T> =>
  saying(v.optional(kind, fallback) as Schema<T>, meaning);

/** An option that is null when it is not set. */
export const orNull = <T>(kind: Schema<T>, meaning: string, about?: About): Schema<T | null> =>
  saying(v.nullish(kind, null), meaning, about);

/** An option that is left out when it is not set. */
export const orAbsent = <T>(kind: Schema<T>, meaning: string): v.ExactOptionalSchema<Schema<T>, undefined> =>
  saying(v.exactOptional(kind), meaning);

/** A section that is always there. */
export const section = <T extends v.ObjectEntries>(
  entries: T,
  ...rules: readonly Rule[]
): Schema<v.InferOutput<v.ObjectSchema<T, undefined>>> => v.pipe(v.object(entries), v.metadata({ rules }));

/** A section that is null unless it, or one of its keys, is set. */
export const optionalSection = <T extends v.ObjectEntries>(
  entries: T,
  ...rules: readonly Rule[]
): Schema<v.InferOutput<v.ObjectSchema<T, undefined>> | null> =>
  v.pipe(v.nullish(v.object(entries), null), v.metadata({ rules }));

/** A sink's section, with what `config init` writes for it. */
export const withSamples = <T>(schema: Schema<T>, samples: Samples): Schema<T> =>
  v.pipe(schema, v.metadata({ samples }));

export const samplesOf = (schema: Schema<unknown>): Samples => (v.getMetadata(schema) as About).samples ?? {};
