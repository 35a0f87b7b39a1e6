import { closeSync, constants, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Opens a file of ours for the time of this work; never through a symbolic link: what it leads to is not ours. */
export function withFile<T>(path: string, flags: number, work: (fd: number) => T): T {
  const fd = openSync(path, flags | (constants.O_NOFOLLOW ?? 0), 0o600);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/** All of these that exist. */
export function removeFiles(paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { force: true });
}

/** In bytes; 0 when it does not exist. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Undefined when it fails, for any reason. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** False when it fails, for any reason. */
export const isDone = (work: () => void): boolean =>
  attempt(() => {
    work();
    return true;
  }) === true;

/** In words, what happened to the name of an open file; null while it still leads to it. */
export type Displacement = () => string | null;

/**
 * Remembers which file this name leads to now. One that is removed while it is open still takes every write,
 * and loses them: only its name shows it. Its inode cannot be reused as long as it is open.
 * 2 µs per check; one that fails for any other reason proves nothing.
 */
export function displacementOf(path: string): Displacement {
  const then = identity(path);
  return () => {
    const now = identity(path);
    if (now === undefined || then === undefined || now === then) return null;
    if (now !== null) return `${path} was replaced by another file`;
    return existsSync(dirname(path)) ? `${path} was removed` : `The state directory ${dirname(path)} was removed`;
  };
}

/** Null when it does not exist, also when a file has the name of its directory; undefined when that cannot be read. */
const identity = (path: string): string | null | undefined =>
  attempt(() => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found ? `${found.dev}:${found.ino}` : null;
  });
