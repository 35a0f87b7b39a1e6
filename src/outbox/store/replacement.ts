import { constants, existsSync, fsyncSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { faultPoint } from '../../fault-point.ts';
import { emptyState, type LifecycleState } from '../../lifecycle/state.ts';
import { removeFiles, withFile } from './files.ts';
import { applicationId, type Layout, sentinel, withCompanions } from './layout.ts';
import { migrate, migrations } from './migrate.ts';
import { transaction } from './sql.ts';
import { newState, prepareStateWriter, writeMeta } from './state-store.ts';

/** When, and by which build, a new outbox is created. */
export interface CreateOptions {
  readonly at: Date;
  readonly version: string;
}

/**
 * Creates a complete outbox under another name, and only then gives it the name of a replacement: an outbox that exists is never a
 * beginning of one, so a file of zero length is always the remains of a loss.
 * @param fill copies what was saved of its predecessor into it, and returns its first state.
 */
export function createReplacement(
  layout: Layout,
  { at, version }: CreateOptions,
  fill: (db: DatabaseSync) => LifecycleState = newState,
): void {
  build(layout, (path) => {
    using db = new DatabaseSync(path);
    // Before the first table, and before WAL: later SQLite would ignore it.
    db.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = FULL; PRAGMA application_id = ${applicationId}`);
    migrate(db, path, version, migrations);
    transaction(db, () => {
      writeMeta(db, 'sentinel', sentinel);
      writeMeta(db, 'createdAt', at.toISOString());
      prepareStateWriter(db)(emptyState(''), fill(db));
    });
  });
}

/** The one step that makes a replacement the outbox. */
export function installReplacement(layout: Layout): void {
  faultPoint('before-install');
  renameSync(layout.replacement, layout.outbox);
  syncDirectory(layout.directory);
}

/**
 * Copies an open outbox, whose file was removed, to where it belongs: all of it can still be read through the connection.
 * Another outbox that exists by now is moved aside. Only the holder of the lock may call this.
 * @returns the folder of the other one; null where there was none.
 * @throws the error of the disk; the open outbox is as good as before then.
 */
export function restore(db: DatabaseSync, layout: Layout, at: Date): string | null {
  build(layout, (path) => db.prepare('VACUUM INTO ?').run(path));
  const movedTo = existsSync(layout.outbox) ? quarantine(layout, 'archived', at) : null;
  // Without an outbox they are what is left of the one just copied; a log beside another file would be played into it.
  if (movedTo === null) removeFiles(withCompanions(layout.outbox));
  installReplacement(layout);
  return movedTo;
}

/** Has a replacement written under another name, since only a complete one may have that name. */
function build(layout: Layout, write: (path: string) => void): void {
  const building = `${layout.replacement}.unfinished`;
  removeFiles(withCompanions(building));
  try {
    write(building);
  } catch (error) {
    removeFiles(withCompanions(building));
    throw error;
  }
  faultPoint('replacement-written');
  withFile(building, constants.O_RDWR, fsyncSync); // Windows flushes only what is open for writing.
  renameSync(building, layout.replacement);
  syncDirectory(layout.directory);
}

/** `corrupt`: it could not be read. `archived`: it belongs to another VM. */
type QuarantineKind = 'corrupt' | 'archived';

/** The newest of each kind. */
const keptFolders = 3;

/** A folder that does not exist yet: `<kind>-<time>`. */
export function quarantineFolder(layout: Layout, kind: QuarantineKind, at: Date): string {
  const wanted = join(layout.directory, `${kind}-${at.toISOString().replaceAll(':', '-')}`);
  for (let n = 1; ; n += 1) {
    const folder = n === 1 ? wanted : `${wanted}-${n}`;
    if (!existsSync(folder)) return folder;
  }
}

/**
 * Moves the outbox with all that SQLite keeps beside it to {@link quarantineFolder}. The outbox goes first: after a crash in
 * between, the next start finds a log without its outbox and moves it too. The other way round it would find an outbox
 * without the commits in its log, and take it for whole.
 * @returns the folder.
 */
export function quarantine(layout: Layout, kind: QuarantineKind, at: Date): string {
  const folder = quarantineFolder(layout, kind, at);
  mkdirSync(folder, { mode: 0o700 });
  for (const path of withCompanions(layout.outbox)) {
    if (existsSync(path)) renameSync(path, join(folder, basename(path)));
    faultPoint('in-quarantine');
  }
  syncDirectory(layout.directory);
  const folders = readdirSync(layout.directory).filter((name) => name.startsWith(`${kind}-`));
  for (const name of folders.sort().slice(0, -keptFolders)) {
    rmSync(join(layout.directory, name), { recursive: true, force: true });
  }
  return folder;
}

/**
 * Makes renames in a directory survive a power cut. Its own name may be a symbolic link, hence the dot. Windows cannot do that, and
 * journals them by itself.
 */
function syncDirectory(directory: string): void {
  if (process.platform !== 'win32') withFile(`${directory}/.`, constants.O_RDONLY, fsyncSync);
}
