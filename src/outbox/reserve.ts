import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
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
  const held = (): boolean => statSync(path, { throwIfNoEntry: false })?.size === reserveBytes;
  return {
    free() {
      try {
        const was = statSync(path, { throwIfNoEntry: false }) !== undefined;
        rmSync(path, { force: true });
        return was;
      } catch {
        return false;
      }
    },
    ensure() {
      try {
        if (!held() && freeBytes(path) >= 3 * reserveBytes) take(path);
      } catch {
        // Wanted, not needed: what remains of a failed attempt only takes room.
        this.free();
      }
    },
  };
}

/** Random bytes: file systems that compress give nothing for zeros. */
function take(path: string): void {
  const fd = openSync(path, 'w', 0o600);
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
