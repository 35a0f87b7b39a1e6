import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** Runs `work` as one transaction: all of it is on disk when this returns, or nothing when it throws. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      // After some errors SQLite has rolled back by itself.
      if (db.isTransaction) db.exec('ROLLBACK');
    } catch {} // On a failing disk this may fail too, which changes nothing there; the first error is the one to report.
    throw error;
  }
}

/** The first row of a query that is rarely run. */
export const one = <Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row | undefined =>
  db.prepare(sql).get(...values) as Row | undefined;

/** All rows of a query that is rarely run. */
export const all = <Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row[] =>
  db.prepare(sql).all(...values) as Row[];
