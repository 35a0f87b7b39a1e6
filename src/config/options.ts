/** A declaration of options, read: which there are, under which keys and variables, and what each says. */

import * as v from 'valibot';
import type { About, Rule, Samples } from './schema.ts';

/** One option, as the README's table, the reference and the reader of files see it. */
export interface Option {
  /** `imds.endpoint` */
  readonly path: string;
  readonly meaning: string;
  /** Completes "expected …". */
  readonly expects: string;
  /** Value when it is not set; `undefined`: it is left out. */
  readonly fallback: unknown;
  /** It has to be set wherever its section is. */
  readonly isRequired: boolean;
  /** Null where no value of it is a secret. */
  readonly isSecret: ((value: unknown) => boolean) | null;
  /** The schema of its value, without the default. */
  readonly kind: v.GenericSchema;
}

export interface SectionOf {
  /** Empty for the whole configuration. */
  readonly path: string;
  /** It is null unless it, or one of its keys, is set. */
  readonly isOptional: boolean;
  readonly keys: readonly string[];
  readonly rules: readonly Rule[];
  /** What `config init` writes for it, by way to authenticate. */
  readonly samples: Samples;
}

export interface Declared {
  readonly options: readonly Option[];
  /** Outer ones before those in them. */
  readonly sections: readonly SectionOf[];
}

/** What valibot keeps of a schema, as far as it is needed here. */
interface Known {
  readonly type: string;
  readonly wrapped?: v.GenericSchema;
  readonly default?: unknown;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
}

/** Every option and section of a schema, in its order. */
export function declaredIn(schema: v.GenericSchema, path = ''): Declared {
  const { wrapped, default: fallback, entries: own, type }: Known = schema as never;
  const kind = wrapped ?? schema;
  const entries = own ?? (kind as unknown as Known).entries;
  const about: About = { ...v.getMetadata(kind), ...v.getMetadata(schema) };
  if (!entries || type === 'strict_object') {
    const option = {
      path,
      meaning: v.getDescription(schema) ?? '',
      expects: about.expects ?? '',
      fallback,
      isRequired: wrapped === undefined,
      isSecret: about.isSecret ?? null,
      kind,
    };
    return { options: [option], sections: [] };
  }
  const inner = Object.entries(entries).map(([key, entry]) => declaredIn(entry, path ? `${path}.${key}` : key));
  const { rules = [], samples = {} } = about;
  const section = { path, isOptional: wrapped !== undefined, keys: Object.keys(entries), rules, samples };
  return {
    options: inner.flatMap(({ options }) => options),
    sections: [section, ...inner.flatMap(({ sections }) => sections)],
  };
}

/** The value as the option takes it; undefined where it is not acceptable. */
export function accept({ kind }: Option, value: unknown): unknown {
  const { success, output } = v.safeParse(kind, value);
  return success ? output : undefined;
}

/** The JSON value of the text of an environment variable. */
export function fromText({ kind }: Option, text: string): unknown {
  const { type }: Known = kind as never;
  if (type === 'string' || type === 'picklist') return text;
  if (type === 'array' && !text.trimStart().startsWith('[')) return text.split(',').map((part) => part.trim());
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const environmentPrefix = 'SCHEDULED_EVENTS_BRIDGE_';

/** `sinks.eventHubs.eventHubName` -> `SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_EVENT_HUB_NAME`. */
export function environmentName(path: string): string {
  return (
    environmentPrefix +
    path
      .replaceAll('.', '_')
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toUpperCase()
  );
}

/** On Windows the names of variables have no letter case: ours in capitals, as they are looked up. */
export const environmentOf = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform): NodeJS.ProcessEnv =>
  platform !== 'win32'
    ? env
    : Object.fromEntries(
        Object.entries(env).map(([name, value]) =>
          name.toUpperCase().startsWith(environmentPrefix) ? [name.toUpperCase(), value] : [name, value],
        ),
      );
