import { statSync } from 'node:fs';
import { sentence } from '../../azure/failure.ts';
import { commandIn, notProven, ok, problem, warning } from '../../check/finding.ts';
import { type AccessRights, listed } from '../../check/sddl.ts';
import { accessTo, keepFileFromOthers } from '../../check/windows-access.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { environmentName, environmentPrefix } from '../../config/options.ts';
import { configFileVariable, valueAt } from '../../config/read-config.ts';
import { type Config, options } from '../../config.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import { configuredSinks } from '../../sinks/registry.ts';
import { accountNames } from './disk.ts';
import type { Finding } from './finding.ts';

/** Who may do what with the file of the configuration. */
export interface FileSeen {
  readonly path: string;
  /** Permission bits; on Windows, who may read and change it; null where that is not known. */
  readonly access: number | AccessRights | null;
  readonly owner: string;
}

export async function seeFile(path: string, platform: NodeJS.Platform): Promise<FileSeen> {
  const { mode, uid } = statSync(path);
  const access = platform === 'win32' ? await accessTo(path, platform) : mode & 0o777;
  return { path, access, owner: accountNames()(uid) };
}

/** The problems of a configuration that cannot be used. */
export const problemFindings = (problems: readonly string[]): readonly Finding[] =>
  problems.map((message) => problem('configuration.read', message, commandIn(message)));

export function configurationFindings(
  loaded: Extract<LoadedConfig, { config: Config }>,
  on: {
    readonly file: FileSeen | null;
    readonly env: NodeJS.ProcessEnv;
    readonly warnings: readonly string[];
    readonly system: Pick<OperatingSystem, 'showAccess'>;
  },
): readonly Finding[] {
  const { config } = loaded;
  const sinks = configuredSinks(config.sinks).map(({ sink }) => sink.name);
  const from = on.file?.path ?? 'The environment alone';
  return [
    ok('configuration.read', `${from} is a complete configuration: records go to ${sinks.join(', ')}.`),
    readers(on.file, secretsIn(config, on.env), on.system),
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

function readers(
  file: FileSeen | null,
  secrets: readonly string[],
  system: Pick<OperatingSystem, 'showAccess'>,
): Finding {
  const what = 'configuration.readers';
  if (file === null) return ok(what, 'No configuration file is used, so others can read none.');
  const { path, access, owner } = file;
  const held = secrets.length > 0 ? `It holds a secret, ${secrets.join(' and ')}` : 'It holds no secret';
  if (access === null)
    return notProven(what, `${held}. The access rights of ${path} could not be read.`, system.showAccess(path));
  if (typeof access !== 'number') return windowsReaders(path, access, { held, isSecret: secrets.length > 0 });
  const mode = access;
  const can = (bit: number): boolean => (mode & bit) !== 0;
  const who = can(0o004) ? 'everyone' : can(0o040) ? `${owner} and its group` : owner;
  const message = `${path} can be read by ${who} (mode ${mode.toString(8).padStart(3, '0')}). ${held}.`;
  if (can(0o020))
    return warning(what, `${message} Its group can change it, and with it where records go.`, `chmod g-w ${path}`);
  if (secrets.length > 0 && can(0o040))
    return warning(what, `${message} Its group can read that.`, `chmod g-r ${path}`);
  return ok(what, message);
}

/** Unlike on Linux the service starts with a secret that every user can read: to see that takes a separate process. */
function windowsReaders(
  path: string,
  { readers: may, writers }: AccessRights,
  { held, isSecret }: { readonly held: string; readonly isSecret: boolean },
): Finding {
  const what = 'configuration.readers';
  const message = `${path} can be read by ${listed(may)}. ${held}.`;
  const remedy = keepFileFromOthers(path);
  if (isSecret && may.some(({ isEveryone }) => isEveryone)) return problem(what, message, remedy);
  if (writers.length > 0)
    return warning(
      what,
      `${message} ${sentence(listed(writers))} can change it, and with it where records go.`,
      remedy,
    );
  return isSecret && may.length > 0 ? warning(what, message, remedy) : ok(what, message);
}

function environment(env: NodeJS.ProcessEnv): readonly Finding[] {
  const known = new Set(options.map(({ path }) => environmentName(path)));
  const set = Object.keys(env).filter((name) => name.startsWith(environmentPrefix) && known.has(name) && env[name]);
  if (set.length === 0) return [];
  const names = set.sort().join(', ');
  return [
    ok(
      'configuration.environment',
      `Set by variables of this shell: ${names}. A service has its own variables (${configFileVariable} names the file).`,
    ),
  ];
}
