import { statSync } from 'node:fs';

/** What became of a file since it was opened, as its name tells. */
export type FileStatus = 'here' | 'gone' | 'replaced';

/** Tells whether a name still leads to the file that is open. */
export interface FileIdentity {
  status(): FileStatus;
}

/**
 * Remembers which file this name leads to now. One that is removed while it is open goes on to take every write, and gives
 * none back: only its name tells. Its inode cannot be given to another file as long as it is open.
 * 2 µs a look; a look that fails for any other reason proves nothing, and counts as `here`.
 */
export function fileIdentityOf(path: string): FileIdentity {
  const then = identity(path);
  return {
    status() {
      const now = identity(path);
      if (now === 'unknown' || then === 'unknown' || now === then) return 'here';
      return now === null ? 'gone' : 'replaced';
    },
  };
}

function identity(path: string): string | null {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found ? `${found.dev}:${found.ino}` : null;
  } catch (error) {
    // A file stands in the place of its directory.
    const isGone = error instanceof Error && 'code' in error && error.code === 'ENOTDIR';
    return isGone ? null : 'unknown';
  }
}
