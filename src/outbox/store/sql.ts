import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { attempt } from './files.ts';

/** Runs `work` as one transaction: all of it is on disk when this returns, or nothing when it throws. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // After some errors SQLite has rolled back by itself. On a failing disk this may fail too; the first error is the one to report.
    if (db.isTransaction) attempt(() => db.exec('ROLLBACK'));
    throw error;
  }
}

/** What this work makes of an open database, which is closed where the work fails. */
export function closedOnError<T>(db: DatabaseSync, work: (db: DatabaseSync) => T): T {
  try {
    return work(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The first row of a query that is rarely run. */
export const one = <Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row | undefined =>
  db.prepare(sql).get(...values) as Row | undefined;

/** All rows of a query that is rarely run. */
export const all = <Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row[] =>
  db.prepare(sql).all(...values) as Row[];
