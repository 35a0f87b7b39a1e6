import { copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { LifecycleState } from '../../lifecycle/state.ts';
import type { Recovery } from '../outbox.ts';
import { connect, connectReadOnly } from './connection.ts';
import { LogDamaged, OutboxTooNew, troubleOf } from './errors.ts';
import { type Layout, withCompanions } from './layout.ts';
import { copySoundFrames, hasLostCommits } from './log-check.ts';
import { dropBehind, type OpenedFile } from './outbox-file.ts';
import { readPositionMark } from './position-mark.ts';
import {
  type CreateOptions,
  createReplacement,
  installReplacement,
  quarantine,
  quarantineFolder,
} from './replacement.ts';
import { nothingSalvaged, salvage } from './salvage.ts';
import { transaction } from './sql.ts';
import { loadObserver, loadState, newState, readMeta, writeMeta } from './state-store.ts';

export interface Opened extends OpenedFile {
  /** The last one of this file; null where it was never needed. */
  readonly recovery: Recovery | null;
  /** It happened now. */
  readonly isRecovered: boolean;
  /** The folder of the outbox of another VM, when one was moved away. */
  readonly archivedTo?: string;
}

/**
 * Opens the outbox of this directory, whatever is found there: what is damaged is moved away, its sound rows are copied, and
 * an empty or foreign file is replaced. Only the holder of the lock may call this.
 * @throws OutboxTooNew; the error of the disk where it takes no writes.
 */
export function openSound(layout: Layout, options: CreateOptions): Opened {
  const isRecovered = makePresent(layout, options);
  const log = logOf(layout);
  try {
    // Before SQLite opens it for writing: it would drop what is behind a bad frame.
    if (hasLostCommits(log)) throw new LogDamaged('its log is damaged, so that commits behind the damage are lost');
    if (existsSync(log)) refuseShort(layout, peek(layout));
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

/** Moves the outbox of another VM away and begins a new one. */
export function openArchived(layout: Layout, options: CreateOptions): Opened {
  if (!existsSync(layout.outbox)) return openSound(layout, options);
  const archivedTo = quarantine(layout, 'archived', options.at);
  return { ...openSound(layout, options), archivedTo };
}

/** Of the file that this one replaced. */
export function loadRecovery(db: DatabaseSync): Recovery | null {
  const text = readMeta(db, 'recovery');
  return text === null ? null : (JSON.parse(text) as Recovery);
}

function open(layout: Layout, { version }: CreateOptions): Omit<Opened, 'isRecovered'> {
  const db = connect(layout.outbox, version);
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

/** @throws LogDamaged where records that were handed out are missing. */
function refuseShort(layout: Layout, found: Pick<LifecycleState, 'streamId' | 'position'> | null): void {
  const position = found ? readPositionMark(layout.mark, found.streamId).committed : 0;
  if (!found || position <= found.position) return;
  throw new LogDamaged(
    `its newest record has position ${found.position}, but ${position} was committed: its log is damaged or was removed`,
  );
}

/** The state in the file and its log, without anything being played back. Null where that cannot be read. */
function peek({ outbox }: Layout): LifecycleState | null {
  try {
    const db = connectReadOnly(outbox);
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

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

/**
 * Afterwards there is a file of some size under the name of the outbox, and no log of another.
 * @returns whether it replaced one that was lost.
 */
function makePresent(layout: Layout, options: CreateOptions): boolean {
  const size = sizeOf(layout.outbox);
  if (size !== undefined) {
    rmSync(layout.replacement, { force: true });
    if (size === 0) replace(layout, options, 'it has a length of zero');
    return size === 0;
  }
  const isReplaced = existsSync(layout.replacement);
  const orphans = withCompanions(layout.outbox).some((path) => existsSync(path));
  if (orphans && !isReplaced) {
    replace(layout, options, 'only its log is left');
    return true;
  }
  if (orphans) quarantine(layout, 'corrupt', options.at);
  if (!isReplaced) createReplacement(layout, options);
  installReplacement(layout);
  return isReplaced;
}

/** A new outbox with what can be saved of the present one, complete before that one is moved away. */
function replace(layout: Layout, options: CreateOptions, reason: string, isLogDamaged = false): void {
  const { at } = options;
  createReplacement(layout, options, (into) => {
    const { state, salvaged } = isLogDamaged
      ? savedFromSoundLog(layout, into)
      : saved(layout.outbox, into, 'as-written');
    const movedTo = quarantineFolder(layout, 'corrupt', at);
    const recovery: Recovery = { at: at.toISOString(), reason, movedTo, salvaged };
    writeMeta(into, 'recovery', JSON.stringify(recovery));
    const isCertain = !isLogDamaged && readPositionMark(layout.mark, state.streamId).committed <= state.position;
    return isCertain ? state : { ...state, streamId: newState().streamId };
  });
  quarantine(layout, 'corrupt', at);
  installReplacement(layout);
}

/** Under another name, so that the file and its log are moved away as they were found. */
function savedFromSoundLog(layout: Layout, into: DatabaseSync): ReturnType<typeof salvage> {
  const remove = (): void => {
    for (const path of withCompanions(layout.sound)) rmSync(path, { force: true });
  };
  remove();
  try {
    try {
      linkSync(layout.outbox, layout.sound);
    } catch {
      copyFileSync(layout.outbox, layout.sound);
    }
    copySoundFrames(logOf(layout), `${layout.sound}-wal`);
    return saved(layout.sound, into, 'in-part');
  } finally {
    remove();
  }
}

function saved(path: string, into: DatabaseSync, log: 'as-written' | 'in-part'): ReturnType<typeof salvage> {
  const nothing = { state: newState(), salvaged: nothingSalvaged };
  if ((sizeOf(path) ?? 0) === 0) return nothing;
  into.exec('SAVEPOINT salvage');
  try {
    return salvage(path, into, log);
  } catch (error) {
    // Not even its first page can be read. A full disk is another matter: nothing may be discarded for it.
    if (troubleOf(error).kind === 'full') throw error;
    into.exec('ROLLBACK TO salvage');
    return nothing;
  }
}
