import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export const reserveBytes = 4 * 2 ** 20;

/** Gives the space of this file back to a full disk: even deleting needs some. False when there was none. */
export function freeReserve(path: string): boolean {
  try {
    const was = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    rmSync(path, { force: true });
    return was;
  } catch {
    return false;
  }
}

/** Takes it again once the disk has room for it three times over. */
export function ensureReserve(path: string): void {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && found.size === reserveBytes) return;
    if (freeBytes(path) < 3 * reserveBytes) return;
    rmSync(path, { force: true });
    take(path);
  } catch {
    // Wanted, not needed: what remains of a failed attempt only takes room.
    freeReserve(path);
  }
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
