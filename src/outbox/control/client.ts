import { existsSync } from 'node:fs';
import type { Clock } from '../../clock.ts';
import { connectToFile } from '../store/connection.ts';
import { layoutOf } from '../store/layout.ts';
import { isServiceRunning } from '../store/lock.ts';
import { migrations } from '../store/schema/migrations.ts';
import { answerTo, fileRequest, withdrawRequest } from './requests.ts';

/** `no-service`: nothing was asked, or nobody is left to answer. `no-answer`: it was asked, and taken back unanswered. */
export type Asked =
  | { readonly answered: true; readonly answer: unknown }
  | { readonly answered: false; readonly why: 'no-service' | 'no-answer' | 'no-outbox' };

export interface AskOptions {
  /** How long to wait for the answer. The service looks once a second. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const lookAgainMs = 100;

/**
 * For commands: files a request in the outbox of a state directory and waits until the service that writes it has answered.
 * A request without an answer in time is withdrawn, so that nothing happens long after a person has gone; one that the
 * service is at work on may be carried out all the same.
 * @throws OutboxTooNew, OutboxDamaged; SQLite's own error where this user may not write the outbox.
 */
export async function askService(
  directory: string,
  verb: string,
  argument: unknown,
  { timeoutMs, signal, clock }: AskOptions,
): Promise<Asked> {
  const { outbox } = layoutOf(directory);
  if (!existsSync(outbox)) return { answered: false, why: 'no-outbox' };
  if (isServiceRunning(directory) === false) return { answered: false, why: 'no-service' };
  const db = connectToFile(outbox, migrations);
  try {
    const number = fileRequest(db, verb, argument, clock.now());
    const deadline = clock.monotonicMs() + timeoutMs;
    for (;;) {
      await clock.sleep(lookAgainMs, signal);
      const isGone = isServiceRunning(directory) === false;
      const isOver = isGone || signal.aborted || clock.monotonicMs() >= deadline;
      const found = answerTo(db, number);
      if (found) return { answered: true, answer: withMessage(found.answer) };
      // Taken back in the same instant in which it was answered: then there is an answer.
      if (isOver && withdrawRequest(db, number)) return { answered: false, why: isGone ? 'no-service' : 'no-answer' };
      if (isOver && !answerTo(db, number)) return { answered: false, why: 'no-answer' };
    }
  } finally {
    db.close();
  }
}

/** A service of 0.1.0 answers with its sentence in `says`. */
const withMessage = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'says' in answer ? { message: answer.says, ...answer } : answer;
