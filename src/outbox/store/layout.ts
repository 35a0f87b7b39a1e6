import { join } from 'node:path';

/** Where everything of one outbox lies. */
export interface Layout {
  readonly directory: string;
  readonly outbox: string;
  /** A finished replacement that was not yet moved to its place. */
  readonly replacement: string;
  readonly lock: string;
  readonly reserve: string;
  /** The highest positions that were committed and sent from memory. */
  readonly mark: string;
  /** The outbox under another name, with the sound part of its log. */
  readonly sound: string;
}

export const layoutOf = (directory: string): Layout => ({
  directory,
  outbox: join(directory, 'outbox.sqlite'),
  replacement: join(directory, 'outbox.sqlite.replacement'),
  lock: join(directory, 'lock.sqlite'),
  reserve: join(directory, 'reserve.bin'),
  mark: join(directory, 'outbox.position'),
  sound: join(directory, 'outbox.sqlite.sound'),
});

/** SQLite keeps these beside a database; what is moved or removed is moved or removed with them. */
export const withCompanions = (path: string): readonly string[] => [
  path,
  `${path}-wal`,
  `${path}-shm`,
  `${path}-journal`,
];

/** `SEBo`, in the header of every outbox: distinguishes it from databases of other programs. */
export const applicationId = 0x5345426f;

/** A row of every outbox: a file that lost it was truncated, or made by another hand. */
export const sentinel = 'scheduled-events-bridge outbox';

/** Every file that is opened by its name. */
export const filesOf = ({ directory: _directory, ...files }: Layout): readonly string[] =>
  Object.values(files).flatMap(withCompanions);
