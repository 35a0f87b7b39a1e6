import { join } from 'node:path';

/** Where everything of one outbox lies. */
export type Layout = Readonly<ReturnType<typeof layoutOf>>;

export const layoutOf = (directory: string) => ({
  directory,
  outbox: join(directory, 'outbox.sqlite'),
  /** A finished replacement that was not yet moved to its place. */
  replacement: join(directory, 'outbox.sqlite.replacement'),
  lock: join(directory, 'lock.sqlite'),
  reserve: join(directory, 'reserve.bin'),
  /** The highest positions that were committed and sent from memory. */
  mark: join(directory, 'outbox.position'),
  /** The outbox under another name, with the sound part of its log. */
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
