import { lstatSync, readdirSync, rmdirSync } from 'node:fs';

export const isEmpty = (folder: string): boolean => readdirSync(folder).length === 0;

/** Removes a folder if it is empty: files of others stay, and so does a link. Null: it was removed. */
export function removeEmpty(folder: string): 'filled' | 'mounted' | null {
  const there = lstatSync(folder, { throwIfNoEntry: false });
  if (there === undefined) return null;
  if (!there.isDirectory() || !isEmpty(folder)) return 'filled';
  try {
    rmdirSync(folder);
    return null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EBUSY') return 'mounted';
    throw error;
  }
}
