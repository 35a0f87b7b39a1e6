import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface Rights {
  readonly mode: number;
  /** Default: the user of this process. */
  readonly uid?: number;
  readonly gid?: number;
}

/** The one name of what is not finished, so that a second try meets the leftover of the first. */
const unfinished = (path: string): string => join(dirname(path), `.${basename(path)}.new`);

/** The file always has either the old or the new content, also after a crash: written beside it, synced, renamed over it. */
export function replaceFile(path: string, content: string | Buffer, { mode, uid, gid }: Rights): void {
  const beside = unfinished(path);
  rmSync(beside, { force: true, recursive: true });
  // `wx` does not follow a link that another process may have created meanwhile.
  const fd = openSync(beside, 'wx', 0o600);
  try {
    writeFileSync(fd, content);
    if (uid !== undefined && gid !== undefined) fchownSync(fd, uid, gid);
    fchmodSync(fd, mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, path);
  sync(dirname(path));
}

/** The file goes, and with it what a replacement of it that was cut off has left. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
  removeUnfinished(path);
}

/** What a replacement of the file that was cut off has left. */
export const removeUnfinished = (path: string): void => rmSync(unfinished(path), { force: true });

/** With its parent folders; those created may be entered by all users, regardless of the umask. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
  chmodSync(path, 0o755);
}

/** The link names the old target or the new one, never none. */
export function replaceLink(path: string, target: string): void {
  const beside = unfinished(path);
  rmSync(beside, { force: true, recursive: true });
  symlinkSync(target, beside);
  renameSync(beside, path);
  sync(dirname(path));
}

/** What was written to a file, or the names in a folder, is on disk only after this: a power cut must not bring the old back. */
export function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
