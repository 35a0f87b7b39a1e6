import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../clock.ts';

/** What a virus scanner, an indexer or a program that runs the file causes: the sharing violation has several names. */
const inUse = ['EPERM', 'EBUSY', 'EACCES', 'ENOTEMPTY'];

export const isInUse = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && inUse.includes(String(error.code));

/** Pauses in ms: a scanner holds a file that is new for some seconds. */
const pauses = [50, 100, 200, 400, 800, 1_500, 3_000, 3_000];

/** Repeats `work` while the file is in use. @throws its last error. */
export async function patiently<T>(clock: Pick<Clock, 'sleep'>, work: () => T): Promise<T> {
  for (const pause of pauses) {
    try {
      return work();
    } catch (error) {
      if (!isInUse(error)) throw error;
      await clock.sleep(pause);
    }
  }
  return work();
}

/** The one name of what is not finished, so that a second try meets the leftover of the first. */
export const unfinished = (path: string): string => join(dirname(path), `.${basename(path)}.new`);

/**
 * The file always has either the old or the new content: written beside it, flushed, renamed over it. `protect`: gives the new file
 * its permissions before it has any content. A folder cannot be flushed here: the journal of NTFS keeps the order of its names.
 */
export async function replaceFile(
  clock: Pick<Clock, 'sleep'>,
  path: string,
  content: string | Buffer,
  protect: (beside: string) => Promise<void> = async () => {},
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const beside = unfinished(path);
  await patiently(clock, () => rmSync(beside, { force: true, recursive: true }));
  closeSync(openSync(beside, 'wx'));
  await protect(beside);
  writeFileSync(beside, content);
  flush(beside);
  await patiently(clock, () => renameSync(beside, path));
}

/** Flushing needs the right to write. https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-flushfilebuffers */
export function flush(path: string): void {
  const fd = openSync(path, 'r+');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

// assumption: windows-installer-in-use
/**
 * Removes a file or a folder with all that is in it; links in it are removed, not followed. A file that is in use is renamed into
 * `removed` instead, which a running program allows. @returns the paths that are still there, because not even that was possible.
 */
export async function removeTree(clock: Pick<Clock, 'sleep'>, path: string, removed: string): Promise<string[]> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) return [];
  if (there.isDirectory()) {
    const left: string[] = [];
    for (const name of readdirSync(path)) left.push(...(await removeTree(clock, join(path, name), removed)));
    if (left.length > 0) return left;
    return (await tried(clock, () => rmdirSync(path))) ? [] : [path];
  }
  try {
    unlinkSync(path);
    return [];
  } catch (error) {
    if (!isInUse(error)) throw error;
  }
  mkdirSync(removed, { recursive: true });
  const target = freeName(removed, basename(path));
  try {
    renameSync(path, target);
    return [];
  } catch (error) {
    if (!isInUse(error)) throw error;
  }
  return (await tried(clock, () => unlinkSync(path))) ? [] : [path];
}

async function tried(clock: Pick<Clock, 'sleep'>, work: () => void): Promise<boolean> {
  try {
    await patiently(clock, work);
    return true;
  } catch (error) {
    if (isInUse(error)) return false;
    throw error;
  }
}

function freeName(folder: string, name: string): string {
  for (let n = 1; ; n += 1) {
    const path = join(folder, `${process.pid}-${n}-${name}`);
    if (!existsSync(path)) return path;
  }
}

/** Removes what was renamed away and is no longer in use. @returns whether something is left. */
export function removeRenamed(removed: string): boolean {
  if (!existsSync(removed)) return false;
  try {
    rmSync(removed, { recursive: true, force: true });
  } catch {}
  return existsSync(removed);
}
