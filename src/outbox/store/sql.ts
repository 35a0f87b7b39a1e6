import type { DatabaseSync } from 'node:sqlite';

/** Runs `work` as one transaction: all of it is on disk when this returns, or nothing when it throws. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

/** After some errors SQLite has rolled back by itself; on a sick disk the roll-back may fail too, which changes nothing on disk. */
function rollBack(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
  } catch {
    // What made the transaction fail is what gets reported.
  }
}

/** The first row of a query that is asked rarely. */
export const one = <Row>(db: DatabaseSync, sql: string): Row | undefined => db.prepare(sql).get() as Row | undefined;

/** All rows of a query that is asked rarely. */
export const all = <Row>(db: DatabaseSync, sql: string): Row[] => db.prepare(sql).all() as Row[];
