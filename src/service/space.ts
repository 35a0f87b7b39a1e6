import { statfsSync } from 'node:fs';
import { nearestFolder } from './nearest-folder.ts';
import { Refusal } from './refusals.ts';

/** Bytes, where the versions and where the state will be. */
export interface FreeSpace {
  readonly freeForVersions: number;
  readonly freeForState: number;
}

/** Bytes that are free on the disk on which this path is, or will be. */
export function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(path));
  return bavail * bsize;
}

/** The disk is not to be filled to the last byte. */
const spareBytes = 64 * 2 ** 20;
/** An outbox that is new, its log and its reserve. */
const stateBytes = 16 * 2 ** 20;

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MB`;

/** Why a version of this size does not fit; null if it does. `names`: where versions and state will be, for the sentence. */
export function lacksSpace(
  { freeForVersions, freeForState }: FreeSpace,
  bytes: number,
  names: { readonly versions: string; readonly state: string },
): Refusal | null {
  if (bytes > 0 && freeForVersions < bytes + spareBytes) {
    return new Refusal(
      'missing',
      `There is not enough space in ${names.versions}: ${megabytes(freeForVersions)} free, and ${megabytes(bytes + spareBytes)} are needed. Free some space.`,
    );
  }
  if (freeForState < stateBytes) {
    return new Refusal(
      'missing',
      `There is not enough space for the state in ${names.state}: ${megabytes(freeForState)} free, and ${megabytes(stateBytes)} are needed. Free some space.`,
    );
  }
  return null;
}
