import { closeSync, constants, openSync, statSync } from 'node:fs';

/** Opens a file of ours for the time of this work; never through a symbolic link: what it leads to is not ours. */
export function withFile<T>(path: string, flags: number, work: (fd: number) => T): T {
  const fd = openSync(path, flags | (constants.O_NOFOLLOW ?? 0), 0o600);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/** In bytes; 0 where there is none. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Undefined where it fails, for whatever reason. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** False where it fails, for whatever reason. */
export const isDone = (work: () => void): boolean =>
  attempt(() => {
    work();
    return true;
  }) === true;
