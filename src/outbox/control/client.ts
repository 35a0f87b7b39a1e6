import { existsSync } from 'node:fs';
import type { Clock } from '../../clock.ts';
import { connectToFile } from '../store/connection.ts';
import { layoutOf } from '../store/layout.ts';
import { isServiceRunning } from '../store/lock.ts';
import { answerTo, fileRequest, withdrawRequest } from './requests.ts';

/** `no-service`: none runs, or it ended before it answered. `no-answer`: the request was withdrawn unanswered. */
export type Asked =
  | { readonly answered: true; readonly answer: unknown }
  | { readonly answered: false; readonly why: 'no-service' | 'no-answer' | 'no-outbox' };

const pollEveryMs = 100;

/**
 * For commands: files a request in the outbox of a state directory and waits until the service that writes it has answered,
 * which reads requests once a second.
 * A request without an answer in time is withdrawn, so that it is not executed long after its command ended; one that the
 * service is executing may still be completed.
 * @throws OutboxTooNew, OutboxDamaged; SQLite's own error where this user may not write the outbox.
 */
export async function askService(
  directory: string,
  verb: string,
  argument: unknown,
  { timeoutMs, signal, clock }: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<Asked> {
  const { outbox } = layoutOf(directory);
  if (!existsSync(outbox)) return { answered: false, why: 'no-outbox' };
  if (isServiceRunning(directory) === false) return { answered: false, why: 'no-service' };
  using db = connectToFile(outbox);
  const number = fileRequest(db, verb, argument, clock.now());
  const deadline = clock.monotonicMs() + timeoutMs;
  for (;;) {
    await clock.sleep(pollEveryMs, signal);
    const isGone = isServiceRunning(directory) === false;
    const isOver = isGone || signal.aborted || clock.monotonicMs() >= deadline;
    const found = answerTo(db, number);
    if (found) return { answered: true, answer: withMessage(found.answer) };
    // Where it is answered in the instant in which it is withdrawn, the answer counts.
    if (isOver && withdrawRequest(db, number)) return { answered: false, why: isGone ? 'no-service' : 'no-answer' };
    if (isOver && !answerTo(db, number)) return { answered: false, why: 'no-answer' };
  }
}

/** A service of 0.1.0 answers with its sentence in `says`. */
const withMessage = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'says' in answer ? { message: answer.says, ...answer } : answer;
