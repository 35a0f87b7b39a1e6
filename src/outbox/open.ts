import { existsSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { LifecycleState } from '../lifecycle/state.ts';
import { connect } from './connection.ts';
import { createReplacement, installReplacement, type Making, newState } from './create.ts';
import { OutboxTooNew, troubleOf } from './errors.ts';
import { type Layout, withCompanions } from './layout.ts';
import { dropBehind } from './outbox-file.ts';
import { nothingSalvaged, type Salvaged, salvage } from './salvage.ts';
import { asideFolder, setAside } from './set-aside.ts';
import { transaction } from './sql.ts';
import { loadObserver, loadWholeState, readMeta, type StoredObserver, writeMeta } from './state-store.ts';

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
export function openSound(layout: Layout, making: Making): Opened {
  const isRecovered = makePresent(layout, making);
  try {
    return { ...open(layout, making), isRecovered };
  } catch (error) {
    if (error instanceof OutboxTooNew) throw error;
    const { kind, reason } = troubleOf(error);
    if (kind !== 'damaged') throw error;
    return openReplaced(layout, making, reason);
  }
}

/** Opens a new outbox with what can be saved of the present one, which is damaged for this reason. */
export function openReplaced(layout: Layout, making: Making, reason: string): Opened {
  replace(layout, making, reason);
  return { ...open(layout, making), isRecovered: true };
}

/** Moves the outbox of another VM away and begins a new one. */
export function openArchived(layout: Layout, making: Making): Opened {
  if (!existsSync(layout.outbox)) return openSound(layout, making);
  const archivedTo = asideFolder(layout, 'archived', making.at);
  setAside(layout, 'archived', archivedTo);
  return { ...openSound(layout, making), archivedTo };
}

/** Afterwards there is a file of some size under the name of the outbox, and no log of another. Says whether it is a new one. */
function makePresent(layout: Layout, making: Making): boolean {
  const size = statSync(layout.outbox, { throwIfNoEntry: false })?.size;
  if (size !== undefined) {
    rmSync(layout.replacement, { force: true });
    if (size === 0) replace(layout, making, 'it has a length of zero');
    return size === 0;
  }
  const isReplaced = existsSync(layout.replacement);
  const orphans = withCompanions(layout.outbox).some((path) => existsSync(path));
  if (isReplaced) {
    if (orphans) setAside(layout, 'corrupt', asideFolder(layout, 'corrupt', making.at));
    installReplacement(layout);
    return true;
  }
  if (orphans) {
    replace(layout, making, 'only its log is left');
    return true;
  }
  createReplacement(layout, making);
  installReplacement(layout);
  return false;
}

/** A new outbox with what can be saved of the present one, complete before that one is moved away. */
function replace(layout: Layout, making: Making, reason: string): void {
  const movedTo = asideFolder(layout, 'corrupt', making.at);
  createReplacement(layout, making, (into) => {
    const { state, salvaged } = saved(layout.outbox, into);
    const recovery: Recovery = { at: making.at.toISOString(), reason, movedTo, salvaged };
    writeMeta(into, 'recovery', JSON.stringify(recovery));
    return state;
  });
  setAside(layout, 'corrupt', movedTo);
  installReplacement(layout);
}

function saved(path: string, into: DatabaseSync): ReturnType<typeof salvage> {
  const nothing = { state: newState(), salvaged: nothingSalvaged };
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return nothing;
  into.exec('SAVEPOINT salvage');
  try {
    return salvage(path, into);
  } catch (error) {
    // Not even its first page is to be read. A full disk is another matter: nothing may be given up for it.
    if (troubleOf(error).kind === 'full') throw error;
    into.exec('ROLLBACK TO salvage');
    return nothing;
  }
}

function open(layout: Layout, making: Making): Omit<Opened, 'isRecovered'> {
  const db = connect(layout.outbox, making);
  try {
    const state = loadWholeState(db);
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
