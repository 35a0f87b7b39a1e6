import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { LifecycleState } from '../../lifecycle/state.ts';
import type { OutboxOptions } from '../outbox.ts';
import { layoutOf } from './layout.ts';

type Handed = Pick<LifecycleState, 'streamId' | 'position'>;

/** As written: `position` is the committed one. A build before `handedOut` leaves it out, and reads past it. */
type Mark = Handed & { readonly handedOut?: number };

/** Zeros where nothing is known of a stream. */
export interface Marked {
  readonly committed: number;
  readonly handedOut: number;
}

/**
 * The highest position of a stream that was handed out, beside the outbox. SQLite drops the end of a damaged log without an
 * error: a file that holds less than was committed would give the same positions to other records. So would one that was full
 * while records were sent from memory.
 *
 * Written after each commit of records and before records are sent from memory, so it is never too high: after a kill in
 * between it is too low, which proves nothing. It does not wait for the disk: 2 µs. Its size never changes, so a full disk
 * takes it, unless its file system copies what it overwrites (btrfs, ZFS).
 *
 * Never throws: a mark that cannot be written costs a proof, not a record.
 */
export class PositionMark {
  #fd: number | null;
  #mark: Mark | null;

  constructor(path: string) {
    const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    this.#fd = attempt(() => openSync(path, flags, 0o600));
    this.#mark = attempt(() => decode(read(path)));
  }

  /** Records up to this position are in the file. */
  committed({ streamId, position }: Handed): void {
    this.#write({ streamId, position, handedOut: Math.max(position, marked(this.#mark, streamId).handedOut) });
  }

  /** Records up to this position may be sent, whether the file holds them or not. */
  handedOut({ streamId, position }: Handed): void {
    const { committed, handedOut } = marked(this.#mark, streamId);
    if (position > handedOut || this.#mark?.streamId !== streamId)
      this.#write({ streamId, position: committed, handedOut: position });
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = null; // Its number may be another file's from now on.
    if (fd !== null) attempt(() => closeSync(fd));
  }

  #write(mark: Mark): void {
    this.#mark = mark;
    const fd = this.#fd;
    if (fd !== null) attempt(() => writeSync(fd, encode(mark), 0, length, 0));
  }
}

export const readPositionMark = (path: string, streamId: string): Marked =>
  marked(
    attempt(() => decode(read(path))),
    streamId,
  );

/**
 * The state that a start continues with. Records that the process before sent from memory, while the disk took no writes, have
 * positions that the file does not know. None is given to another record: readers who did not get one see the gap.
 */
export function resumed(stored: LifecycleState, { directory, log }: OutboxOptions): LifecycleState {
  const { handedOut } = readPositionMark(layoutOf(directory).mark, stored.streamId);
  if (handedOut <= stored.position) return stored;
  log.warn(
    { part: 'outbox', code: 'not-stored', from: stored.position + 1, to: handedOut },
    `Records up to position ${handedOut}, from ${stored.position + 1} on, were only in memory when the bridge ended, because the outbox could not be written. Those that were not sent by then are lost; what Azure still shows is recorded again.`,
  );
  return { ...stored, position: handedOut };
}

function marked(mark: Mark | null, streamId: string): Marked {
  if (mark?.streamId !== streamId) return { committed: 0, handedOut: 0 };
  return { committed: mark.position, handedOut: mark.handedOut ?? mark.position };
}

/** One size, so that each write replaces the one before, and one page, so that a kill leaves one of the two. */
const length = 128;

function encode(mark: Mark): Buffer {
  const text = JSON.stringify(mark);
  return Buffer.from(`${crc32(text).toString(16).padStart(8, '0')} ${text}`.padEnd(length - 1).concat('\n'));
}

function decode(line: string): Mark | null {
  const text = line.slice(9).trimEnd();
  return Number.parseInt(line.slice(0, 8), 16) === crc32(text) ? (JSON.parse(text) as Mark) : null;
}

function read(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, length, 0));
  } finally {
    closeSync(fd);
  }
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
