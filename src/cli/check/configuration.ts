import { statSync } from 'node:fs';
import { commandIn, notProven, ok, problem, warning } from '../../check/finding.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { environmentName, environmentPrefix } from '../../config/options.ts';
import { configFileVariable, valueAt } from '../../config/read-config.ts';
import { type Config, options } from '../../config.ts';
import { configuredSinks } from '../../sinks/registry.ts';
import { accountNames } from './disk.ts';
import type { Finding } from './finding.ts';

/** Who may do what with the file of the configuration. */
export interface FileSeen {
  readonly path: string;
  /** Permission bits; null on Windows, whose permissions are not checked. */
  readonly mode: number | null;
  readonly owner: string;
}

export function seeFile(path: string, platform: NodeJS.Platform): FileSeen {
  const { mode, uid } = statSync(path);
  return { path, mode: platform === 'win32' ? null : mode & 0o777, owner: accountNames()(uid) };
}

/** The problems of a configuration that cannot be used. */
export const problemFindings = (problems: readonly string[]): readonly Finding[] =>
  problems.map((message) => problem('configuration.read', message, commandIn(message)));

export function configurationFindings(
  loaded: Extract<LoadedConfig, { config: Config }>,
  on: { readonly file: FileSeen | null; readonly env: NodeJS.ProcessEnv; readonly warnings: readonly string[] },
): readonly Finding[] {
  const { config } = loaded;
  const sinks = configuredSinks(config.sinks).map(({ sink }) => sink.name);
  const from = on.file?.path ?? 'The environment alone';
  return [
    ok('configuration.read', `${from} is a complete configuration: records go to ${sinks.join(', ')}.`),
    readers(on.file, secretsIn(config, on.env)),
    ...environment(on.env),
    ...on.warnings.map((message) => warning('configuration.environment', message)),
  ];
}

/** Keys of secrets that are set, and came from the file. */
function secretsIn(config: Config, env: NodeJS.ProcessEnv): readonly string[] {
  return options
    .filter(({ path, isSecret }) => {
      const value = valueAt(config, path);
      return typeof value === 'string' && isSecret?.(value) && !env[environmentName(path)];
    })
    .map(({ path }) => path);
}

function readers(file: FileSeen | null, secrets: readonly string[]): Finding {
  const what = 'configuration.readers';
  if (file === null) return ok(what, 'No configuration file is used, so others can read none.');
  const { path, mode, owner } = file;
  const held = secrets.length > 0 ? `It holds a secret, ${secrets.join(' and ')}` : 'It holds no secret';
  if (mode === null)
    return notProven(what, `${held}. Who can read ${path} is not checked on Windows.`, `icacls "${path}"`);
  const can = (bit: number): boolean => (mode & bit) !== 0;
  const who = can(0o004) ? 'everyone' : can(0o040) ? `${owner} and its group` : owner;
  const message = `${path} can be read by ${who} (mode ${mode.toString(8).padStart(3, '0')}). ${held}.`;
  if (can(0o002) || can(0o020)) {
    const writers = can(0o002) ? 'Everyone' : 'Its group';
    return warning(what, `${message} ${writers} can change it, and with it where records go.`, `chmod go-w ${path}`);
  }
  if (secrets.length > 0 && can(0o040))
    return warning(what, `${message} Its group can read that.`, `chmod g-r ${path}`);
  return ok(what, message);
}

function environment(env: NodeJS.ProcessEnv): readonly Finding[] {
  const known = new Set(options.map(({ path }) => environmentName(path)));
  const set = Object.keys(env).filter((name) => name.startsWith(environmentPrefix) && known.has(name) && env[name]);
  if (set.length === 0) return [];
  const names = set.sort().join(', ');
  return [
    ok(
      'configuration.environment',
      `Set by variables of this shell: ${names}. A service has its own variables: see its unit (${configFileVariable} names the file).`,
    ),
  ];
}
