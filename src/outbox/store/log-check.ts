import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

/**
 * SQLite's write-ahead log, read beside SQLite: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 *
 * SQLite plays a log back up to the first frame whose checksum is wrong, and takes the rest for a transaction that a crash
 * cut off. One bit that went bad in the middle costs all commits behind it, without an error. Each checksum continues that
 * of the frame before, so the frames behind a bad one can still be proven.
 */
interface Frame {
  readonly isSound: boolean;
  /** The last frame of a transaction: the pages of the database after it. */
  readonly pagesAfterCommit: number;
  /** Header and page. Valid until the next frame is read. */
  readonly bytes: Buffer;
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const littleEndian = 0x377f0682;
const bigEndian = 0x377f0683;

/**
 * Whether the log lost a commit that was complete: behind a frame that is not sound there is the end of a transaction, and
 * after that the beginning of another one, which SQLite writes only when the first is on disk. No kill and no power cut
 * leaves that. Damage in the last transaction looks like one that was cut off: only `position-mark.ts` distinguishes them.
 */
export function hasLostCommits(path: string): boolean {
  // Without its header SQLite reads nothing of it.
  let isBroken = readHeader(path)?.isSound === false;
  let isCommitLost = false;
  for (const frame of framesOf(path)) {
    if (isCommitLost) return true;
    isBroken ||= !frame.isSound;
    isCommitLost = isBroken && frame.pagesAfterCommit > 0;
  }
  return false;
}

/** Writes a log with the sound frames of this one, so that only the pages in the others are of an earlier commit. */
export function copySoundFrames(path: string, to: string): void {
  const header = readHeader(path);
  if (!header) return;
  const fd = openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    let sum = writeHeader(fd, header);
    let at = headerBytes;
    const write = (frame: Buffer): void => {
      header.salts.copy(frame, 8);
      sum = checksum(frame.subarray(frameHeaderBytes), header, checksum(frame.subarray(0, 8), header, sum));
      frame.writeUInt32BE(sum[0], 16);
      frame.writeUInt32BE(sum[1], 20);
      at += writeSync(fd, frame, 0, frame.length, at);
    };
    let held: Buffer | null = null;
    for (const { isSound, pagesAfterCommit, bytes } of framesOf(path)) {
      // The transaction ends all the same, with the frame before.
      if (!isSound) {
        if (pagesAfterCommit > 0) held?.writeUInt32BE(pagesAfterCommit, 4);
        continue;
      }
      if (held) write(held);
      held = Buffer.from(bytes);
    }
    if (held) write(held);
  } finally {
    closeSync(fd);
  }
}

interface Header {
  readonly pageBytes: number;
  readonly isBigEndian: boolean;
  readonly salts: Buffer;
  readonly sum: Sum;
  readonly isSound: boolean;
}

type Sum = readonly [number, number];

/** Null where there is no log, or none that ever had a beginning. */
function readHeader(path: string): Header | null {
  const [header, first] = [Buffer.alloc(headerBytes), Buffer.alloc(frameHeaderBytes)];
  const fd = open(path);
  if (fd === null) return null;
  try {
    if (readSync(fd, header, 0, headerBytes, 0) < headerBytes || header.every((byte) => byte === 0)) return null;
    if (readSync(fd, first, 0, frameHeaderBytes, headerBytes) < frameHeaderBytes) return null;
  } finally {
    closeSync(fd);
  }
  const isBigEndian = header.readUInt32BE(0) === bigEndian;
  const sum = checksum(header.subarray(0, 24), { isBigEndian }, [0, 0]);
  const isSound = sum[0] === header.readUInt32BE(24) && sum[1] === header.readUInt32BE(28);
  // Of a header that is not sound nothing is believed: the first frame has the salts, and every outbox has these pages.
  const salts = isSound ? header.subarray(16, 24) : first.subarray(8, 16);
  return { pageBytes: isSound ? header.readUInt32BE(8) : 4096, isBigEndian, salts, sum, isSound };
}

function writeHeader(fd: number, { pageBytes, isBigEndian, salts }: Header): Sum {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(isBigEndian ? bigEndian : littleEndian, 0);
  header.writeUInt32BE(3_007_000, 4);
  header.writeUInt32BE(pageBytes, 8);
  salts.copy(header, 16);
  const sum = checksum(header.subarray(0, 24), { isBigEndian }, [0, 0]);
  header.writeUInt32BE(sum[0], 24);
  header.writeUInt32BE(sum[1], 28);
  writeSync(fd, header, 0, headerBytes, 0);
  return sum;
}

/** All frames of the present log. Those that an earlier one left behind it have other salts; one bad bit changes one salt only. */
function* framesOf(path: string): Generator<Frame> {
  const header = readHeader(path);
  const fd = header ? open(path) : null;
  if (!header || fd === null) return;
  try {
    const bytes = Buffer.alloc(frameHeaderBytes + header.pageBytes);
    let sum = header.sum;
    let isSound = header.isSound;
    for (let at = headerBytes; readSync(fd, bytes, 0, bytes.length, at) === bytes.length; at += bytes.length) {
      const areSame = [8, 12].map((n) => bytes.compare(header.salts, n - 8, n - 4, n, n + 4) === 0);
      if (!areSame.includes(true)) return;
      const stored: Sum = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
      const page = bytes.subarray(frameHeaderBytes);
      const found = checksum(page, header, checksum(bytes.subarray(0, 8), header, sum));
      // Where the header is bad nothing proves the first frame, and it is taken as it is.
      isSound = (!header.isSound && at === headerBytes) || (found[0] === stored[0] && found[1] === stored[1]);
      yield { isSound: isSound && !areSame.includes(false), pagesAfterCommit: bytes.readUInt32BE(4), bytes };
      sum = stored;
    }
  } finally {
    closeSync(fd);
  }
}

/** 4 MB take 15 ms. */
function checksum(bytes: Buffer, { isBigEndian }: Pick<Header, 'isBigEndian'>, [first, second]: Sum): Sum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + words.getUint32(at, !isBigEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, !isBigEndian) + a) >>> 0;
  }
  return [a, b];
}

function open(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return null;
  }
}
