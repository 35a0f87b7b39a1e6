import { renameSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { OutboxTooNew } from './errors.ts';
import { type Migration, majorOf } from './schema/migrations.ts';
import { one, transaction } from './sql.ts';

/**
 * Brings an outbox up to the format of this build. A higher minor of the same major is taken as it is: this build ignores
 * its additions. Before a new major a copy is written beside it.
 * @throws OutboxTooNew for a higher major, before anything is changed.
 */
export function migrate(db: DatabaseSync, path: string, version: string, migrations: readonly Migration[]): void {
  const from = userVersion(db);
  refuseNewer(db, path, migrations);
  const steps = migrations.filter((step) => step.userVersion > from);
  const last = steps.at(-1);
  if (!last) return;
  if (from > 0 && majorOf(last.userVersion) > majorOf(from))
    copy(db, `${path}.before-format-${majorOf(last.userVersion)}`);
  transaction(db, () => {
    for (const step of steps) db.exec(step.sql);
    // The build that made a format is the least that reads it: an older one names it as the one to install.
    db.prepare(`INSERT INTO meta (key, value) VALUES ('bridgeVersion', ?)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`).run(version);
    db.exec(`PRAGMA user_version = ${last.userVersion}`);
  });
}

/** @throws OutboxTooNew. Reads only. */
export function refuseNewer(db: DatabaseSync, path: string, migrations: readonly Migration[]): void {
  const theirs = majorOf(userVersion(db));
  const ours = majorOf(migrations.at(-1)?.userVersion ?? 0);
  if (theirs > ours) throw new OutboxTooNew(path, theirs, ours, writtenBy(db));
}

const userVersion = (db: DatabaseSync): number =>
  one<{ user_version: number }>(db, 'PRAGMA user_version')?.user_version ?? 0;

function writtenBy(db: DatabaseSync): string | null {
  try {
    return one<{ value: string }>(db, `SELECT value FROM meta WHERE key = 'bridgeVersion'`)?.value ?? null;
  } catch {
    return null;
  }
}

/** Under its own name only when it is complete; it replaces that of an attempt that did not get further. */
function copy(db: DatabaseSync, path: string): void {
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  db.prepare('VACUUM INTO ?').run(unfinished);
  rmSync(path, { force: true });
  renameSync(unfinished, path);
}
