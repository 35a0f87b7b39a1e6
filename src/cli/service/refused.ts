import { Refusal } from '../../service/refusals.ts';
import { Failure } from '../exit-codes.ts';

/** Does it, and ends the command with the exit code of a refusal, or with what the disk had against it. */
export async function orFail<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw new Failure(error.reason, error.message);
    if (error instanceof Error && 'code' in error && 'syscall' in error) throw ofDisk(error.code, error.message);
    throw error;
  }
}

function ofDisk(code: unknown, message: string): Failure {
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new Failure('missing', `The disk is full (${message}): free some space, then run the same command again.`)
    : new Failure('notDone', `The disk refused the operation (${message}): fix that, then run the same command again.`);
}
