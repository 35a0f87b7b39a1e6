import * as v from 'valibot';
import { type Config, options, schema, sections } from '../config.ts';
import { isInCluster, notInCluster } from '../host/in-cluster.ts';
import { describeKind, describeValue, notShown } from './describe-value.ts';
import { environmentName, environmentPrefix, fromText, type Option } from './options.ts';
import { placeholdersLeft } from './placeholders.ts';
import { suggestKey, suggestVariable } from './suggest.ts';

/** One JSON document with settings, and its origin. */
export interface ConfigDocument {
  readonly value: unknown;
  /** Completes "in …": a file's path, or `the protected settings`. */
  readonly source: string;
  /** Others cannot read it, so it may hold secrets. */
  readonly keepsSecrets: boolean;
  /** Its values are in no message: all of them were given as secrets. */
  readonly hidesValues?: boolean;
  /** Where a secret belongs instead: completes "expected …". Default: a file that others cannot read. */
  readonly placeForSecrets?: string;
}

/** Every problem is one sentence that names key, value, origin and what is expected. */
export type ReadConfig =
  | { readonly config: Config; readonly sourceOf: SourceOf; readonly problems?: never }
  | { readonly problems: readonly string[]; readonly config?: never };

/** Where the option with this path is set, as a file's path; null where its default applies. */
export type SourceOf = (path: string) => string | null;

interface Setting extends Omit<ConfigDocument, 'value'> {
  readonly value: unknown;
}

/** What has been set, before defaults: options by path, and the sections that documents name, keys or not. */
interface Settings {
  readonly values: Map<string, Setting>;
  readonly sections: Set<string>;
}

const optionAt = new Map(options.map((option) => [option.path, option]));
const sectionAt = new Map(sections.map((section) => [section.path, section]));
const optionOfVariable = new Map(options.map((option) => [environmentName(option.path), option]));
/** Its value is the path of the configuration file. */
export const configFileVariable = `${environmentPrefix}CONFIG`;

/**
 * Merges documents and environment variables into the configuration; a later document overrides an earlier one, and a
 * variable overrides both. An empty variable and a JSON null count as not set. Reports all problems at once.
 */
export function readConfig(input: {
  readonly documents: readonly ConfigDocument[];
  readonly env: NodeJS.ProcessEnv;
  readonly defaultStateDirectory: string;
}): ReadConfig {
  const problems: string[] = [];
  const settings: Settings = { values: new Map(), sections: new Set() };
  for (const document of input.documents) readDocument(document, settings, problems);
  readVariables(input.env, settings, problems);

  const parsed = v.safeParse(schema, nest(settings, input.defaultStateDirectory));
  const wrong = new Set((parsed.issues ?? []).map((issue) => optionOf(v.getDotPath(issue) ?? '')));
  for (const option of options) {
    if (wrong.has(option)) problems.push(wrongValue(option, settings));
    else problems.push(...readableSecret(option, settings), ...unedited(option, settings));
  }
  // A sink under a misspelt key is there.
  const misspelt = problems.some((problem) => /did you mean sinks\b/.test(problem)) ? 'sinks' : null;
  problems.push(...brokenRules(parsed.output, misspelt));
  if (isInCluster(input.env)) problems.push(...approvals(settings));
  if (!parsed.success || problems.length > 0) return { problems };
  return { config: parsed.output, sourceOf: (path) => settings.values.get(path)?.source ?? null };
}

function readDocument(document: ConfigDocument, settings: Settings, problems: string[]): void {
  const { source } = document;
  const visit = (path: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (optionAt.has(path)) return void settings.values.set(path, { ...document, value });
    if (isAnnotation(path)) return void problems.push(...wrongAnnotation(path, value, source));
    const section = sectionAt.get(path);
    if (!section) return void problems.push(unknownKey(path, source));
    if (typeof value !== 'object' || Array.isArray(value)) {
      problems.push(
        `${path || 'The configuration'} is ${describeKind(value)} in ${source}: expected an object with ${section.keys.join(', ')}.`,
      );
      return;
    }
    settings.sections.add(path);
    for (const [key, below] of Object.entries(value)) visit(path ? `${path}.${key}` : key, below);
  };
  visit('', document.value);
}

/** `$schema` is for editors, `$comment` in any section for people: neither sets anything. */
const isAnnotation = (path: string): boolean => path === '$schema' || /(^|\.)\$comment$/.test(path);

function wrongAnnotation(path: string, value: unknown, source: string): readonly string[] {
  const isList = path !== '$schema' && Array.isArray(value);
  if ((isList ? value : [value]).every((line: unknown) => typeof line === 'string')) return [];
  const expected = path === '$schema' ? 'the address of a JSON Schema' : 'text, or a list of texts';
  return [`${path} is ${describeKind(value)} in ${source}: expected ${expected}.`];
}

/** Its value may be a secret, regardless of its name. */
function unknownKey(path: string, source: string): string {
  const section = path.split('.').slice(0, -1).join('.');
  const siblings = (sectionAt.get(section)?.keys ?? []).map((key) => (section ? `${section}.${key}` : key));
  const near = suggestKey(path);
  const expected = near ? `did you mean ${near}?` : `expected one of ${siblings.join(', ')}.`;
  const shown = path.length > longestKey ? `${path.slice(0, longestKey)}…` : path;
  return `${shown} is not an option (in ${source}); ${expected}`;
}

/** Of a key in a message. */
const longestKey = 200;

