import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDone } from './files.ts';

export const reserveBytes = 4 * 2 ** 20;

/** Gives the space of this file back to a full disk: even deleting needs some. False when there was none. */
export const freeReserve = (path: string): boolean => isDone(() => rmSync(path));

/** Takes it again once the disk has room for it three times over. */
export function ensureReserve(path: string): void {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && found.size === reserveBytes) return;
    if (freeBytes(path) < 3 * reserveBytes) return;
    rmSync(path, { force: true });
    // Random bytes: file systems that compress give nothing for zeros. A new file only: nothing is written through a link.
    writeFileSync(path, randomBytes(reserveBytes), { flag: 'wx', mode: 0o600, flush: true });
  } catch {
    // Wanted, not needed: what remains of a failed attempt only takes room.
    freeReserve(path);
  }
}

/** What the disk that holds this path has left for us. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}
