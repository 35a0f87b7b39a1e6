import {
  type Config,
  environmentName,
  environmentPrefix,
  type Option,
  optionalSections,
  options,
  required,
} from '../config.ts';
import { isInCluster, notInCluster } from '../host/in-cluster.ts';
import { closest } from './did-you-mean.ts';
import { shown } from './shown.ts';

/** One JSON document with settings, and where it is from. */
export interface ConfigDocument {
  readonly value: unknown;
  /** Completes "in …": a file's path, or `protected settings`. */
  readonly source: string;
  /** Others cannot read it, so that it may hold secrets. */
  readonly keepsSecrets: boolean;
}

/** Every problem is one sentence that names key, value, where it is from and what is expected. */
export type ReadConfig =
  | { readonly config: Config; readonly problems?: never }
  | { readonly problems: readonly string[]; readonly config?: never };

interface Setting {
  readonly value: unknown;
  readonly source: string;
  readonly keepsSecrets: boolean;
}

/** What has been set, before defaults. Sections are here when they are named at all, keys or not. */
interface Settings {
  readonly values: Map<string, Setting>;
  readonly sections: Map<string, string>;
}

const byPath: ReadonlyMap<string, Option> = new Map(options.map((option) => [option.path, option]));
const environmentVariables: ReadonlyMap<string, Option> = new Map(
  options.map((option) => [environmentName(option.path), option]),
);
/** Names a file, not a value. */
export const configFileVariable = `${environmentPrefix}CONFIG`;

/**
 * Makes the configuration of documents and environment variables; a later document wins over an earlier one, and a
 * variable over both. An empty variable and a JSON null are as if they were not there. All problems are found at once.
 */
export function readConfig(input: {
  readonly documents: readonly ConfigDocument[];
  readonly env: NodeJS.ProcessEnv;
  readonly defaultStateDirectory: string;
}): ReadConfig {
  const problems: string[] = [];
  const settings: Settings = { values: new Map(), sections: new Map() };
  for (const document of input.documents) takeDocument(document, settings, problems);
  takeVariables(input.env, settings, problems);

  const values = new Map<string, unknown>();
  for (const option of options) {
    if (!isWanted(option, settings)) continue;
    values.set(option.path, resolve(option, settings, input.defaultStateDirectory, problems));
  }
  const config = nest(values);
  problems.push(...contradictions(config, settings));
  if (isInCluster(input.env)) problems.push(...approvals(config, settings));
  return problems.length > 0 ? { problems } : { config };
}

function takeDocument(document: ConfigDocument, settings: Settings, problems: string[]): void {
  const { source, keepsSecrets } = document;
  const visit = (path: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (byPath.has(path)) return void settings.values.set(path, { value, source, keepsSecrets });
    const known = keysBelow(path);
    if (known.length === 0) return void problems.push(unknownKey(path, value, source));
    if (typeof value !== 'object' || Array.isArray(value)) {
      problems.push(
        `${path || 'The configuration'} is ${shown(path, value)} in ${source}: expected an object with ${known.join(', ')}.`,
      );
      return;
    }
    settings.sections.set(path, source);
    for (const [key, below] of Object.entries(value)) visit(path ? `${path}.${key}` : key, below);
  };
  visit('', document.value);
}

/** The keys that can stand directly in this section; none when it is not a section. */
function keysBelow(section: string): string[] {
  const prefix = section ? `${section}.` : '';
  const below = [...byPath.keys()].filter((path) => path.startsWith(prefix));
  return [...new Set(below.map((path) => path.slice(prefix.length).split('.')[0] ?? ''))];
}

function unknownKey(path: string, value: unknown, source: string): string {
  const section = path.split('.').slice(0, -1).join('.');
  const siblings = keysBelow(section).map((key) => (section ? `${section}.${key}` : key));
  const near = closest(path, siblings) ?? closest(path, byPath.keys());
  const expected = near ? `did you mean ${near}?` : `expected one of ${siblings.join(', ')}.`;
  return `${path} is not an option (it is ${shown(path, value)} in ${source}); ${expected}`;
}

function takeVariables(env: NodeJS.ProcessEnv, settings: Settings, problems: string[]): void {
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(environmentPrefix) || name === configFileVariable || !text) continue;
    const source = `the environment variable ${name}`;
    const option = environmentVariables.get(name);
    if (option) {
      settings.values.set(option.path, { value: option.accepts.fromText(text), source, keepsSecrets: true });
      continue;
    }
    const near = closest(name, environmentVariables.keys());
    const expected = near
      ? `did you mean ${near}?`
      : `its name has to be ${environmentPrefix} and the key in upper snake case.`;
    problems.push(`${name} is not an option (it is ${shown(name, text)} in the environment); ${expected}`);
  }
}