/**
 * What Kubernetes sets in each pod for a Service called scheduled-events-bridge.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const ofKubernetes = new RegExp(`^${environmentPrefix}(SERVICE_HOST|(SERVICE_)?PORT(_.*)?)$`);

/** Variables that are set and meant for the bridge, except the one that names the file. */
export const ownVariables = (env: NodeJS.ProcessEnv): readonly string[] =>
  Object.keys(env).filter(
    (name) =>
      name.startsWith(environmentPrefix) && name !== configFileVariable && env[name] && !ofKubernetes.test(name),
  );

const fromVariable = 'the environment variable';

function readVariables(env: NodeJS.ProcessEnv, settings: Settings, problems: string[]): void {
  for (const name of ownVariables(env)) {
    const source = `${fromVariable} ${name}`;
    const option = optionOfVariable.get(name);
    if (option) {
      settings.values.set(option.path, { value: fromText(option, env[name] ?? ''), source, keepsSecrets: true });
      continue;
    }
    const near = suggestVariable(name);
    const expected = near
      ? `did you mean ${near}?`
      : `its name has to be ${environmentPrefix} and the key in upper snake case.`;
    problems.push(`${name} is not an option (in the environment); ${expected}`);
  }
}

/** The option that a dotted path is at, or in. */
function optionOf(path: string): Option | undefined {
  return options.find((option) => path === option.path || path.startsWith(`${option.path}.`));
}

function wrongValue(option: Option, { values }: Settings): string {
  const setting = values.get(option.path);
  if (!setting) return `${option.path} is missing: expected ${option.expects}.`;
  const { value, source, hidesValues } = setting;
  // A sink that is an option, not a section, has no keys.
  if (/^sinks\.\w+$/.test(option.path) && isSection(value) && !Array.isArray(value))
    return `${option.path}.${Object.keys(value)[0]} is not an option (in ${source}); ${option.path} has none.`;
  const shown = hidesValues || option.isSecret?.(value) ? notShown : describeValue(value);
  const isListVariable = option.kind.type === 'array' && source.startsWith(fromVariable);
  const expected = `${option.expects}${isListVariable ? ', separated by commas or as a JSON list' : ''}`;
  return shown === notShown
    ? `${option.path} in ${source} is ${notShown}: expected ${expected}.`
    : `${option.path} is ${shown} in ${source}: expected ${expected}.`;
}

function readableSecret({ path, isSecret }: Option, { values }: Settings): readonly string[] {
  const setting = values.get(path);
  if (!setting || setting.keepsSecrets || !isSecret?.(setting.value)) return [];
  const { source, placeForSecrets } = setting;
  const expected =
    placeForSecrets ??
    `a file that they cannot read (chmod o-rwx ${source}), or the environment variable ${environmentName(path)}`;
  return [`${path} is a secret, and others can read ${source}: expected ${expected}.`];
}

/** A sample of `config init` is valid, but leads nowhere. */
function unedited({ path }: Option, { values }: Settings): readonly string[] {
  const setting = values.get(path);
  const section = sectionAt.get(path.slice(0, Math.max(path.lastIndexOf('.'), 0)));
  if (!setting || !section) return [];
  const key = path.slice(path.lastIndexOf('.') + 1);
  const words = placeholdersLeft(key, setting.value, Object.values(section.samples));
  const [what, them] = words.length === 1 ? ['placeholder', 'it'] : ['placeholders', 'them'];
  return words.length === 0
    ? []
    : [`${path} still has the ${what} ${words.join(', ')} in ${setting.source}: replace ${them}.`];
}

/** Rules between options; checked even when single values are wrong. */
function brokenRules(config: unknown, except: string | null): readonly string[] {
  return sections.flatMap(({ path, rules }) => {
    const section = valueAt(config, path);
    if (path === except || !isSection(section) || !isSection(config)) return [];
    return rules.map(({ problem }) => problem(section, config)).filter((problem) => problem !== null);
  });
}

/** The settings that would approve events automatically. */
function approvals({ values }: Settings): readonly string[] {
  const isApproving = (path: string): boolean =>
    path === 'approve.userInitiated' ? values.get(path)?.value === true : typeof values.get(path)?.value === 'number';
  return ['approve.userInitiated', 'approve.freezeUpToSeconds'].filter(isApproving).map((path) => {
    const { value, source } = values.get(path) ?? {};
    return `${path} is ${describeValue(value)} in ${source}: remove it. ${notInCluster}`;
  });
}

/** The settings as one object with the sections in use; the schema adds the defaults. */
function nest({ values, sections: named }: Settings, defaultStateDirectory: string): unknown {
  const config: Record<string, unknown> = { stateDirectory: defaultStateDirectory };
  for (const { path, isOptional } of sections) {
    const isThere = !isOptional || named.has(path) || [...values.keys()].some((key) => key.startsWith(`${path}.`));
    if (path !== '' && isThere) put(config, path, {});
  }
  for (const [path, { value }] of values) put(config, path, value);
  return config;
}

function put(config: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split('.');
  const section = valueAt(config, keys.slice(0, -1).join('.'));
  Object.assign(section as object, { [keys.at(-1) ?? '']: value });
}

const isSection = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The value at a dotted path; undefined where it has no parent. */
export const valueAt = (config: unknown, path: string): unknown =>
  path === '' ? config : path.split('.').reduce((value, key) => (isSection(value) ? value[key] : undefined), config);
