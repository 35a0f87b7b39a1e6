import type { CommanderError } from 'commander';
import { exitCodes, Failure } from './cli/exit-codes.ts';
import { openDestination } from './process/log-destination.ts';
import { isSender, runSender } from './sender/run-sender.ts';

/** Like the log, it waits only so long for a reader of stderr. */
function say(text: string): void {
  const stderr = openDestination({ fd: 2, maxBytes: 1024 * 1024 });
  stderr.write(`${text}\n`);
  stderr.flushSync(500);
}

/** A reader of stdout that has gone (`| head -1`) is no reason to stop. */
function print(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => {});
  process.stdout.write(text);
}

/** A reader that takes nothing for so long is given up. */
const patienceMs = 5_000;

/** Ends when all that was printed is with its reader: a pipe holds 64 KB, and what is behind that would be cut off. */
function end(code: number): void {
  const { stdout } = process;
  const exit = (): void => process.exit(code);
  let left = stdout.writableLength;
  setInterval(() => {
    if (stdout.writableLength >= left) exit();
    left = stdout.writableLength;
  }, patienceMs);
  stdout.write('', exit);
}

/** By its code: its class would have to be loaded for that. */
const isCommanderError = (error: unknown): error is CommanderError =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');

/** Says why the process ends, in one line where that is enough, and with which code. */
function explain(error: unknown): number {
  if (error instanceof Failure) {
    if (error.message !== '') say(error.message);
    return exitCodes[error.reason].code;
  }
  if (isCommanderError(error)) {
    if (error.exitCode === 0) return exitCodes.ok.code;
    // The help itself, asked for by naming no command, has been printed.
    if (error.code !== 'commander.help') say(`${error.message.replaceAll('\n', ' ')} (--help shows what there is)`);
    return exitCodes.usage.code;
  }
  say(`Something unexpected happened: ${error instanceof Error ? error.stack : String(error)}`);
  return exitCodes.unexpected.code;
}

const stop = new AbortController();
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(128 + number);
    stop.abort();
  });
}
// State is durable at every instruction: after a mistake of ours a fresh process is better than one that is half alive.
process.on('uncaughtException', (error) => process.exit(explain(error)));
process.on('unhandledRejection', (error) => process.exit(explain(error)));

/** A sender is to be ready soon, and small: it loads no command line. */
async function run(): Promise<void> {
  if (isSender(process.argv)) {
    const refusal = await runSender(process.argv);
    if (refusal !== null) throw new Failure('unexpected', refusal);
    return;
  }
  const { createProgram } = await import('./cli/program.ts');
  await createProgram({ env: process.env, stop: stop.signal, print }).parseAsync();
}

run().then(
  () => end(exitCodes.ok.code),
  (error) => end(explain(error)),
);
