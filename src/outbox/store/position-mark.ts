import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { LifecycleState } from '../../lifecycle/state.ts';
import type { OutboxOptions } from '../outbox.ts';
import { attempt, withFile } from './files.ts';
import { layoutOf } from './layout.ts';

/** The highest positions of a stream, 0 where none is known: in the file, and sent, whether the file holds it or not. */
interface Marked {
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
  /** Held open: where the name leads to another file by now, that is another instance's. */
  #fd: number | undefined;

  constructor(path: string) {
    const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    this.#fd = attempt(() => openSync(path, flags, 0o600));
  }

  /** Records up to this position may be sent; `isCommitted`: and are in the file. */
  write({ streamId, position }: Pick<LifecycleState, 'streamId' | 'position'>, isCommitted: boolean): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    attempt(() => {
      const before = read(fd);
      const { committed, handedOut } = decode(before, streamId);
      const next = { committed: isCommitted ? position : committed, handedOut: Math.max(position, handedOut) };
      const after = encode(streamId, next);
      if (after !== before) writeSync(fd, after, 0);
    });
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined; // Its number may be another file's from now on.
    if (fd !== undefined) attempt(() => closeSync(fd));
  }
}

export const readPositionMark = (path: string, streamId: string): Marked =>
  decode(attempt(() => withFile(path, constants.O_RDONLY, read)) ?? '', streamId);

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

/** One size, so that each write replaces the one before, and one page, so that a kill leaves one of the two. */
const length = 128;

function encode(streamId: string, { committed, handedOut }: Marked): string {
  const text = JSON.stringify({ streamId, position: committed, handedOut });
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}`.padEnd(length - 1).concat('\n');
}

function decode(line: string, streamId: string): Marked {
  const text = line.slice(9).trimEnd();
  const isSound = Number.parseInt(line.slice(0, 8), 16) === crc32(text);
  // A build before `handedOut` left it out.
  type Stored = { readonly streamId: string; readonly position: number; readonly handedOut?: number };
  const found = isSound ? attempt(() => JSON.parse(text) as Stored) : undefined;
  if (found?.streamId !== streamId) return { committed: 0, handedOut: 0 };
  return { committed: found.position, handedOut: found.handedOut ?? found.position };
}

function read(fd: number): string {
  const bytes = Buffer.alloc(length);
  return bytes.toString('utf8', 0, readSync(fd, bytes, 0, length, 0));
}
