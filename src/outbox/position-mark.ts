import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { LifecycleState } from '../lifecycle/state.ts';

type Handed = Pick<LifecycleState, 'streamId' | 'position'>;

/**
 * The highest position of a stream that was handed out, beside the outbox. SQLite drops the end of a damaged log without an
 * error: a file that holds less than was handed out would give the same positions to other records.
 *
 * Written after each commit of records, so it never says too much: after a kill in between it says too little, which proves
 * nothing. It does not wait for the disk: 2 µs.
 */
export interface PositionMark {
  write(handed: Handed): void;
  close(): void;
}

/** Never throws: a mark that cannot be written costs a proof, not a record. */
export function openPositionMark(path: string): PositionMark {
  const fd = attempt(() => openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600));
  return {
    write: (handed) => void (fd !== null && attempt(() => writeSync(fd, encode(handed), 0, length, 0))),
    close: () => void (fd !== null && attempt(() => closeSync(fd))),
  };
}

/** 0 where nothing is known of this stream. */
export function handedOut(path: string, streamId: string): number {
  const handed = attempt(() => decode(read(path)));
  return handed?.streamId === streamId ? handed.position : 0;
}

/** One size, so that each write replaces the one before, and one page, so that a kill leaves one of the two. */
const length = 128;

function encode({ streamId, position }: Handed): Buffer {
  const text = JSON.stringify({ streamId, position });
  return Buffer.from(`${crc32(text).toString(16).padStart(8, '0')} ${text}`.padEnd(length - 1).concat('\n'));
}

function decode(line: string): Handed | null {
  const text = line.slice(9).trimEnd();
  return Number.parseInt(line.slice(0, 8), 16) === crc32(text) ? (JSON.parse(text) as Handed) : null;
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
