import { openSync } from 'node:fs';
import { Failure } from './exit-codes.ts';

/** Opens a file that is not there yet. @returns its descriptor, for writing. */
export function openNew(file: string, mode: number): number {
  try {
    return openSync(file, 'wx', mode);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      throw new Failure('usage', `${file} exists and is not overwritten: name a new file, or remove this one.`);
    }
    throw new Failure('usage', `The file ${file} cannot be written (${code ?? message}): name another one.`);
  }
}
