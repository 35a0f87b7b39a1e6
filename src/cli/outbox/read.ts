import { existsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { thisSystem } from '../../operating-system.ts';
import { faultOf, OutboxTooNew } from '../../outbox/store/errors.ts';
import { layoutOf } from '../../outbox/store/layout.ts';
import { Failure } from '../exit-codes.ts';

/**
 * What `read` returns of the outbox of this directory; it returns null without one.
 * @throws Failure, with one sentence, where there is no outbox or none that can be read.
 */
export function foundIn<T>(directory: string, read: (directory: string) => T | null): T {
  let found: T | null;
  try {
    refuseUnreadable(directory);
    found = read(directory);
  } catch (error) {
    throw explainUnread(error, directory);
  }
  if (found !== null) return found;
  throw new Failure('noOutbox', noOutboxIn(directory));
}

/** Why there is no outbox, with the remedy. */
export const noOutboxIn = (directory: string): string =>
  isFile(directory)
    ? noDirectory(directory)
    : existsSync(layoutOf(directory).lock)
      ? `${noOutboxOfService(directory)} Run check to find the cause.`
      : `There is no outbox in ${directory}: the bridge has not run with this state directory yet, or it uses another one (stateDirectory in its configuration).`;

export const noOutboxOfService = (directory: string): string =>
  `A service was started with ${directory}, but there is no outbox in it: it was removed, or could not be created, for instance because the disk is full. Until then the service keeps records in memory and sends them from there; those that it cannot send are lost when it ends.`;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;

const noDirectory = (path: string): string =>
  `There is no outbox in ${path}: it is a file, where the state directory should be. Move it away; a service that runs with it keeps records in memory only until then, so do not restart that one first.`;

/** Most of Node takes a file that may not be read for a missing one. */
function refuseUnreadable(directory: string): void {
  statSync(layoutOf(directory).outbox, { throwIfNoEntry: false });
}

/** The remedy for an outbox that cannot be opened. */
export function explainUnread(error: unknown, directory: string): unknown {
  if (error instanceof Failure) return error;
  if (error instanceof OutboxTooNew) return new Failure('newerOutbox', error.message);
  const { kind, code, reason } = faultOf(error);
  // Tables or columns are missing.
  if (kind === 'damaged' || code === 'sqlite-1') {
    return new Failure(
      'noOutbox',
      `The outbox in ${directory} is damaged (${reason}): start or restart the bridge: it saves every intact row and keeps the damaged file in corrupt-<time>/.`,
    );
  }
  if (kind === 'busy') {
    return new Failure(
      'notDone',
      `The outbox in ${directory} is locked by another program (${reason}): try again; if it lasts, find that program, for example with ${thisSystem.findHolder}.`,
    );
  }
  if (code === 'EACCES' || code === 'EPERM' || refusals.includes(code)) {
    return new Failure(
      'notDone',
      `${nameOfUser()} has no permission to do that in ${directory}: run the command as ${ownerOf(directory)} or as ${thisSystem.administrator}.`,
    );
  }
  return error;
}

/** SQLite's SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN and SQLITE_AUTH. https://www.sqlite.org/rescode.html */
const refusals = ['sqlite-3', 'sqlite-8', 'sqlite-14', 'sqlite-23'];

function nameOfUser(): string {
  try {
    return `The user ${userInfo().username}`;
  } catch {
    return `The user with the id ${process.getuid?.()}`;
  }
}

function ownerOf(directory: string): string {
  const uid = process.getuid && statSync(directory, { throwIfNoEntry: false })?.uid;
  return uid === undefined ? 'its owner' : `the user who owns it (uid ${uid})`;
}
