import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** The folder itself, or the nearest one above it that there is: on its file system it will be. */
export function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}
