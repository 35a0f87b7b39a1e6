import { type Command, InvalidArgumentError } from 'commander';
import { platformPaths } from '../config/config-file.ts';
import { describeExitCodes, type ExitReason } from './exit-codes.ts';

/** All that a command takes from the process around it; a test gives its own. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by the first request to stop: the command then comes to its end by itself. */
  readonly stop: AbortSignal;
  /** Writes text to stdout. */
  readonly print: (text: string) => void;
}

/** The file that a command reads its configuration from. */
export const configFileOption = [
  '-c, --config <file>',
  `configuration file (default: SCHEDULED_EVENTS_BRIDGE_CONFIG, else ${platformPaths(process.platform, process.env).configFile})`,
  fileName,
] as const;

/** An empty variable of a shell must not stand for the default. */
export function fileName(text: string): string {
  if (text === '') throw new InvalidArgumentError('--config needs a file name.');
  return text;
}

/** Adds one verb to the program. Its file imports what is heavy only when the verb is run. */
export type Verb = (program: Command, commandContext: CommandContext) => void;

/** What every verb has in common. The exit codes are those besides 0, 1 and 2. */
export function describeVerb(command: Command, ...reasons: readonly ExitReason[]): Command {
  return command
    .addHelpText('after', () => describeExitCodes('ok', 'unexpected', 'usage', ...reasons))
    .helpOption('-h, --help', 'show this help');
}

/** Resolves when the command has to stop. */
export function stopped(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
}
