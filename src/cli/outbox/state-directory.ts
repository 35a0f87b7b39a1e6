import { type Command, Option } from 'commander';
import { loadConfig } from '../../config/load-config.ts';
import { fileName } from '../command-context.ts';
import { Failure } from '../exit-codes.ts';

/** Options that name the state directory of a command. */
export interface StateDirOptions {
  readonly config?: string;
  readonly stateDirectory?: string;
}

/** `maxMegabytes`: what the configuration allows the outbox; null where no configuration was read. */
export interface StateDirectory {
  readonly directory: string;
  readonly maxMegabytes: number | null;
}

/** The options of {@link StateDirOptions}. */
export function addStateDirOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-c, --config <file>', 'configuration file that names the state directory (default: as for run)')
        .argParser(fileName)
        .conflicts('stateDirectory'),
    )
    .option('--state-directory <directory>', 'the state directory, instead of reading it from the configuration');
}

/** @throws Failure where the configuration, which may hold secrets, cannot be read or is wrong. */
export function stateDirectoryOf(
  { config: file, stateDirectory }: StateDirOptions,
  env: NodeJS.ProcessEnv,
): StateDirectory {
  if (stateDirectory !== undefined) return { directory: stateDirectory, maxMegabytes: null };
  const { config, problems } = loadConfig({ file, env });
  if (config) return { directory: config.stateDirectory, maxMegabytes: config.outbox.maxMegabytes };
  const [first = '', ...others] = problems;
  const more = others.length > 0 ? ` (and ${others.length} more: run check)` : '';
  throw new Failure(
    'configuration',
    `The configuration is wrong: ${first}${more} To use an outbox regardless, name its directory with --state-directory.`,
  );
}
