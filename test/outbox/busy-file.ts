import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process that holds the outbox of this directory: no commit of ours goes through until it lets go. */
export function keepFileBusy(directory: string): { letGo(): void } {
  const db = new DatabaseSync(join(directory, 'outbox.sqlite'));
  db.exec('BEGIN IMMEDIATE');
  return { letGo: () => db.close() };
}
