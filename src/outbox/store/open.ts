import { copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { LifecycleState } from '../../lifecycle/state.ts';
import { connect, connectReadOnly } from './connection.ts';
import { type CreateOptions, createReplacement, installReplacement, newState } from './create.ts';
import { LogDamaged, OutboxTooNew, troubleOf } from './errors.ts';
import { type Layout, withCompanions } from './layout.ts';
import { copySoundFrames, hasLostCommits } from './log-check.ts';
import { dropBehind } from './outbox-file.ts';
import { readPositionMark } from './position-mark.ts';
import { quarantine, quarantineFolder } from './quarantine.ts';
import { nothingSalvaged, type Salvaged, salvage } from './salvage.ts';
import { transaction } from './sql.ts';
import { loadObserver, loadState, readMeta, type StoredObserver, writeMeta } from './state-store.ts';

/** What was done about a file that could not be used. Kept in the new one, for whoever looks later. */
export interface Recovery {
  readonly at: string;
  /** What was wrong with it, in words. */
  readonly reason: string;
  /** The folder that holds it now. */
  readonly movedTo: string;
  readonly salvaged: Salvaged;
}

export interface Opened {
  readonly db: DatabaseSync;
  readonly state: LifecycleState;
  readonly observer: StoredObserver;
  /** The last one of this file; null where it was never needed. */
  readonly recovery: Recovery | null;
  /** It happened now. */
  readonly isRecovered: boolean;
  /** The folder of the outbox of another VM, when one was moved away. */
  readonly archivedTo?: string;
}

/**
 * Opens the outbox of this directory, whatever is found there: what is damaged is moved away, its sound rows are copied, and
 * an empty or foreign file is replaced. Only who holds the lock may call this.
 * @throws OutboxTooNew; the error of the disk where it takes no writes.
 */
export function openSound(layout: Layout, options: CreateOptions): Opened {
  const isRecovered = makePresent(layout, options);
  try {
    // Before SQLite opens it for writing: it would drop what is behind a bad frame.
    if (hasLostCommits(logOf(layout)))
      throw new LogDamaged('its log is damaged, so that commits behind the damage are lost');
    if (existsSync(logOf(layout))) refuseShort(layout, peek(layout, options));
    return { ...open(layout, options), isRecovered };
  } catch (error) {
    if (error instanceof OutboxTooNew) throw error;
    const { kind, reason } = troubleOf(error);
    if (kind !== 'damaged') throw error;
    return openReplaced(layout, options, reason, error instanceof LogDamaged);
  }
}

/**
 * Opens a new outbox with what can be saved of the present one, which is damaged for this reason. Where its log is damaged
 * too, a new stream begins: the highest position that was handed out is not certain, and none is given twice.
 */
export function openReplaced(layout: Layout, options: CreateOptions, reason: string, isLogDamaged = false): Opened {
  replace(layout, options, reason, isLogDamaged);
  return { ...open(layout, options), isRecovered: true };
}

/** @throws LogDamaged where records that were handed out are missing. */
function refuseShort(layout: Layout, found: Pick<LifecycleState, 'streamId' | 'position'> | null): void {
  const position = found ? readPositionMark(layout.mark, found.streamId).committed : 0;
  if (!found || position <= found.position) return;
  throw new LogDamaged(
    `its newest record has position ${found.position}, but ${position} was committed: its log is damaged or was removed`,
  );
}

/** What the file and its log say, without anything being played back. Null where that cannot be read. */
function peek({ outbox }: Layout, { migrations }: CreateOptions): LifecycleState | null {
  try {
    const db = connectReadOnly(outbox, migrations);
    try {
      return loadState(db);
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}

const logOf = ({ outbox }: Layout): string => `${outbox}-wal`;

/** Moves the outbox of another VM away and begins a new one. */
export function openArchived(layout: Layout, options: CreateOptions): Opened {
  if (!existsSync(layout.outbox)) return openSound(layout, options);
  const archivedTo = quarantineFolder(layout, 'archived', options.at);
  quarantine(layout, 'archived', archivedTo);
  return { ...openSound(layout, options), archivedTo };
}

/** Afterwards there is a file of some size under the name of the outbox, and no log of another. Says whether it is a new one. */
function makePresent(layout: Layout, options: CreateOptions): boolean {
  const size = statSync(layout.outbox, { throwIfNoEntry: false })?.size;
  if (size !== undefined) {
    rmSync(layout.replacement, { force: true });
    if (size === 0) replace(layout, options, 'it has a length of zero');
    return size === 0;
  }
  const isReplaced = existsSync(layout.replacement);
  const orphans = withCompanions(layout.outbox).some((path) => existsSync(path));
  if (isReplaced) {
    if (orphans) quarantine(layout, 'corrupt', quarantineFolder(layout, 'corrupt', options.at));
    installReplacement(layout);
    return true;
  }
  if (orphans) {
    replace(layout, options, 'only its log is left');
    return true;
  }
  createReplacement(layout, options);
  installReplacement(layout);
  return false;
}

/** A new outbox with what can be saved of the present one, complete before that one is moved away. */
function replace(layout: Layout, options: CreateOptions, reason: string, isLogDamaged = false): void {
  const movedTo = quarantineFolder(layout, 'corrupt', options.at);
  createReplacement(layout, options, (into) => {
    const { state, salvaged } = isLogDamaged
      ? savedFromSoundLog(layout, into)
      : saved(layout.outbox, into, 'as-written');
    const recovery: Recovery = { at: options.at.toISOString(), reason, movedTo, salvaged };
    writeMeta(into, 'recovery', JSON.stringify(recovery));
    const isCertain = !isLogDamaged && readPositionMark(layout.mark, state.streamId).committed <= state.position;
    return isCertain ? state : { ...state, streamId: newState().streamId };
  });
  quarantine(layout, 'corrupt', movedTo);
  installReplacement(layout);
}

/** Under another name, so that the file and its log are moved away as they were found. */
function savedFromSoundLog(layout: Layout, into: DatabaseSync): ReturnType<typeof salvage> {
  const remove = (): void => {
    for (const path of withCompanions(layout.sound)) rmSync(path, { force: true });
  };
  remove();
  try {
    link(layout.outbox, layout.sound);
    copySoundFrames(logOf(layout), `${layout.sound}-wal`);
    return saved(layout.sound, into, 'in-part');
  } finally {
    remove();
  }
}

function link(path: string, to: string): void {
  try {
    linkSync(path, to);
  } catch {
    copyFileSync(path, to);
  }
}

function saved(path: string, into: DatabaseSync, log: 'as-written' | 'in-part'): ReturnType<typeof salvage> {
  const nothing = { state: newState(), salvaged: nothingSalvaged };
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return nothing;
  into.exec('SAVEPOINT salvage');
  try {
    return salvage(path, into, log);
  } catch (error) {
    // Not even its first page is to be read. A full disk is another matter: nothing may be given up for it.
    if (troubleOf(error).kind === 'full') throw error;
    into.exec('ROLLBACK TO salvage');
    return nothing;
  }
}

function open(layout: Layout, options: CreateOptions): Omit<Opened, 'isRecovered'> {
  const db = connect(layout.outbox, options);
  try {
    const state = loadState(db);
    refuseShort(layout, state);
    transaction(db, () => dropBehind(db, state.position));
    return { db, state, observer: loadObserver(db), recovery: loadRecovery(db) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** What a file tells about the one that it replaced. */
export function loadRecovery(db: DatabaseSync): Recovery | null {
  const text = readMeta(db, 'recovery');
  return text === null ? null : (JSON.parse(text) as Recovery);
}
