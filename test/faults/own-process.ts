import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { FaultContext, Outcome } from './fault-test.ts';

/** Where a test is, for the process in which it runs. */
export interface Assignment extends Omit<FaultContext, 'signal' | 'say'> {
  /** A module that exports `faultTests`. */
  readonly module: string;
  readonly id: string;
}

/** What that process says. */
export type Message =
  | { readonly kind: 'say'; readonly line: string }
  | { readonly kind: 'outcome'; readonly outcome: Outcome; readonly processorSeconds: number }
  | { readonly kind: 'error'; readonly message: string };

export interface Completed {
  readonly outcome: Outcome;
  /** Of the test and every program that it started, as far as their parents waited for them. */
  readonly processorSeconds: number;
}

/** Time to end what a test has started, and to judge what it played, when it is interrupted. */
const graceMs = 60_000;

/**
 * Runs a test in a process of its own, so that neither what it computes nor what it leaves open touches another one. When this resolves or
 * rejects, that process has ended, and so has every program of its group.
 */
export async function runInOwnProcess(
  assignment: Assignment,
  { signal, say }: Pick<FaultContext, 'signal' | 'say'>,
  grace = graceMs,
): Promise<Completed> {
  signal.throwIfAborted();
  // Of a process group of its own: an interrupt from the terminal reaches only the program that coordinates.
  const child = fork(join(import.meta.dirname, 'own-process-child.ts'), [], { detached: true });
  const last: { message: Message | null } = { message: null };
  child.on('message', (message: Message) => {
    if (message.kind === 'say') say(message.line);
    else last.message = message;
  });
  const killAll = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Everything has ended.
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    child.kill('SIGTERM');
    timer = setTimeout(killAll, grace);
  };
  signal.addEventListener('abort', stop, { once: true });
  child.send(assignment);
  const ended = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, by) => resolve(by ?? `exit code ${code}`));
  });
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  killAll();
  const { message } = last;
  if (message?.kind === 'outcome' && (!signal.aborted || message.outcome.played !== undefined)) return message;
  signal.throwIfAborted();
  throw new Error(message?.kind === 'error' ? message.message : `the process of the test ended with ${ended}`);
}
