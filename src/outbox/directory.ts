import { accessSync, constants, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Why nothing can be written in the state directory: what SQLite and a recursive mkdir do not tell. */
export class DirectoryUnusable extends Error {
  override readonly name = 'DirectoryUnusable';
  readonly code: string;
  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** @throws DirectoryUnusable, or the error of the system where no better cause is found. */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explained(error, path);
  }
}

/**
 * What keeps a file from being made in this directory, as the nearest part of its path that exists tells; else the error as
 * it came. Node answers ENOENT for a directory that is missing on a read-only disk, EEXIST for a file in its place, and
 * SQLite `unable to open database file` for everything.
 */
export function explained(error: unknown, directory: string): unknown {
  for (let path = directory; ; path = dirname(path)) {
    const cause = causeAt(path, directory);
    if (cause) return new DirectoryUnusable(cause.code, cause.message, error);
    if (cause === null || dirname(path) === path) return error;
  }
}

/** Null: nothing is wrong there. Undefined: there is nothing. */
function causeAt(
  path: string,
  directory: string,
): { readonly code: string; readonly message: string } | null | undefined {
  const found = look(path);
  if (found === undefined) return undefined;
  if (typeof found === 'string') return { code: found, message: `${path} cannot be looked at (${found})` };
  if (found.isSymbolicLink()) return { code: 'ENOENT', message: `${path} is a symbolic link that leads nowhere` };
  if (!found.isDirectory()) {
    const role = path === directory ? 'the state directory' : 'a directory on its path';
    return { code: 'ENOTDIR', message: `${path} is a file, where ${role} should be` };
  }
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const code = codeOf(error);
    const why = code === 'EROFS' ? 'is on a disk that is mounted read-only' : `may not be written by this account`;
    return { code, message: `${path} ${why} (${code})` };
  }
}

/** The code of the error where it cannot be looked at. */
function look(path: string): Stats | string | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Its path leads through a file, which is what is found next.
    return codeOf(error) === 'ENOTDIR' ? undefined : codeOf(error);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';
