import { openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from './exit-codes.ts';

/** Opens a file that is not there yet. @returns its descriptor, for writing. */
export function openNew(file: string, mode: number): number {
  if (file === '') throw new Failure('usage', 'The name of the file to write is empty: name a file.');
  try {
    return openSync(file, 'wx', mode);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Failure('usage', `${file} is a directory: name a file in it.`);
    }
    if (code === 'ENOENT') {
      throw new Failure('usage', `There is no directory ${dirname(file)}: create it, or name a file in another one.`);
    }
    if (code === 'EEXIST') {
      throw new Failure('usage', `${file} exists and is not overwritten: name a new file, or remove this one.`);
    }
    throw new Failure('usage', `The file ${file} cannot be written (${code ?? message}): name another one.`);
  }
}
