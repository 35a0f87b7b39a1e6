import { constants, existsSync, readSync, writeSync } from 'node:fs';
import { withFile } from './files.ts';

/**
 * SQLite's write-ahead log, read beside SQLite: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 *
 * SQLite plays a log back up to the first frame whose checksum is wrong, and takes the rest for a transaction that a crash
 * cut off. One bit that went bad in the middle costs all commits behind it, without an error. Each checksum continues that
 * of the frame before, so the frames behind a bad one can still be proven.
 */
interface Log {
  readonly pageBytes: number;
  /** Without a sound header SQLite reads nothing of the log. */
  readonly isHeaderSound: boolean;
  /** Read one after the other: a reader that blocks SQLite may have let the log grow to the size of the outbox. */
  readonly frames: Iterable<Frame>;
}

interface Frame {
  readonly isSound: boolean;
  /** Header and page. */
  readonly bytes: Buffer;
}

/** Of the last frame of a transaction: the pages of the database after it. Else 0. */
const pagesAfterCommit = (frame: Buffer): number => frame.readUInt32BE(4);

const headerBytes = 32;
const frameHeaderBytes = 24;
/** The first word of a log says in which order the checksums read the bytes of a word. */
const littleEndian = 0x377f0682;
const bigEndian = 0x377f0683;
const formatVersion = 3_007_000;

/**
 * Whether the log lost a commit that was complete: behind a frame that is not sound there is the end of a transaction, and
 * after that the beginning of another one, which SQLite writes only when the first is on disk. No kill and no power cut
 * leaves that. Damage in the last transaction looks like one that was cut off: only `position-mark.ts` distinguishes them.
 */
export const hasLostCommits = (path: string): boolean =>
  readLog(path, ({ isHeaderSound, frames }) => {
    let isBroken = !isHeaderSound;
    let isCommitLost = false;
    for (const { isSound, bytes } of frames) {
      if (isCommitLost) return true;
      isBroken ||= !isSound;
      isCommitLost = isBroken && pagesAfterCommit(bytes) > 0;
    }
    return false;
  }) ?? false;

/** Writes a log with the sound frames of this one, so that only the pages in the others are of an earlier commit. */
export function copySoundFrames(path: string, to: string): void {
  readLog(path, ({ pageBytes, frames }) =>
    withFile(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (fd) => {
      const header = Buffer.alloc(headerBytes);
      for (const [n, word] of [littleEndian, formatVersion, pageBytes].entries()) header.writeUInt32BE(word, 4 * n);
      let sum = checksum(header.subarray(0, 24), false);
      sum.copy(header, 24);
      writeSync(fd, header);
      const write = (frame: Buffer): void => {
        frame.fill(0, 8, 16); // Its salts, which are those of the header.
        sum = frameSum(frame, false, sum);
        sum.copy(frame, 16);
        writeSync(fd, frame);
      };
      let held: Buffer | null = null;
      for (const { isSound, bytes } of frames) {
        if (isSound) {
          if (held) write(held);
          held = bytes;
          // The transaction ends all the same, with the frame before.
        } else if (pagesAfterCommit(bytes) > 0) held?.writeUInt32BE(pagesAfterCommit(bytes), 4);
      }
      if (held) write(held);
    }),
  );
}

/** Null where there is no log, or none that ever had a beginning. 4 MB take 20 ms. @throws the error of a disk that cannot be read. */
function readLog<T>(path: string, work: (log: Log) => T): T | null {
  if (!existsSync(path)) return null;
  return withFile(path, constants.O_RDONLY, (fd) => {
    const start = Buffer.alloc(headerBytes + frameHeaderBytes);
    if (readSync(fd, start, 0, start.length, 0) < start.length) return null;
    const header = start.subarray(0, headerBytes);
    if (header.every((byte) => byte === 0)) return null;
    const isBigEndian = header.readUInt32BE(0) === bigEndian;
    const isHeaderSound = checksum(header.subarray(0, 24), isBigEndian).equals(header.subarray(24));
    // Of a header that is not sound nothing is believed: the first frame has the salts, and every outbox has these pages.
    const saltsAt = isHeaderSound ? 16 : headerBytes + 8;
    const pageBytes = isHeaderSound ? header.readUInt32BE(8) : 4096;
    const salts = start.subarray(saltsAt, saltsAt + 8);
    const length = frameHeaderBytes + pageBytes;

    /** Frames that an earlier log left behind this one have other salts; one bad bit changes one salt only. */
    function* readFrames(): Generator<Frame> {
      let sum = checksum(header.subarray(0, 24), isBigEndian);
      for (let at = headerBytes; ; at += length) {
        const bytes = Buffer.alloc(length);
        if (readSync(fd, bytes, 0, length, at) < length) return;
        const areSame = [0, 4].map((n) => salts.readUInt32BE(n) === bytes.readUInt32BE(8 + n));
        if (!areSame.includes(true)) return;
        // Where the header is bad nothing proves the first frame, and it is taken as it is. A copy: the caller may change the frame.
        const stored = Buffer.from(bytes.subarray(16, frameHeaderBytes));
        const isUnprovable = !isHeaderSound && at === headerBytes;
        const isProven = isUnprovable || frameSum(bytes, isBigEndian, sum).equals(stored);
        yield { isSound: isProven && !areSame.includes(false), bytes };
        sum = stored;
      }
    }
    return work({ pageBytes, isHeaderSound, frames: readFrames() });
  });
}

/** Of a frame: the first words of its header, and its page; it continues that of the frame before. */
const frameSum = (frame: Buffer, isBigEndian: boolean, before: Buffer): Buffer =>
  checksum(frame.subarray(frameHeaderBytes), isBigEndian, checksum(frame.subarray(0, 8), isBigEndian, before));

/**
 * Two words, as they are written. Signed integers, which V8 keeps without an object for each: a log of 4 MB, for which the first poll
 * after a crash waits, takes half the time.
 */
function checksum(bytes: Buffer, isBigEndian: boolean, before: Buffer = Buffer.alloc(8)): Buffer {
  // Node.js runs on machines whose own words are little-endian.
  const inOrder = isBigEndian ? Buffer.from(bytes).swap32() : bytes;
  const words = new Int32Array(inOrder.buffer, inOrder.byteOffset, inOrder.length / 4);
  let [a, b] = [before.readInt32BE(0), before.readInt32BE(4)];
  for (let at = 0; at < words.length; at += 2) {
    a = (a + (words[at] as number) + b) | 0;
    b = (b + (words[at + 1] as number) + a) | 0;
  }
  const sum = Buffer.alloc(8);
  sum.writeInt32BE(a, 0);
  sum.writeInt32BE(b, 4);
  return sum;
}
