import { readFileSync } from 'node:fs';
import { Failure } from '../../cli/exit-codes.ts';
import { InvalidInput } from '../read-fields.ts';
import { type Recording, readRecording } from '../recording/read-recording.ts';

/** @throws {Failure} with file, line and the problem. */
export function openRecording(file: string): Recording {
  try {
    return readRecording(file, readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof InvalidInput)
      throw new Failure('usage', `The recording cannot be replayed: ${error.message}.`);
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new Failure('usage', `The recording ${file} does not exist; scheduled-events-bridge record makes one.`);
    throw new Failure('usage', `The recording ${file} cannot be read (${code ?? message}).`);
  }
}
