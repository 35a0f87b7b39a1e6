import { accessSync, chmodSync, constants, lstatSync, mkdirSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './errors.ts';
import { attempt } from './files.ts';
import { filesOf, type Layout } from './layout.ts';

/** Why nothing can be written in the state directory, which SQLite and a recursive mkdir do not report. */
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
    make(path);
  } catch (error) {
    throw explained(error, path);
  }
}

/** Not Node's recursive mkdir: it never returns where the parent exists and the system answers ENOENT all the same. */
function make(path: string): void {
  if (statSync(path, ifFound)?.isDirectory()) return;
  const parent = dirname(path);
  if (parent === path) throw new DirectoryUnusable('ENOENT', `There is no disk ${path}`, null);
  make(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const why = 'it belongs to the system, or it was removed elsewhere while it is mounted here';
    throw new DirectoryUnusable('ENOENT', `${parent} takes no new directory: ${why} (ENOENT)`, error);
  }
}

/**
 * Makes sure that no other account decides where our files are and what is in them. A directory, or a file of ours, that others may
 * write is closed to them.
 * @returns what had to be closed.
 * @throws DirectoryUnusable where it cannot be closed, one of our files is a symbolic link (opening it would write or
 * truncate what it leads to), or it belongs to another account, which could change it.
 */
export function secureDirectory(layout: Layout): readonly string[] {
  const { directory } = layout;
  const closed = process.platform !== 'win32' && closeDirectory(directory) ? [directory] : [];
  for (const path of filesOf(layout)) {
    const found = lstatSync(path, ifFound);
    if (found?.isSymbolicLink())
      throw new DirectoryUnusable('ELOOP', `${path} is a symbolic link, which is not followed`, null);
    if (found && process.platform !== 'win32' && closeFile(path, found, directory)) closed.push(path);
  }
  return closed;
}

const writableByOthers = 0o022;
const writableByAll = 0o002;
const sticky = 0o1000;

/** With the sticky bit, as in /tmp, others remove and rename nothing of ours: such a directory is left as it is. */
function closeDirectory(directory: string): boolean {
  const { mode } = statSync(directory);
  if ((mode & writableByOthers) === 0 || (mode & sticky) !== 0) return false;
  try {
    chmodSync(directory, mode & 0o7777 & ~writableByOthers);
    return true;
  } catch (error) {
    // A group may write where the owner allowed it, as in the volume of a pod.
    if ((mode & writableByAll) === 0) return false;
    throw new DirectoryUnusable('shared-directory', `other accounts may write in ${directory}`, error);
  }
}

/** A file may belong to this account, to root, and to the owner of the directory, who could replace it anyway. */
function closeFile(path: string, { mode, uid }: Stats, directory: string): boolean {
  if (uid !== 0 && uid !== process.geteuid?.() && uid !== statSync(directory).uid)
    throw new DirectoryUnusable('foreign-file', `${path} belongs to another account (uid ${uid})`, null);
  if ((mode & writableByOthers) === 0) return false;
  try {
    chmodSync(path, mode & 0o7777 & ~writableByOthers);
    return true;
  } catch (error) {
    if ((mode & writableByAll) === 0) return false;
    throw new DirectoryUnusable('shared-file', `other accounts may write ${path}`, error);
  }
}

/**
 * What keeps a file from being created in this directory, by the nearest part of its path that exists; else the error
 * itself. Node answers ENOENT for a directory that is missing on a read-only disk, EEXIST for a file in its place, and
 * SQLite `unable to open database file` for everything.
 */
export function explained(error: unknown, directory: string): unknown {
  if (error instanceof DirectoryUnusable) return error;
  for (let path = directory; ; path = dirname(path)) {
    const cause = causeAt(path, directory);
    if (cause) return new DirectoryUnusable(cause.code, cause.message, error);
    if (cause === null || dirname(path) === path) return error;
  }
}

/** What is wrong with this path. Null: nothing. Undefined: there is nothing. */
function causeAt(path: string, directory: string): Pick<DirectoryUnusable, 'code' | 'message'> | null | undefined {
  let found: Stats | undefined;
  try {
    // A path that leads through a file is not found: the file is what is found next.
    found = statSync(path, ifFound) ?? attempt(() => lstatSync(path, ifFound));
  } catch (error) {
    return { code: codeOf(error), message: `${path} cannot be read (${codeOf(error)})` };
  }
  if (!found) return undefined;
  if (found.isSymbolicLink()) return { code: 'ENOENT', message: `${path} is a symbolic link that leads nowhere` };
  // The host folder of a bind mount can be removed: what is left of it takes no new files.
  if (found.nlink === 0) return { code: 'ENOENT', message: `${path} was removed elsewhere while it is mounted here` };
  if (!found.isDirectory()) {
    const role = path === directory ? 'the state directory' : 'a directory on its path';
    return { code: 'ENOTDIR', message: `${path} is a file, where ${role} should be` };
  }
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    // SQLite reports only that it cannot open a file.
    const { files, ffree } = statfsSync(path);
    const why = 'has no inodes left: remove files there, space alone does not help';
    return files > 0 && ffree === 0 ? { code: 'ENOSPC', message: `the disk of ${path} ${why} (ENOSPC)` } : null;
  } catch (error) {
    const code = codeOf(error);
    const why = code === 'EROFS' ? 'is on a disk that is mounted read-only' : `may not be written by this account`;
    return { code, message: `${path} ${why} (${code})` };
  }
}

const ifFound = { throwIfNoEntry: false } as const;
