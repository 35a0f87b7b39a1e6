import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { noProgress } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { copySoundFrames, hasLostCommits } from '../../../src/outbox/store/log-check.ts';
import { runs } from '../../support/runs.ts';
import { appendRecords, createHarness, deliverAll, type Harness, positions } from '../harness.ts';

const headerBytes = 32;
const frameBytes = 24 + 4096;

/** What a kill -9 leaves: an outbox, its log and its mark, and what they hold. */
interface Remains extends Disposable {
  readonly harness: Harness;
  readonly streamId: string;
  readonly position: number;
  readonly waiting: readonly number[];
  readonly log: Buffer;
  /** The same files in a directory of their own, with another log. */
  copy(log: Buffer | null): Harness;
}

function remains({ lastIs }: { readonly lastIs: 'record' | 'delivery' }): Remains {
  const harness = createHarness();
  const outbox = harness.open();
  for (let n = 0; n < 10; n += 1) appendRecords(outbox, { eventId: `OLD-${n}` });
  // Checkpointed into the file, and the log restarts over these frames.
  outbox.maintain();
  for (let n = 0; n < 20; n += 1) {
    appendRecords(outbox, { eventId: `EVENT-${n % 5}` });
    if (n % 4 === 0) outbox.settle('hub', [{ position: n + 1, state: 'delivered' }], noProgress);
  }
  if (lastIs === 'delivery') deliverAll(outbox, 'hub');
  return {
    harness,
    streamId: outbox.state.streamId,
    position: outbox.state.position,
    waiting: positions(outbox, 'table'),
    log: readFileSync(join(harness.directory, 'outbox.sqlite-wal')),
    copy(log) {
      const copy = createHarness();
      for (const name of ['outbox.sqlite', 'outbox.position']) {
        if (existsSync(join(harness.directory, name)))
          copyFileSync(join(harness.directory, name), join(copy.directory, name));
      }
      if (log) writeFileSync(join(copy.directory, 'outbox.sqlite-wal'), log);
      return copy;
    },
    [Symbol.dispose]: () => harness[Symbol.dispose](),
  };
}

/** The frames of the present log: they have the salts of its header. */
function framesOf(log: Buffer): number {
  let frames = 0;
  for (let at = headerBytes; at + frameBytes <= log.length; at += frameBytes) {
    if (log.compare(log, 16, 24, at + 8, at + 16) !== 0) break;
    frames += 1;
  }
  return frames;
}

const isCommit = (log: Buffer, frame: number): boolean => log.readUInt32BE(headerBytes + frame * frameBytes + 4) > 0;

function flipped(log: Buffer, bit: number): Buffer {
  const harmed = Buffer.from(log);
  const byte = Math.floor(bit / 8);
  harmed[byte] = (harmed[byte] ?? 0) ^ (1 << (bit % 8));
  return harmed;
}

/** Spread evenly over these bytes, never twice the same. */
const bitsAmong = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => from * 8 + Math.floor(((n + 0.37) / count) * (to - from) * 8));

/** What the next start makes of it. */
function judged(from: Remains, log: Buffer | null) {
  using harness = from.copy(log);
  const outbox = harness.open();
  const waiting = positions(outbox, 'table', 10_000);
  const reported = outbox.recovery !== null;
  if (reported) expect(readOutbox(harness.directory)?.recovery?.reason).toMatch(/log/);
  const { streamId } = outbox.state;
  appendRecords(outbox);
  return {
    reported,
    isNewStream: streamId !== from.streamId,
    missing: from.waiting.filter((position) => !waiting.includes(position)).length,
    givenTwice: streamId === from.streamId && outbox.state.position <= from.position,
  };
}

