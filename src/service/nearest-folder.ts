import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** The folder itself, or the nearest one above it that there is: on its file system it will be. */
export function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Its file system is; who may write there is another question. */
export function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS';
  }
}
