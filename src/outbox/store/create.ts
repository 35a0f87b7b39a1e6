import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { emptyState, type LifecycleState } from '../../lifecycle/state.ts';
import { applicationId, type Layout, sentinel, withCompanions } from './layout.ts';
import { migrate } from './migrate.ts';
import { syncDirectory } from './quarantine.ts';
import type { Migration } from './schema/migrations.ts';
import { transaction } from './sql.ts';
import { prepareStateWriter, writeMeta } from './state-store.ts';

/** What a new outbox is made with. */
export interface CreateOptions {
  readonly at: Date;
  readonly version: string;
  readonly migrations: readonly Migration[];
}

/**
 * Makes a complete outbox under another name and only then gives it its name to come by: an outbox that exists is never a
 * beginning of one, so a file of zero length is always the remains of a loss.
 * @param fill puts into it what was saved of its predecessor, and answers what the first state is.
 */
export function createReplacement(
  layout: Layout,
  { at, version, migrations }: CreateOptions,
  fill: (db: DatabaseSync) => LifecycleState = () => newState(),
): void {
  const building = `${layout.replacement}.unfinished`;
  for (const path of withCompanions(building)) rmSync(path, { force: true });
  const db = new DatabaseSync(building);
  try {
    // Before the first table, and before WAL: later SQLite would take no notice of it.
    db.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = FULL; PRAGMA application_id = ${applicationId}`);
    migrate(db, { path: building, version, migrations });
    transaction(db, () => {
      writeMeta(db, 'sentinel', sentinel);
      writeMeta(db, 'createdAt', at.toISOString());
      prepareStateWriter(db)(nothing, fill(db));
    });
  } finally {
    db.close();
  }
  renameSync(building, layout.replacement);
  syncDirectory(layout.directory);
}

/** The one step that makes a replacement the outbox. */
export function installReplacement(layout: Layout): void {
  renameSync(layout.replacement, layout.outbox);
  syncDirectory(layout.directory);
}

/** A new stream: whoever reads it sees that what was known before is lost. */
export const newState = (): LifecycleState => emptyState(randomUUID());

const nothing = emptyState('');
