import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Space that is kept for the moment when the disk is full: then even deleting needs some. */
export interface Reserve {
  /** Gives the space back to the disk. False when there was none. */
  free(): boolean;
  /** Takes it again once the disk has room for it three times over. */
  ensure(): void;
}

export const reserveBytes = 4 * 2 ** 20;

export function createReserve(path: string): Reserve {
  const held = (): boolean => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && found.size === reserveBytes;
  };
  return {
    free() {
      try {
        const was = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
        rmSync(path, { force: true });
        return was;
      } catch {
        return false;
      }
    },
    ensure() {
      try {
        if (held() || freeBytes(path) < 3 * reserveBytes) return;
        rmSync(path, { force: true });
        take(path);
      } catch {
        // Wanted, not needed: what remains of a failed attempt only takes room.
        this.free();
      }
    },
  };
}

/** Random bytes: file systems that compress give nothing for zeros. A new file only: nothing is written through a link. */
function take(path: string): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeSync(fd, randomFillSync(Buffer.alloc(reserveBytes)));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** What the disk that holds this path has left for us. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}
