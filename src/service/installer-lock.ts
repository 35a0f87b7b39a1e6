import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import { Refusal } from './refusals.ts';

/** Another installer has this long to end; a fall-back takes longer and is not waited for. */
export const lockTimeoutMs = 120_000;
const pollEveryMs = 200;
/** SQLITE_BUSY */
const busy = 5;

/**
 * Does `work` while no other installer runs on this machine. The lock is a transaction on an empty database: the kernel
 * frees it however this process ends. Its file is removed afterwards.
 * @throws Refusal where another one does not end within `timeoutMs`.
 */
export async function alone<T>(
  path: string,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const deadline = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const lock = tryLock(path);
    if (lock !== null) {
      try {
        return await work();
      } finally {
        const isGone = tryRemove(path);
        lock.close();
        // Windows removes no file that is open; and if another installer has opened it meanwhile, it stays.
        if (!isGone) tryRemove(path);
      }
    }
    if (clock.monotonicMs() >= deadline) {
      throw new Refusal(
        'busy',
        `Another installation of the bridge is running on this machine (it holds ${path}): wait until it ends, then try again.`,
      );
    }
    await clock.sleep(pollEveryMs);
  }
}

function tryRemove(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Null while another holds it. */
function tryLock(path: string): DatabaseSync | null {
  mkdirSync(dirname(path), { recursive: true });
  // Closed before it is locked: closing any descriptor of a file lets go of all locks of the process on it.
  writeFileSync(path, '', { flag: 'a', mode: 0o600 });
  const file = statSync(path, { throwIfNoEntry: false })?.ino;
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return null;
    throw error;
  }
  // The holder has removed the file in between: a third installer would lock another file.
  if (file !== undefined && statSync(path, { throwIfNoEntry: false })?.ino === file) return db;
  db.close();
  return null;
}
