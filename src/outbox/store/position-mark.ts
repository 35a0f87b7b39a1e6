import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { LifecycleState } from '../../lifecycle/state.ts';

type Handed = Pick<LifecycleState, 'streamId' | 'position'>;

/** As written: `position` is the committed one. A build before `handedOut` leaves it out, and reads past it. */
type Mark = Handed & { readonly handedOut?: number };

/**
 * The highest position of a stream that was handed out, beside the outbox. SQLite drops the end of a damaged log without an
 * error: a file that holds less than was committed would give the same positions to other records. So would one that was full
 * while records were sent from memory.
 *
 * Written after each commit of records and before records are sent from memory, so it never says too much: after a kill in
 * between it says too little, which proves nothing. It does not wait for the disk: 2 µs. Its size never changes, so a full disk
 * takes it, unless its file system copies what it overwrites (btrfs, ZFS).
 */
export interface PositionMark {
  /** Records up to this position are in the file. */
  committed(state: Handed): void;
  /** Records up to this position may be sent, whether the file holds them or not. */
  handedOut(state: Handed): void;
  close(): void;
}

/** What a mark says of one stream; zeros where it says nothing. */
export interface Marked {
  readonly committed: number;
  readonly handedOut: number;
}

/** Never throws: a mark that cannot be written costs a proof, not a record. */
export function openPositionMark(path: string): PositionMark {
  const fd = attempt(() => openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600));
  let mark = attempt(() => decode(read(path)));
  const write = ({ streamId, position }: Handed, handedOut: number): void => {
    const before = mark?.streamId === streamId ? (mark.handedOut ?? mark.position) : 0;
    mark = { streamId, position, handedOut: Math.max(handedOut, before) };
    const text = encode(mark);
    if (fd !== null) attempt(() => writeSync(fd, text, 0, length, 0));
  };
  return {
    committed: (state) => write(state, state.position),
    handedOut: ({ streamId, position }) => {
      const committed = mark?.streamId === streamId ? mark.position : 0;
      if (position > (mark?.handedOut ?? 0) || mark?.streamId !== streamId)
        write({ streamId, position: committed }, position);
    },
    close: () => void (fd !== null && attempt(() => closeSync(fd))),
  };
}

export function readPositionMark(path: string, streamId: string): Marked {
  const mark = attempt(() => decode(read(path)));
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
