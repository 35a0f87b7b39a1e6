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

/** Whether the name of an open file still leads to it. */
export type FileStatus = 'here' | 'gone' | 'replaced';

export interface FileIdentity {
  status(): FileStatus;
}

/**
 * Remembers which file this name leads to now. One that is removed while it is open still takes every write,
 * and loses them: only its name shows it. Its inode cannot be reused as long as it is open.
 * 2 µs per check; one that fails for any other reason proves nothing, and counts as `here`.
 */
export function fileIdentityOf(path: string): FileIdentity {
  const then = identity(path);
  return {
    status() {
      const now = identity(path);
      if (now === undefined || then === undefined || now === then) return 'here';
      return now === null ? 'gone' : 'replaced';
    },
  };
}

/** Null where there is none, also where a file is in the place of its directory; undefined where that cannot be read. */
const identity = (path: string): string | null | undefined =>
  attempt(() => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found ? `${found.dev}:${found.ino}` : null;
  });
