import { constants, existsSync, ftruncateSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { faultOf, OutboxInUse } from './errors.ts';
import { displacementOf, withFile } from './files.ts';
import { type Layout, layoutOf } from './layout.ts';
import { closedOnError } from './sql.ts';

/** Held for the life of the service. */
export type Lock = ReturnType<typeof begin>;

/**
 * Takes the state directory for this process: an exclusive transaction, never finished, on an empty database beside the
 * outbox. The kernel frees it however the process dies, on Windows too; a pid file would outlive a kill -9 and
 * `locking_mode=EXCLUSIVE` on the outbox itself would lock its readers out.
 * @throws OutboxInUse at once when another process holds it; SQLite's own error where nothing can be written.
 */
export function takeLock(layout: Layout): Lock {
  try {
    return begin(layout.lock);
  } catch (error) {
    const { kind } = faultOf(error);
    if (kind === 'busy') throw new OutboxInUse(layout.directory);
    if (kind !== 'damaged') throw error;
    // What cannot be read is held by no process: SQLite would have answered `busy` first.
    withFile(layout.lock, constants.O_WRONLY, (fd) => ftruncateSync(fd));
    return begin(layout.lock);
  }
}

/**
 * Whether a service holds the state directory: reads its lock without taking it. Null where the lock may not be read,
 * or is no longer a database.
 */
export function isServiceRunning(directory: string): boolean | null {
  const { lock } = layoutOf(directory);
  // Opening it would create it, owned by this user.
  if (!existsSync(lock)) return false;
  try {
    using db = new DatabaseSync(lock, { readOnly: true, timeout: 0 });
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return faultOf(error).kind === 'busy' ? true : null;
  }
}

/** To read the lock holds it for microseconds. A second instance still seems to end at once. */
const busyMs = 100;

function begin(path: string) {
  const db = new DatabaseSync(path, { timeout: busyMs });
  closedOnError(db, () => db.exec('BEGIN EXCLUSIVE'));
  return { displacement: displacementOf(path), release: () => db.close() };
}