describe('a log with a flipped bit after a kill -9', () => {
  test.each([
    { lastIs: 'record', bits: { quick: 24, full: 60 } },
    { lastIs: 'delivery', bits: { quick: 10, full: 20 } },
  ] as const)(
    'costs no record without a word, and no position is given twice, when its last commit was of a $lastIs',
    ({ lastIs, bits }) => {
      using from = remains({ lastIs });
      const end = headerBytes + framesOf(from.log) * frameBytes;
      const seen = bitsAmong(headerBytes, end, runs(`logs damaged after a ${lastIs}`, bits)).map((bit) =>
        judged(from, flipped(from.log, bit)),
      );
      const silent = seen.filter(({ reported, missing }) => !reported && missing > 0);
      expect(silent).toEqual([]);
      expect(seen.filter(({ givenTwice }) => givenTwice)).toEqual([]);
      expect(seen.every(({ reported, isNewStream }) => reported === isNewStream)).toBe(true);
      const reported = seen.filter((one) => one.reported);
      const missing = reported.reduce((sum, one) => sum + one.missing, 0);
      console.log(
        `  ${seen.length} damaged logs: ${reported.length} reported, ${missing} of ${reported.length * from.waiting.length} records lost`,
      );
      expect(reported.length).toBeGreaterThan(seen.length * 0.9);
      expect(missing).toBeLessThan(reported.length);
    },
    120_000,
  );

  test('is detected in its header, in the salts of a frame and in the last frame', () => {
    using from = remains({ lastIs: 'record' });
    const last = headerBytes + (framesOf(from.log) - 1) * frameBytes;
    const middle = headerBytes + 5 * frameBytes;
    const bits = [
      ...bitsAmong(0, headerBytes, 8),
      ...bitsAmong(middle, middle + 24, 12),
      ...bitsAmong(last, last + 24, 12),
    ];
    for (const bit of bits)
      expect({ bit, ...judged(from, flipped(from.log, bit)) }).toMatchObject({ bit, reported: true });
  });

  test('is moved to quarantine with its outbox, both unchanged', () => {
    using from = remains({ lastIs: 'record' });
    const log = flipped(from.log, (headerBytes + 5 * frameBytes + 100) * 8);
    using harness = from.copy(log);
    const file = readFileSync(join(harness.directory, 'outbox.sqlite'));
    const { movedTo = '' } = harness.open().recovery ?? {};
    expect(file.equals(readFileSync(join(movedTo, 'outbox.sqlite')))).toBe(true);
    expect(log.equals(readFileSync(join(movedTo, 'outbox.sqlite-wal')))).toBe(true);
  });

  test('a removed log starts a new stream, which is logged', () => {
    using from = remains({ lastIs: 'record' });
    expect(judged(from, null)).toMatchObject({ reported: true, isNewStream: true, givenTwice: false });
  });
});

test('a log that a reader let grow beyond what fits in memory is read frame by frame', () => {
  using from = remains({ lastIs: 'record' });
  const [path, sound] = ['large-wal', 'sound-wal'].map((name) => join(from.harness.directory, name)) as [
    string,
    string,
  ];
  const end = headerBytes + framesOf(from.log) * frameBytes;
  for (const [log, isLost] of [
    [from.log.subarray(0, end), false],
    [flipped(from.log.subarray(0, end), 8 * (headerBytes + 5 * frameBytes + 100)), true],
  ] as const) {
    writeFileSync(path, log);
    // Zeros without blocks on the disk: no frame, as they have other salts.
    truncateSync(path, 5 * 2 ** 30);
    expect(hasLostCommits(path)).toBe(isLost);
  }
  copySoundFrames(path, sound);
  expect(statSync(sound).size).toBe(end - frameBytes);
});

/** The same log as a machine would write it whose words are big-endian: https://www.sqlite.org/fileformat2.html#wal_file_format */
function inBigEndian(log: Buffer): Buffer {
  const other = Buffer.from(log);
  let [one, two] = [0, 0];
  const add = (from: number, to: number): void => {
    for (let at = from; at < to; at += 8) {
      one = (one + other.readUInt32BE(at) + two) >>> 0;
      two = (two + other.readUInt32BE(at + 4) + one) >>> 0;
    }
  };
  const writeSum = (at: number): void => {
    other.writeUInt32BE(one, at);
    other.writeUInt32BE(two, at + 4);
  };
  other.writeUInt32BE(0x377f0683, 0);
  add(0, 24);
  writeSum(24);
  for (let at = headerBytes; at < other.length; at += frameBytes) {
    add(at, at + 8);
    add(at + 24, at + frameBytes);
    writeSum(at + 16);
  }
  return other;
}

