import { DatabaseSync } from 'node:sqlite';
import { all } from '../sql.ts';
import type { Migration } from './migrations.ts';

/** Every column, index and trigger, each in one line. The text of tables is left out: a newer build may have added columns. */
const parts = `
  SELECT format('column %s.%s %s %d %d', t.name, c.name, c.type, c."notnull", c.pk) AS part
    FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'
  UNION ALL SELECT format('%s %s: %s', type, name, sql) FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`;

/**
 * What an outbox of this build's format has and this file has not. The schema is text on the first page: a flipped bit in
 * it makes another column or another condition, which to SQLite is as good as any.
 */
export function missingParts(db: DatabaseSync, migrations: readonly Migration[]): readonly string[] {
  const found = new Set(partsOf(db));
  return expectedParts(migrations).filter((part) => !found.has(part));
}

function expectedParts(migrations: readonly Migration[]): readonly string[] {
  const db = new DatabaseSync(':memory:');
  for (const { sql } of migrations) db.exec(sql);
  const expected = partsOf(db);
  db.close();
  return expected;
}

const partsOf = (db: DatabaseSync): readonly string[] => all<{ part: string }>(db, parts).map(({ part }) => part);
