import { renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { faultPoint } from '../../fault-point.ts';
import { OutboxTooNew } from './errors.ts';
import { attempt } from './files.ts';
import { applicationId } from './layout.ts';
import { sql as sql0001 } from './schema/0001.ts';
import { sql as sql1001 } from './schema/1001.ts';
import { all, one, transaction } from './sql.ts';
import { readMeta, writeMeta } from './state-store.ts';

/** One step of the on-disk format. Forward only; the steps and the new number are one transaction. */
export interface Migration {
  /** `user_version` afterwards: major × 1000 + minor. */
  readonly userVersion: number;
  readonly sql: string;
}

/** In order. A new major is for changes that an older build would not survive; it costs every roll-back its backlog. */
export const migrations: readonly Migration[] = [
  { userVersion: 1000, sql: sql0001 },
  { userVersion: 1001, sql: sql1001 },
];

export const majorOf = (userVersion: number): number => Math.floor(userVersion / 1000);

/**
 * Brings an outbox up to the format of this build. A higher minor of the same major is taken as it is: this build ignores
 * its additions. Before a new major a copy is written beside it.
 * A higher major was refused before: {@link refuseNewer}.
 */
export function migrate(db: DatabaseSync, path: string, version: string, migrations: readonly Migration[]): void {
  const from = userVersion(db);
  const steps = migrations.filter((step) => step.userVersion > from);
  const last = steps.at(-1);
  if (!last) return;
  if (from > 0 && majorOf(last.userVersion) > majorOf(from))
    copy(db, `${path}.before-format-${majorOf(last.userVersion)}`);
  transaction(db, () => {
    for (const step of steps) db.exec(step.sql);
    faultPoint('in-migration');
    // The build that made a format is the least that reads it: an older one names it as the one to install.
    writeMeta(db, 'bridgeVersion', version);
    db.exec(`PRAGMA user_version = ${last.userVersion}`);
  });
}

/** By its header: another program's database has another mark. */
export const isOutbox = (db: DatabaseSync): boolean =>
  one<{ application_id: number }>(db, 'PRAGMA application_id')?.application_id === applicationId;

/** @throws OutboxTooNew. Reads only. */
export function refuseNewer(db: DatabaseSync, path: string, migrations: readonly Migration[]): void {
  const theirs = majorOf(userVersion(db));
  const ours = majorOf(migrations.at(-1)?.userVersion ?? 0);
  if (theirs <= ours) return;
  throw new OutboxTooNew(path, theirs, ours, attempt(() => readMeta(db, 'bridgeVersion')) ?? null);
}

const userVersion = (db: DatabaseSync): number =>
  one<{ user_version: number }>(db, 'PRAGMA user_version')?.user_version ?? 0;

/** Under its own name only when it is complete; it replaces that of an attempt that did not get further. */
function copy(db: DatabaseSync, path: string): void {
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  db.prepare('VACUUM INTO ?').run(unfinished);
  rmSync(path, { force: true });
  renameSync(unfinished, path);
}

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
  using expected = new DatabaseSync(':memory:');
  for (const { sql } of migrations) expected.exec(sql);
  const found = new Set(partsOf(db));
  return partsOf(expected).filter((part) => !found.has(part));
}

const partsOf = (db: DatabaseSync): readonly string[] => all<{ part: string }>(db, parts).map(({ part }) => part);