test('a log with checksums of big-endian words is verified as well', () => {
  using from = remains({ lastIs: 'record' });
  const log = inBigEndian(from.log.subarray(0, headerBytes + framesOf(from.log) * frameBytes));
  expect(judged(from, log)).toEqual({ reported: false, isNewStream: false, missing: 0, givenTwice: false });
  const harmed = flipped(log, (headerBytes + 5 * frameBytes + 100) * 8);
  expect(judged(from, harmed)).toMatchObject({ reported: true, isNewStream: true });
});

/** The bit in the page of the first frame in which these logs differ. */
function firstNewBit(before: Buffer, after: Buffer): number {
  const differs = after.findIndex((byte, at) => byte !== before[at]);
  const frame = Math.floor(Math.max(0, differs - headerBytes) / frameBytes);
  return 8 * (headerBytes + frame * frameBytes + 100);
}

test('a commit partly written at a power cut is not damage, also after a larger one interrupted by a kill', () => {
  using from = remains({ lastIs: 'record' });
  const tail = Buffer.alloc(20 * frameBytes);
  for (let at = 0; at < tail.length; at += frameBytes) from.log.copy(tail, at + 8, 16, 24);
  const end = headerBytes + framesOf(from.log) * frameBytes;
  using harness = from.copy(Buffer.concat([from.log.subarray(0, end), tail]));
  const outbox = harness.open();
  const read = (name: string): Buffer => readFileSync(join(harness.directory, name));
  const [mark, before] = [read('outbox.position'), read('outbox.sqlite-wal')];
  appendRecords(outbox);
  const log = read('outbox.sqlite-wal');
  using after = createHarness();
  copyFileSync(join(harness.directory, 'outbox.sqlite'), join(after.directory, 'outbox.sqlite'));
  writeFileSync(join(after.directory, 'outbox.position'), mark);
  writeFileSync(join(after.directory, 'outbox.sqlite-wal'), flipped(log, firstNewBit(before, log)));
  const { recovery, state } = after.open();
  expect(recovery).toBeNull();
  expect(state).toMatchObject({ streamId: from.streamId, position: from.position });
});

/** A mark: checksum, stream and position in 128 bytes. */
function markOf(streamId: string, position: number): string {
  const text = JSON.stringify({ streamId, position });
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}`.padEnd(127).concat('\n');
}

describe('a log interrupted by a kill anywhere', () => {
  /** SQLite writes the header of a frame, then its page, one after the other. What a longer log left behind stays there. */
  const cutsIn = (log: Buffer, frame: number): readonly Buffer[] => {
    const at = headerBytes + frame * frameBytes;
    return [
      log.subarray(0, at),
      log.subarray(0, at + 24),
      Buffer.concat([log.subarray(0, at + 24), Buffer.alloc(4096, 'x'), Buffer.alloc(frameBytes, 'y')]),
    ];
  };

  test('is no damage: the stream continues, when the mark is not above the committed position', () => {
    using from = remains({ lastIs: 'record' });
    const frames = Array.from({ length: framesOf(from.log) }, (_, n) => n);
    const [before = 0, last = 0] = frames.filter((n) => isCommit(from.log, n)).slice(-2);
    // Anywhere in the last transaction, before its commit returned: the mark is that of the one before.
    const inLast = frames.filter((n) => n > before).flatMap((n) => cutsIn(from.log, n));
    expect(last - before).toBeGreaterThan(3);
    for (const log of inLast) {
      using harness = from.copy(log);
      writeFileSync(join(harness.directory, 'outbox.position'), markOf(from.streamId, from.position - 1));
      const outbox = harness.open();
      expect(outbox.recovery).toBeNull();
      expect(outbox.state).toMatchObject({ streamId: from.streamId, position: from.position - 1 });
    }
  });

  test('is no damage between the commit and its mark', () => {
    using from = remains({ lastIs: 'record' });
    using harness = from.copy(from.log);
    writeFileSync(join(harness.directory, 'outbox.position'), markOf(from.streamId, from.position - 1));
    const outbox = harness.open();
    expect(outbox.recovery).toBeNull();
    expect(outbox.state).toMatchObject({ streamId: from.streamId, position: from.position });
  });
});
