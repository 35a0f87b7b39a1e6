import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { OutboxDamaged, OutboxTooNew, troubleOf } from './errors.ts';
import { applicationId, sentinel } from './layout.ts';
import { migrate, refuseNewer } from './migrate.ts';
import type { Migration } from './schema/migrations.ts';
import { missingParts } from './schema/missing.ts';
import { one } from './sql.ts';
import { readMeta } from './state-store.ts';

/** How long a write waits for another process, a command that files a request. It holds the file for milliseconds. */
const busyMs = 500;

/** How long a command waits for the service, which may be writing a large append or making room. */
const filingMs = 5_000;

/**
 * Larger files are not checked page by page at start, while polling waits: 64 MB took 0.1 s from memory and 0.5 s from a
 * disk. Damage in them is found when a query meets it. Not `quick_check`: an index entry without its row passes that.
 */
const checkedBytes = 64 * 2 ** 20;

interface Expectation {
  readonly version: string;
  readonly migrations: readonly Migration[];
}

/**
 * Opens an outbox for the service and proves that it is one.
 * @throws OutboxTooNew before anything is changed; OutboxDamaged or SQLite's own error otherwise.
 */
export function connect(path: string, expected: Expectation): DatabaseSync {
  return guarded(new DatabaseSync(path, { timeout: busyMs }), (db) => {
    proveOurs(db, path, expected.migrations);
    // A freeze or a redeploy is a power cut: every commit waits for the disk, 0.15 ms at the median.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    migrate(db, { path, ...expected });
    const [missing] = missingParts(db, expected.migrations);
    if (missing) throw new OutboxDamaged(`its schema has no ${missing}`);
    if (statSync(path).size <= checkedBytes) check(db);
  });
}

/**
 * Opens an outbox to look at it only, also while the service writes it and on a disk that takes no writes.
 * @throws as {@link connect}.
 */
export function connectReadOnly(path: string, migrations: readonly Migration[]): DatabaseSync {
  const prove = (db: DatabaseSync): void => proveOurs(db, path, migrations);
  try {
    return guarded(new DatabaseSync(path, { readOnly: true, timeout: busyMs }), prove);
  } catch (error) {
    if (troubleOf(error).kind !== 'unavailable' || error instanceof OutboxTooNew) throw error;
    return connectElsewhere(path, prove);
  }
}

/**
 * Opens an outbox that the service has open, to file a request in it: makes no file, changes no format.
 * @throws as {@link connect}.
 */
export function connectToFile(path: string, migrations: readonly Migration[]): DatabaseSync {
  const url = pathToFileURL(path);
  url.search = 'mode=rw';
  return guarded(new DatabaseSync(url, { timeout: filingMs }), (db) => {
    proveOurs(db, path, migrations);
    db.exec('PRAGMA synchronous = FULL');
  });
}

/**
 * A database in WAL mode opens only where its index file can be made. On a read-only disk it needs none as long as its log
 * is empty; one that was left by a crash is played back into a copy.
 */
function connectElsewhere(path: string, prove: (db: DatabaseSync) => void): DatabaseSync {
  const log = `${path}-wal`;
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    const url = pathToFileURL(path);
    url.search = 'immutable=1';
    return guarded(new DatabaseSync(url, { readOnly: true }), prove);
  }
  const folder = mkdtempSync(join(tmpdir(), 'outbox-'));
  try {
    const copy = join(folder, 'outbox.sqlite');
    copyFileSync(path, copy);
    copyFileSync(log, `${copy}-wal`);
    return guarded(new DatabaseSync(copy), prove);
  } finally {
    // Once open it needs no name; where an open file cannot be removed the system's own cleaning does it.
    rmSync(folder, { recursive: true, force: true, maxRetries: 0 });
  }
}

function guarded(db: DatabaseSync, prove: (db: DatabaseSync) => void): DatabaseSync {
  try {
    db.exec('PRAGMA trusted_schema = OFF');
    prove(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function proveOurs(db: DatabaseSync, path: string, migrations: readonly Migration[]): void {
  if (one<{ application_id: number }>(db, 'PRAGMA application_id')?.application_id !== applicationId) {
    throw new OutboxDamaged('it is another program’s database, or the remains of one');
  }
  refuseNewer(db, { path, migrations });
  if (readMeta(db, 'sentinel') !== sentinel) throw new OutboxDamaged('its first rows are missing');
}

function check(db: DatabaseSync): void {
  const found = one<{ integrity_check: string }>(db, 'PRAGMA integrity_check(1)')?.integrity_check;
  if (found !== 'ok') throw new OutboxDamaged(`SQLite found it damaged: ${found}`);
}
