import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type OutboxReport, readOutbox } from '../../outbox/reader.ts';
import { layoutOf } from '../../outbox/store/layout.ts';
import { isServiceRunning } from '../../outbox/store/lock.ts';

/** What is in the state directory. Nothing in it is changed by looking. */
export interface StateSeen {
  readonly running: boolean | null;
  /** Null where there is no outbox, or none that can be read. */
  readonly report: OutboxReport | null;
  /** Why it cannot be read. */
  readonly error: unknown;
}

/** A larger file is not read page by page: 64 MB take half a second from a disk. */
const checkedBytes = 64 * 2 ** 20;

export function seeState(directory: string): StateSeen {
  const running = isServiceRunning(directory);
  try {
    const report = readOutbox(directory);
    if (report !== null) proveSound(layoutOf(directory).outbox);
    return { running, report, error: null };
  } catch (error) {
    return { running, report: null, error };
  }
}

/** @throws SQLite's own error, or one with its findings. */
function proveSound(path: string): void {
  if (!existsSync(path) || statSync(path).size > checkedBytes) return;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 500 });
  try {
    const found = db.prepare('PRAGMA integrity_check(1)').get()?.integrity_check;
    if (found !== 'ok') throw new Error(`SQLite found it damaged: ${String(found)}`);
  } finally {
    db.close();
  }
}
