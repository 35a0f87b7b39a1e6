import { statSync } from 'node:fs';
import { attempt } from './files.ts';

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
