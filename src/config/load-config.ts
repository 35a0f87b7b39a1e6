import type { Config } from '../config.ts';
import { operatingSystemOf } from '../operating-system.ts';
import { platformPaths, readConfigFile } from './config-file.ts';
import { environmentName, environmentOf } from './options.ts';
import {
  type ConfigDocument,
  configFileVariable,
  ownVariables,
  type ReadConfig,
  readConfig,
  type SourceOf,
} from './read-config.ts';

/** `file` is the one that was read, null when there was none. */
export type LoadedConfig =
  | {
      readonly config: Config;
      readonly sourceOf: SourceOf;
      readonly file: string | null;
      readonly problems?: never;
    }
  | { readonly problems: readonly string[]; readonly config?: never };

/**
 * The configuration of this process: the file that `--config` names, else the one that SCHEDULED_EVENTS_BRIDGE_CONFIG names,
 * else the platform's default; environment variables override it. Only the default file may be missing.
 */
export function loadConfig(from: {
  readonly file?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  /** Settings that do not come from a file and override it, such as those of a VM extension. */
  readonly documents?: readonly ConfigDocument[];
}): LoadedConfig {
  const platform = from.platform ?? process.platform;
  const paths = platformPaths(platform, from.env);
  const env = environmentOf(from.env, platform);
  const named = from.file ?? (env[configFileVariable] || undefined);
  const path = named ?? paths.configFile;
  const file = readConfigFile(path, platform);
  if (file.kind === 'problem') return { problems: [file.problem] };
  if (file.kind === 'absent' && named !== undefined) {
    const by = from.file === undefined ? `the environment variable ${configFileVariable}` : '--config';
    return {
      problems: [
        `There is no configuration file ${path}, which ${by} names: create it (${howToCreate}), or name another.`,
      ],
    };
  }
  const documents = [...(file.kind === 'read' ? [file.document] : []), ...(from.documents ?? [])];
  const read = readConfig({ documents, env, defaultStateDirectory: paths.stateDirectory });
  const foreign = read.config && foreignPath(read, platform, paths.stateDirectory);
  if (foreign) return { problems: [foreign] };
  if (read.config) return { ...read, file: file.kind === 'read' ? path : null };
  if (file.kind === 'read') return read;
  const cause = `There is no configuration file ${path}: create it (${howToCreate}), or name another with --config or ${configFileVariable}.`;
  const set = ownVariables(env);
  // Where a sink is set by other means, no file is needed; where nothing is, all other problems follow from this one.
  if (from.documents?.length || set.some((name) => name.startsWith(`${environmentName('sinks')}_`))) return read;
  return { problems: set.length > 0 ? [...read.problems, cause] : [cause] };
}

const howToCreate = 'scheduled-events-bridge config init writes one';

/** An absolute path of the other operating system, which this one would take for a relative one; null where it is not. */
function foreignPath(
  { config, sourceOf }: Extract<ReadConfig, { config: Config }>,
  platform: NodeJS.Platform,
  example: string,
): string | null {
  const { stateDirectory } = config;
  const source = sourceOf('stateDirectory');
  if (source === null) return null;
  const isOurs = platform === 'win32' ? /^([A-Za-z]:[\\/]|\\\\)/.test(stateDirectory) : stateDirectory.startsWith('/');
  if (isOurs) return null;
  return `stateDirectory is ${JSON.stringify(stateDirectory)} in ${source}: expected an absolute path of ${operatingSystemOf(platform).name}, such as ${example}.`;
}
