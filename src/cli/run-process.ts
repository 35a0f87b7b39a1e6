import type { CommanderError } from 'commander';
import { openDestination } from '../process/log-destination.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes, Failure } from './exit-codes.ts';
import { print } from './print.ts';
import { stopAtEndOf, stopSignals } from './stop-requests.ts';
import { describeUsageError } from './usage-error.ts';

/**
 * Runs a program as this process: the first signal of `stopSignals` asks it to stop, a second one ends it at once. The process ends when
 * `run` does, with its exit code and what there is to say about it on stderr.
 */
export function runProcess(run: (commandContext: CommandContext) => Promise<void>): void {
  const stop = new AbortController();
  for (const [signal, number] of stopSignals(process.platform)) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(128 + number);
      stop.abort();
    });
  }
  stopAtEndOf(
    () => process.stdin,
    process.env,
    () => stop.abort(),
  );
  // State is durable at every instruction: after an internal error a new process is better than a damaged one.
  process.on('uncaughtException', (error) => process.exit(explain(error)));
  process.on('unhandledRejection', (error) => process.exit(explain(error)));
  run({ env: process.env, stop: stop.signal, print }).then(
    () => end(exitCodes.ok.code),
    (error) => end(explain(error)),
  );
}

/** Like the log, it waits only so long for a reader of stderr. */
function printError(text: string): void {
  const stderr = openDestination({ fd: 2, maxBytes: 1024 * 1024 });
  stderr.write(`${text}\n`);
  stderr.flushSync(500);
}

/** A reader of stdout that takes nothing for so long is not waited for any longer. */
const readerTimeoutMs = 5_000;

/** Ends when all output is with its reader: a pipe holds 64 KB, and the rest would be lost. */
function end(code: number): void {
  const { stdout } = process;
  const exit = (): void => process.exit(code);
  let left = stdout.writableLength;
  setInterval(() => {
    if (stdout.writableLength >= left) exit();
    left = stdout.writableLength;
  }, readerTimeoutMs);
  stdout.write('', exit);
}

/** By its code: its class would have to be loaded for that. */
const isCommanderError = (error: unknown): error is CommanderError =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');

/** Prints why the process ends, in one line where that is enough. @returns the exit code. */
function explain(error: unknown): number {
  if (error instanceof Failure) {
    if (error.message !== '') printError(error.message);
    return exitCodes[error.reason].code;
  }
  if (isCommanderError(error)) {
    if (error.exitCode === 0) return exitCodes.ok.code;
    // The help itself, printed because no command was given.
    if (error.code !== 'commander.help') printError(describeUsageError(error.message));
    return exitCodes.usage.code;
  }
  printError(`Unexpected error: ${error instanceof Error ? error.stack : String(error)}`);
  return exitCodes.unexpected.code;
}
