import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Layout, withCompanions } from './layout.ts';

/** `corrupt`: it could not be read. `archived`: it tells of another VM. */
export type QuarantineKind = 'corrupt' | 'archived';

const kept = 3;

/** A folder that does not exist yet: `<kind>-<time>`. */
export function quarantineFolder(layout: Layout, kind: QuarantineKind, at: Date): string {
  const wanted = join(layout.directory, `${kind}-${at.toISOString().replaceAll(':', '-')}`);
  for (let n = 1; ; n += 1) {
    const folder = n === 1 ? wanted : `${wanted}-${n}`;
    if (!existsSync(folder)) return folder;
  }
}

/**
 * Moves the outbox with all that SQLite keeps beside it to this folder; the newest three of a kind stay. The outbox goes
 * first: after a crash in between, a log without its outbox is what the next start finds and moves too. The other way
 * round it would find an outbox without the commits in its log, and take it for whole.
 */
export function quarantine(layout: Layout, kind: QuarantineKind, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  for (const path of withCompanions(layout.outbox)) {
    if (existsSync(path)) renameSync(path, join(folder, basename(path)));
  }
  syncDirectory(layout.directory);
  prune(layout.directory, kind);
}

function prune(directory: string, kind: QuarantineKind): void {
  const folders = readdirSync(directory)
    .filter((name) => name.startsWith(`${kind}-`))
    .sort();
  for (const name of folders.slice(0, -kept)) rmSync(join(directory, name), { recursive: true, force: true });
}

/** Makes renames survive a power cut. Windows knows no such thing and journals them by itself. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
