import type { StorageFault } from '../outbox.ts';

/** A second bridge on the same state directory. Two would send everything twice and tear each other's order. */
export class OutboxInUse extends Error {
  override readonly name = 'OutboxInUse';
  constructor(directory: string) {
    super(
      `Another scheduled-events-bridge is running with the state directory ${directory}. Stop that one first, or give this one a stateDirectory of its own.`,
    );
  }
}

/** The outbox was written by a newer major version. It was not changed. */
export class OutboxTooNew extends Error {
  override readonly name = 'OutboxTooNew';
  /** Major formats; `wrote`: the version that wrote the file, null where it does not say. */
  constructor(path: string, theirs: number, ours: number, wrote: string | null) {
    const install = wrote === null ? `a version that reads format ${theirs}` : `version ${wrote} or newer`;
    super(
      `The outbox ${path} has format ${theirs}; this version reads format ${ours} and has not touched it. Install ${install}, or move the file aside to start with an empty outbox.`,
    );
  }
}

/** Damage that SQLite does not see. */
export class OutboxDamaged extends Error {
  override readonly name = 'OutboxDamaged';
}

/** https://www.sqlite.org/rescode.html: the low byte of an extended code is the primary one. */
const kinds: Readonly<Record<number, StorageFault['kind']>> = {
  5: 'busy',
  6: 'busy',
  11: 'damaged',
  13: 'full',
  26: 'damaged',
};

/** `SQLITE_IOERR_READ`, `_SHORT_READ`, `_DATA` and `_CORRUPTFS`: a part of the file cannot be read. */
const unreadable = [266, 522, 8202, 8458];

/** `SQLITE_PERM`, `BUSY`, `LOCKED`, `NOMEM`, `READONLY`, `IOERR`, `FULL` and `CANTOPEN`. */
const refusals = [3, 5, 6, 7, 8, 10, 13, 14];

/** Whether the disk or the system refused: that proves nothing about what the file holds, and nothing may be discarded for it. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!('errcode' in error && typeof error.errcode === 'number')) return 'syscall' in error;
  return refusals.includes(error.errcode & 0xff) && !unreadable.includes(error.errcode);
}

/** Undefined when it fails for what the file holds. @throws the error of a disk or a system that refuses. */
export function ifSound<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isRefusal(error)) throw error;
    return undefined;
  }
}

/** Of an error of the system. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';

/** Why the outbox cannot be written, from any thrown value. */
export function faultOf(error: unknown): StorageFault {
  if (error instanceof OutboxDamaged) return { kind: 'damaged', code: 'damaged', reason: error.message };
  if (error instanceof OutboxInUse) return { kind: 'unavailable', code: 'in-use', reason: error.message };
  if (!(error instanceof Error)) return { kind: 'unavailable', code: 'unexpected', reason: String(error) };
  if ('errcode' in error && typeof error.errcode === 'number') {
    const primary = error.errcode & 0xff;
    return { kind: kinds[primary] ?? 'unavailable', code: `sqlite-${primary}`, reason: error.message };
  }
  const code = codeOf(error);
  return { kind: code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'unavailable', code, reason: error.message };
}
