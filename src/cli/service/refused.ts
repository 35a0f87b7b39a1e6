import { Refusal } from '../../service/refusals.ts';
import { Failure } from '../exit-codes.ts';

/** Does it, and ends the command with the exit code of a refusal, or with what the disk had against it. */
export async function orFail<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failureFor(error) ?? error;
  }
}

/** Null for an internal error. */
export function failureFor(error: unknown): Failure | null {
  if (error instanceof Refusal) return new Failure(error.reason, error.message);
  return error instanceof Error && 'code' in error && 'syscall' in error ? ofDisk(error.code, error.message) : null;
}

function ofDisk(code: unknown, message: string): Failure {
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new Failure('missing', `The disk is full (${message}): free some space, then run the same command again.`)
    : new Failure('notDone', `The disk refused the operation (${message}): fix that, then run the same command again.`);
}
