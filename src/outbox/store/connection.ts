import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { faultOf, OutboxDamaged, OutboxTooNew } from './errors.ts';
import { isDone, sizeOf } from './files.ts';
import { layoutOf, sentinel } from './layout.ts';
import { isOutbox, migrate, missingParts, migrations as ours, refuseNewer } from './migrate.ts';
import { closedOnError, one } from './sql.ts';
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

/**
 * Opens an outbox for the service and verifies that it is one. `version`: of this build.
 * @throws OutboxTooNew before anything is changed; OutboxDamaged or SQLite's own error otherwise.
 */
export function connect(path: string, version: string, migrations = ours): DatabaseSync {
  return guarded(new DatabaseSync(path, { timeout: busyMs }), path, migrations, (db) => {
    // A freeze or a redeploy is a power cut: every commit waits for the disk, 0.15 ms at the median.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    migrate(db, path, version, migrations);
    const [missing] = missingParts(db, migrations);
    if (missing) throw new OutboxDamaged(`its schema has no ${missing}`);
    if (sizeOf(path) > checkedBytes) return;
    const found = one<{ integrity_check: string }>(db, 'PRAGMA integrity_check(1)')?.integrity_check;
    if (found !== 'ok') throw new OutboxDamaged(`SQLite found it damaged: ${found}`);
  });
}

/**
 * Opens an outbox for reading only, also while the service writes it and on a disk that takes no writes.
 * @throws as {@link connect}.
 */
export function connectReadOnly(path: string): DatabaseSync {
  try {
    return guarded(new DatabaseSync(path, { readOnly: true, timeout: busyMs }), path);
  } catch (error) {
    if (faultOf(error).kind !== 'unavailable' || error instanceof OutboxTooNew) throw error;
    return connectElsewhere(path);
  }
}

/**
 * Reads the outbox of a state directory, in one transaction, so that all figures are of the same moment; short, since the log
 * cannot shrink meanwhile. Null where there is none.
 * @throws OutboxTooNew; OutboxDamaged or SQLite's own error for a file that the service would replace at its next start.
 */
export function readIn<T>(directory: string, read: (db: DatabaseSync) => T): T | null {
  const { outbox } = layoutOf(directory);
  if (!existsSync(outbox)) return null;
  using db = connectReadOnly(outbox);
  db.exec('BEGIN');
  return read(db);
}

/**
 * Opens an outbox that the service has open, to file a request in it: creates no file, changes no format.
 * @throws as {@link connect}.
 */
export function connectToFile(path: string): DatabaseSync {
  const db = new DatabaseSync(urlOf(path, 'mode=rw'), { timeout: filingMs });
  return guarded(db, path, ours, () => db.exec('PRAGMA synchronous = FULL'));
}

/**
 * A database in WAL mode opens only where its index file can be created. On a read-only disk it needs none as long as its log
 * is empty; one that was left by a crash is played back into a copy.
 */
function connectElsewhere(path: string): DatabaseSync {
  const log = `${path}-wal`;
  if (sizeOf(log) === 0) return guarded(new DatabaseSync(urlOf(path, 'immutable=1'), { readOnly: true }), path);
  const folder = mkdtempSync(join(tmpdir(), 'outbox-'));
  try {
    const copy = join(folder, 'outbox.sqlite');
    copyFileSync(path, copy);
    copyFileSync(log, `${copy}-wal`);
    return guarded(new DatabaseSync(copy), path);
  } finally {
    // Once open it needs no name. Windows cannot remove an open file: the copy stays in the temporary folder of this user.
    isDone(() => rmSync(folder, { recursive: true }));
  }
}

const urlOf = (path: string, query: string): URL => Object.assign(pathToFileURL(path), { search: query });

/** Verifies that it is an outbox that this build reads, and then prepares it. Closes it where that fails. */
const guarded = (db: DatabaseSync, path: string, migrations = ours, prepare: (db: DatabaseSync) => void = () => {}) =>
  closedOnError(db, () => {
    db.exec('PRAGMA trusted_schema = OFF');
    if (!isOutbox(db)) throw new OutboxDamaged('it is another program’s database, or the remains of one');
    refuseNewer(db, path, migrations);
    if (readMeta(db, 'sentinel') !== sentinel) throw new OutboxDamaged('its first rows are missing');
    prepare(db);
    return db;
  });