/** Options of an optional section count only when the section is there. */
function isWanted(option: Option, { values, sections }: Settings): boolean {
  const section = optionalSections.find((one) => option.path.startsWith(`${one}.`));
  if (section === undefined || sections.has(section)) return true;
  return [...values.keys()].some((path) => path.startsWith(`${section}.`));
}

function resolve(option: Option, { values }: Settings, defaultStateDirectory: string, problems: string[]): unknown {
  const setting = values.get(option.path);
  if (!setting) {
    if (option.fallback === required) {
      problems.push(`${option.path} is missing: expected ${option.accepts.expects}.`);
      return undefined;
    }
    return option.fallback === '$stateDirectory' ? defaultStateDirectory : option.fallback;
  }
  const value = option.accepts.accept(setting.value);
  const isSecret = option.isSecret?.(setting.value) ?? false;
  const described = isSecret ? 'a value that is not shown' : shown(option.path, setting.value);
  const what = `${option.path} is ${described} in ${setting.source}`;
  if (value === undefined) problems.push(`${what}: expected ${option.accepts.expects}.`);
  else if (isSecret && !setting.keepsSecrets) problems.push(othersCanRead(option, setting));
  return value;
}

function othersCanRead({ path }: Option, { source }: Setting): string {
  return `${path} is a secret, and others can read ${source}: expected a file that they cannot read (chmod o-rwx ${source}), or the environment variable ${environmentName(path)}.`;
}

/** Problems that lie between options. Asked also when single values are bad, so what counts is what has been set. */
function contradictions({ sinks, proxy }: Config, { values }: Settings): string[] {
  const problems: string[] = [];
  if (!sinks.eventHubs && !sinks.logAnalytics && !sinks.stdout) {
    problems.push('There is no sink: expected at least one of sinks.eventHubs, sinks.logAnalytics and sinks.stdout.');
  }
  if (!sinks.eventHubs) return problems;
  const byIdentity = values.has('sinks.eventHubs.fullyQualifiedNamespace');
  const bySecret = values.has('sinks.eventHubs.connectionString');
  if (byIdentity === bySecret) {
    const found = bySecret ? 'both are set' : 'neither is set';
    problems.push(`sinks.eventHubs: expected exactly one of fullyQualifiedNamespace and connectionString; ${found}.`);
  }
  const { connectionString, eventHubName, transport } = sinks.eventHubs;
  const entityPath = /;\s*EntityPath=([^;]+)/i.exec(connectionString ?? '')?.[1]?.trim();
  if (entityPath !== undefined && typeof eventHubName === 'string' && entityPath !== eventHubName) {
    problems.push(
      `sinks.eventHubs.eventHubName is ${JSON.stringify(eventHubName)}, but connectionString has the EntityPath ${JSON.stringify(entityPath)}: expected the same event hub in both.`,
    );
  }
  if (proxy && transport === 'amqp') {
    problems.push(
      'proxy is set, but sinks.eventHubs.transport is "amqp", which cannot go through a proxy: expected "amqp-ws", or no proxy.',
    );
  }
  return problems;
}

/** What would be approved without being asked. */
function approvals({ approve: { userInitiated, freezeUpToSeconds } }: Config, { values }: Settings): string[] {
  const approving = [
    ...(userInitiated === true ? ['approve.userInitiated'] : []),
    ...(typeof freezeUpToSeconds === 'number' ? ['approve.freezeUpToSeconds'] : []),
  ];
  return approving.map((path) => {
    const { value, source } = values.get(path) ?? {};
    return `${path} is ${shown(path, value)} in ${source}: remove it. ${notInCluster}`;
  });
}

/** `{ 'a.b': 1 }` -> `{ a: { b: 1 } }`. The table's type check is what makes the result a configuration. */
function nest(values: ReadonlyMap<string, unknown>): Config {
  const config: Record<string, unknown> = {};
  const sectionOf = (path: readonly string[]): Record<string, unknown> =>
    path.reduce((section, key) => {
      section[key] ??= {};
      return section[key] as Record<string, unknown>;
    }, config);
  for (const section of optionalSections) {
    const path = section.split('.');
    sectionOf(path.slice(0, -1))[path.at(-1) ?? ''] = null;
  }
  for (const [path, value] of values) {
    const keys = path.split('.');
    if (value !== undefined) sectionOf(keys.slice(0, -1))[keys.at(-1) ?? ''] = value;
  }
  return config as unknown as Config;
}
