import { constants, readFileSync, writeFileSync } from 'node:fs';
import { attempt, withFile } from './files.ts';

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
  readonly frames: readonly Frame[];
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
export function hasLostCommits(path: string): boolean {
  const log = readLog(path);
  let isBroken = log?.isHeaderSound === false;
  let isCommitLost = false;
  for (const { isSound, bytes } of log?.frames ?? []) {
    if (isCommitLost) return true;
    isBroken ||= !isSound;
    isCommitLost = isBroken && pagesAfterCommit(bytes) > 0;
  }
  return false;
}

/** Writes a log with the sound frames of this one, so that only the pages in the others are of an earlier commit. */
export function copySoundFrames(path: string, to: string): void {
  const log = readLog(path);
  if (!log) return;
  const header = Buffer.alloc(headerBytes);
  for (const [n, word] of [littleEndian, formatVersion, log.pageBytes].entries()) header.writeUInt32BE(word, 4 * n);
  let sum = checksum(header.subarray(0, 24), false);
  sum.copy(header, 24);
  const sound: Buffer[] = [];
  for (const { isSound, bytes } of log.frames) {
    if (isSound) sound.push(bytes);
    // The transaction ends all the same, with the frame before.
    else if (pagesAfterCommit(bytes) > 0) sound.at(-1)?.writeUInt32BE(pagesAfterCommit(bytes), 4);
  }
  for (const frame of sound) {
    frame.fill(0, 8, 16); // Its salts, which are those of the header.
    sum = frameSum(frame, false, sum);
    sum.copy(frame, 16);
  }
  writeFileSync(to, Buffer.concat([header, ...sound]), { flag: 'wx', mode: 0o600 });
}

/** Null where there is no log, or none that ever had a beginning. SQLite keeps it at a few MB; 4 MB take 15 ms. */
function readLog(path: string): Log | null {
  const log = attempt(() => withFile(path, constants.O_RDONLY, (fd) => readFileSync(fd)));
  if (!log || log.length < headerBytes + frameHeaderBytes) return null;
  if (log.subarray(0, headerBytes).every((byte) => byte === 0)) return null;
  const isBigEndian = log.readUInt32BE(0) === bigEndian;
  let sum = checksum(log.subarray(0, 24), isBigEndian);
  const isHeaderSound = sum.equals(log.subarray(24, 32));
  // Of a header that is not sound nothing is believed: the first frame has the salts, and every outbox has these pages.
  const saltsAt = isHeaderSound ? 16 : headerBytes + 8;
  const pageBytes = isHeaderSound ? log.readUInt32BE(8) : 4096;
  const frames: Frame[] = [];
  for (let at = headerBytes; at + frameHeaderBytes + pageBytes <= log.length; at += frameHeaderBytes + pageBytes) {
    const bytes = log.subarray(at, at + frameHeaderBytes + pageBytes);
    // Frames that an earlier log left behind this one have other salts; one bad bit changes one salt only.
    const areSame = [0, 4].map((n) => log.readUInt32BE(saltsAt + n) === bytes.readUInt32BE(8 + n));
    if (!areSame.includes(true)) break;
    // Where the header is bad nothing proves the first frame, and it is taken as it is.
    const stored = bytes.subarray(16, frameHeaderBytes);
    const isProven = (!isHeaderSound && at === headerBytes) || frameSum(bytes, isBigEndian, sum).equals(stored);
    frames.push({ isSound: isProven && !areSame.includes(false), bytes });
    sum = stored;
  }
  return { pageBytes, isHeaderSound, frames };
}

/** Of a frame: the first words of its header, and its page; it continues that of the frame before. */
const frameSum = (frame: Buffer, isBigEndian: boolean, before: Buffer): Buffer =>
  checksum(frame.subarray(frameHeaderBytes), isBigEndian, checksum(frame.subarray(0, 8), isBigEndian, before));

/** Two words, as they are written. */
function checksum(bytes: Buffer, isBigEndian: boolean, before: Buffer = Buffer.alloc(8)): Buffer {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [a, b] = [before.readUInt32BE(0), before.readUInt32BE(4)];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + words.getUint32(at, !isBigEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, !isBigEndian) + a) >>> 0;
  }
  const sum = Buffer.alloc(8);
  sum.writeUInt32BE(a, 0);
  sum.writeUInt32BE(b, 4);
  return sum;
}
