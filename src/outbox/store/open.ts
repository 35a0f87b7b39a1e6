import { copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { faultPoint } from '../../fault-point.ts';
import type { OutboxOptions, Recovery } from '../outbox.ts';
import { connect, connectReadOnly, readIn } from './connection.ts';
import { ifSound, isRefusal, OutboxTooNew } from './errors.ts';
import { isDone, removeFiles, sizeOf } from './files.ts';
import { type Layout, withCompanions } from './layout.ts';
import { copySoundFrames, hasLostCommits } from './log-check.ts';
import { OutboxFile } from './outbox-file.ts';
import { readPositionMark } from './position-mark.ts';
import {
  type CreateOptions,
  createReplacement,
  installReplacement,
  quarantine,
  quarantineFolder,
} from './replacement.ts';
import { nothingSalvaged, salvage } from './salvage.ts';
import { closedOnError } from './sql.ts';
import { loadState, newState, writeMeta } from './state-store.ts';

/** `sinks`: those of the configuration. */
type OpenOptions = CreateOptions & Pick<OutboxOptions, 'sinks'>;

/**
 * Opens the outbox of this directory: what is known to be damaged is moved aside, its sound rows are copied, and an empty
 * file is replaced. Only the holder of the lock may call this. Its recovery happened now where `isRecovered`.
 * @param damage what is known to be wrong with the file, in words: the reason of the error with which it was opened before.
 * @throws OutboxTooNew; OutboxDamaged or SQLite's own error where it is damaged; the error of a disk that takes no writes.
 */
export function openSound(layout: Layout, options: OpenOptions, damage: string | null = null) {
  // One that was moved aside already has its replacement: another one would be made of nothing.
  const isThere = damage !== null && sizeOf(layout.outbox) > 0;
  let isRecovered = isThere ? replace(layout, options, damage) : makePresent(layout, options);
  // Before SQLite opens it for writing: it would drop what is behind a bad frame.
  const lost = lostInLog(layout);
  if (lost !== null) isRecovered = replace(layout, options, lost, true);
  const { outbox } = layout;
  const db = connect(outbox, options.version);
  return { file: closedOnError(db, () => new OutboxFile(db, outbox, options.sinks)), isRecovered };
}

/** Opens it for reading only: on a disk that takes no writes what the file holds is known and sent. @throws as {@link connectReadOnly}. */
export const openReadable = ({ outbox }: Layout): OutboxFile =>
  closedOnError(connectReadOnly(outbox), (db) => new OutboxFile(db, outbox, null));

/** In words, what shows that commits are lost with the log; null where nothing does. Reads only: nothing is played back. */
function lostInLog(layout: Layout): string | null {
  if (hasLostCommits(`${layout.outbox}-wal`)) return 'its log is damaged, so that commits behind the damage are lost';
  const found = ifSound(() => readIn(layout.directory, loadState));
  const committed = found ? readPositionMark(layout.mark, found.streamId).committed : 0;
  if (!found || committed <= found.position) return null;
  return `its newest record has position ${found.position}, but ${committed} was committed: its log is damaged or was removed`;
}

/**
 * Afterwards there is a file of some size under the name of the outbox, and no log of another.
 * @returns whether it replaced one that was lost.
 */
function makePresent(layout: Layout, options: CreateOptions): boolean {
  // An error other than its absence is thrown: nothing may replace a file that a disk does not show for a moment.
  const found = statSync(layout.outbox, { throwIfNoEntry: false });
  if (found) {
    rmSync(layout.replacement, { force: true });
    return found.size === 0 && replace(layout, options, 'it has a length of zero');
  }
  const isReplaced = existsSync(layout.replacement);
  const orphans = withCompanions(layout.outbox).some((path) => existsSync(path));
  if (orphans && !isReplaced) return replace(layout, options, 'only its log is left');
  if (orphans) quarantine(layout, 'corrupt', options.at);
  if (!isReplaced) createReplacement(layout, options);
  installReplacement(layout);
  return isReplaced;
}

/**
 * Makes a new outbox with what can be saved of the present one, complete before that one is moved aside. Where its log is damaged a
 * new stream begins: the highest position that was handed out is not certain, and none is given twice.
 */
function replace(layout: Layout, options: CreateOptions, reason: string, isLogDamaged = false): true {
  const { at } = options;
  createReplacement(layout, options, (into) => {
    const { state, salvaged } = saved(layout, into, isLogDamaged);
    const movedTo = quarantineFolder(layout, 'corrupt', at);
    const recovery: Recovery = { at: at.toISOString(), reason, movedTo, salvaged };
    writeMeta(into, 'recovery', JSON.stringify(recovery));
    const { committed } = readPositionMark(layout.mark, state.streamId);
    const isCertain = !isLogDamaged && committed <= state.position;
    return isCertain ? state : { ...state, streamId: newState().streamId };
  });
  faultPoint('before-quarantine');
  quarantine(layout, 'corrupt', at);
  installReplacement(layout);
  return true;
}

/** Read under another name, with the sound part of its log, so that the file and its log are moved aside as they were found. */
function saved(layout: Layout, into: DatabaseSync, isLogDamaged: boolean): ReturnType<typeof salvage> {
  const { outbox, sound } = layout;
  const nothing = { state: newState(), salvaged: nothingSalvaged };
  if (sizeOf(outbox) === 0) return nothing;
  removeFiles(withCompanions(sound));
  try {
    if (!isDone(() => linkSync(outbox, sound))) copyFileSync(outbox, sound);
    copySoundFrames(`${outbox}-wal`, `${sound}-wal`);
    into.exec('SAVEPOINT salvage');
    try {
      return salvage(layout, into, isLogDamaged);
    } catch (error) {
      // Not even its first page can be read. A disk that is full or refuses is another matter: nothing may be discarded for it.
      if (error instanceof OutboxTooNew || isRefusal(error)) throw error;
      into.exec('ROLLBACK TO salvage');
      return nothing;
    }
  } finally {
    removeFiles(withCompanions(sound));
  }
}
