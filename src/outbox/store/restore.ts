import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { installReplacement } from './create.ts';
import { type Layout, withCompanions } from './layout.ts';
import { quarantine, quarantineFolder, syncDirectory } from './quarantine.ts';

/**
 * Copies an open outbox, whose file was removed, to where it belongs: all of it can still be read through the connection.
 * Another outbox that stands there by now is moved aside. Only who holds the lock may call this.
 * @returns the folder of the other one; null where there was none.
 * @throws what the disk says; the open outbox is as good as before then.
 */
export function restore(db: DatabaseSync, layout: Layout, at: Date): string | null {
  const building = `${layout.replacement}.unfinished`;
  for (const path of withCompanions(building)) rmSync(path, { force: true });
  db.prepare('VACUUM INTO ?').run(building);
  syncFile(building);
  renameSync(building, layout.replacement);
  syncDirectory(layout.directory);
  const movedTo = existsSync(layout.outbox) ? quarantineFolder(layout, 'archived', at) : null;
  if (movedTo !== null) quarantine(layout, 'archived', movedTo);
  // Without an outbox they are what is left of the one just copied; a log beside another file would be played into it.
  else for (const path of withCompanions(layout.outbox)) rmSync(path, { force: true });
  installReplacement(layout);
  return movedTo;
}

/** Windows flushes only what is open for writing. */
function syncFile(path: string): void {
  const fd = openSync(path, 'r+');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
