import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Keeps the state of a subscriber: a few KB of text, replaced as a whole. A file, a blob or a row of a database will do, as long as only
 * one process writes it.
 */
export interface StateStore {
  /** What was saved last; null: nothing was. */
  load(): Promise<string | null>;
  /**
   * Replaces it as a whole: after a crash, `load` gives this state or the one before.
   * @throws StateConflictError if another process has saved a state since this one loaded or saved its own.
   */
  save(state: string): Promise<void>;
}

/** Two processes use one state. `actOnce` then takes no further actions: report the message and end the process. */
export class StateConflictError extends Error {
  override readonly name = 'StateConflictError';
}

/**
 * Keeps the state in a file, beside which it needs room for a second one. Survives a crash of the process and of the machine.
 * @throws where the file cannot be read or written, but not where it is missing.
 */
export function fileStore(path: string): StateStore {
  return {
    async load() {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
        throw error;
      }
    },
    async save(state) {
      await mkdir(dirname(path), { recursive: true });
      const file = await open(`${path}.new`, 'w');
      try {
        await file.writeFile(state);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    },
  };
}

/** Keeps the state in memory: for tests. */
export function memoryStore(initial: string | null = null): StateStore {
  let kept = initial;
  return {
    load: async () => kept,
    save: async (state) => {
      kept = state;
    },
  };
}
