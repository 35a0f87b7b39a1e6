import {
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noCounters, noProgress } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { layoutOf } from '../../../src/outbox/store/layout.ts';
import { openSound } from '../../../src/outbox/store/open.ts';
import { observerNamed } from '../../support/observations.ts';
import { runs } from '../../support/runs.ts';
import { appendRecords, createHarness, deliverAll, type Harness, positions, version } from '../harness.ts';

/** A harness whose directory holds an outbox of this many records of several events; `hub` has the first ten. */
function usedHarness(records = 40, close = true): Harness & { readonly file: string; readonly streamId: string } {
  const harness = createHarness();
  const outbox = harness.open();
  outbox.rememberObserver(observerNamed('web_3'), 'boot-1');
  for (let n = 0; n < records; n += 1) appendRecords(outbox, { eventId: `EVENT-${n % 7}`, bytes: 1000 });
  const first = positions(outbox, 'hub', 10).map((position) => ({ position, state: 'delivered' as const }));
  outbox.settle('hub', first, noProgress);
  const { streamId } = outbox.state;
  if (close) outbox.close();
  return { ...harness, file: join(harness.directory, 'outbox.sqlite'), streamId };
}

const asides = (harness: Harness): string[] =>
  readdirSync(harness.directory).filter((name) => name.startsWith('corrupt-'));

const isBalanced = (harness: Harness): boolean =>
  readOutbox(harness.directory)?.sinks.every(({ counters }) => imbalance(counters) === 0) === true;

describe('a file that is not a valid outbox', () => {
  const remains = 'it was moved to a folder, and polling continues';
  const cases: readonly { readonly what: string; readonly harm: (file: string) => void; readonly reason: RegExp }[] = [
    { what: 'has a length of zero', harm: (file) => truncateSync(file, 0), reason: /zero/ },
    { what: 'is cut within its first page', harm: (file) => truncateSync(file, 300), reason: /malformed/ },
    {
      what: 'has another header',
      harm: (file) => overwrite(file, 0, Buffer.from('PK\u0003\u0004')),
      reason: /not a database/,
    },
    {
      what: 'is a foreign text',
      harm: (file) => writeFileSync(file, 'hello '.repeat(2000)),
      reason: /not a database/,
    },
    { what: 'is a foreign database', harm: (file) => foreign(file), reason: /another program/ },
    { what: 'has lost its first rows', harm: (file) => sql(file, 'DELETE FROM meta'), reason: /first rows/ },
  ];

  test.each(cases)(`$what: ${remains}`, ({ harm, reason }) => {
    using harness = usedHarness();
    harm(harness.file);
    const outbox = harness.open();
    expect(outbox.storage.fault).toBeNull();
    expect(outbox.recovery?.reason).toMatch(reason);
    expect(asides(harness)).toHaveLength(1);
    expect(readdirSync(join(harness.directory, asides(harness)[0] ?? ''))).toContain('outbox.sqlite');
    expect(harness.lines).toMatchObject([{ level: 'error', fields: { code: 'recovered' } }]);
    appendRecords(outbox);
    expect(positions(outbox, 'hub').length).toBeGreaterThan(0);
    outbox.close();
    expect(readOutbox(harness.directory)?.recovery).toEqual(outbox.recovery);
    // The next start finds a sound file, and logs nothing more.
    harness.open();
    expect(harness.lines).toHaveLength(1);
    expect(isBalanced(harness)).toBe(true);
  });

  test('keeps the newest three quarantine folders', () => {
    using harness = createHarness();
    for (let n = 0; n < 5; n += 1) {
      harness.open().close();
      harness.clock.stepWall(1000);
      truncateSync(join(harness.directory, 'outbox.sqlite'), 0);
    }
    harness.open();
    expect(asides(harness)).toHaveLength(3);
    expect(asides(harness).sort().at(-1)).toBe('corrupt-2026-01-01T00-00-05.000Z');
  });
});

test.skipIf(process.platform === 'win32')('a file that the disk does not show for a moment is not replaced', () => {
  using harness = usedHarness();
  rmSync(harness.file);
  // A link to itself stands for it: asking for it fails with an error other than its absence.
  symlinkSync(harness.file, harness.file);
  const options = { at: harness.clock.now(), version, sinks: ['hub'] };
  expect(() => openSound(layoutOf(harness.directory), options)).toThrow(/ELOOP/);
  expect(lstatSync(harness.file).isSymbolicLink()).toBe(true);
  expect(readdirSync(harness.directory).filter((name) => /corrupt|replacement/.test(name))).toEqual([]);
  rmSync(harness.file);
});

test('a damaged file that was moved aside is not replaced a second time: its replacement is installed', () => {
  using harness = usedHarness();
  // What a refused rename leaves.
  renameSync(harness.file, `${harness.file}.replacement`);
  const options = { at: harness.clock.now(), version, sinks: ['hub'] };
  const { file, isRecovered } = openSound(layoutOf(harness.directory), options, 'SQLite found it damaged');
  expect(isRecovered).toBe(true);
  expect(file.state).toMatchObject({ streamId: harness.streamId, position: 40 });
  file.db.close();
});

describe('the readable rows of a damaged file', () => {
  test('are salvaged, the stream continues, and lost rows are counted', () => {
    using harness = usedHarness();
    // The pages of a few bodies: SQLite sees a broken tree, all else is sound.
    const page = sql(harness.file, `SELECT rootpage FROM sqlite_schema WHERE name = 'bodies'`)[0]?.rootpage as number;
    const leaves = sql(
      harness.file,
      `SELECT pageno FROM dbstat WHERE name = 'bodies' AND pagetype = 'leaf' ORDER BY pageno`,
    );
    expect(page).toBeGreaterThan(0);
    const victim = Number(leaves[3]?.pageno);
    overwrite(harness.file, (victim - 1) * 4096, Buffer.alloc(4096, 0xee));
    const outbox = harness.open();
    expect(outbox.recovery?.reason).toMatch(/damaged|malformed/);
    expect(outbox.state).toMatchObject({ streamId: harness.streamId, position: 40 });
    expect(outbox.state.events.size).toBe(7);
    expect(outbox.storedObserver?.observer.vmName).toBe('web_3');
    expect(outbox.storedObserver?.bootId).toBe('boot-1');
    const { salvaged } = outbox.recovery ?? {};
    expect(salvaged).toMatchObject({ stream: true, events: 7 });
    expect(salvaged?.records).toBeGreaterThan(30);
    expect(salvaged?.records).toBeLessThan(40);
    const { hub = noCounters, table = noCounters } = outbox.counters();
    expect([imbalance(hub), imbalance(table)]).toEqual([0, 0]);
    expect(table).toMatchObject({ accepted: 40, pending: salvaged?.records, expired: 40 - (salvaged?.records ?? 0) });
    expect(hub.delivered).toBe(10);
    expect(salvaged?.lost).toBe(table.expired + hub.expired);
    expect(positions(outbox, 'table')).toHaveLength(salvaged?.records ?? 0);
    appendRecords(outbox);
    expect(positions(outbox, 'hub').at(-1)).toBe(41);
  });

  test('are complete when only an index is damaged', () => {
    using harness = usedHarness();
    for (const name of ['deliveries_pending', 'deliveries_unsettled', 'records_of_event']) {
      const page = Number(sql(harness.file, `SELECT rootpage FROM sqlite_schema WHERE name = '${name}'`)[0]?.rootpage);
      overwrite(harness.file, (page - 1) * 4096, Buffer.alloc(4096, 0xee));
    }
    const outbox = harness.open();
    expect(outbox.recovery?.salvaged).toEqual({ stream: true, events: 7, records: 40, lost: 0 });
    expect(positions(outbox, 'hub')).toEqual(Array.from({ length: 30 }, (_, n) => n + 11));
    expect(outbox.counters().hub).toMatchObject({ accepted: 40, delivered: 10, pending: 30 });
  });

  test.for([
    ['accepted', 3, { expired: 3 }],
    ['accepted', -3, {}],
    ['delivered', 3, { accepted: 43, delivered: 13 }],
    ['delivered', -3, { delivered: 7, expired: 3 }],
    ['pending', 3, {}],
    ['pending', -3, {}],
    ['dead', 3, {}],
    ['dead', -1, {}],
  ] as const)('are counted again where the counter of %s is wrong, by %i', ([name, by, wrong]) => {
    using harness = usedHarness();
    sql(harness.file, `UPDATE deliveries SET state = 'dead' WHERE sink = 'hub' AND position = 11`);
    sql(harness.file, `UPDATE sinks SET pending = 29, dead = 1 WHERE name = 'hub'`);
    sql(harness.file, `UPDATE sinks SET ${name} = ${name} + ${by} WHERE name = 'hub'`);
    const right = { accepted: 40, delivered: 10, pending: 29, dead: 1, expired: 0, abandoned: 0 };
    const accepted = by > 0 && name === 'accepted' ? 43 : 40;
    expect(harness.open().counters().hub).toMatchObject({ ...right, accepted, ...wrong });
  });

  test('start a new stream when the row of the lifecycle is lost, and positions continue', () => {
    using harness = usedHarness();
    sql(harness.file, `DELETE FROM meta WHERE key = 'lifecycle'`);
    const outbox = harness.open();
    expect(outbox.recovery?.salvaged).toMatchObject({ stream: false, records: 40 });
    expect(outbox.state.streamId).not.toBe(harness.streamId);
    expect(outbox.state.position).toBe(40);
  });

  test('are pending again for a sink whose deliveries cannot be read', () => {
    using harness = usedHarness();
    sql(harness.file, 'DELETE FROM sinks');
    for (const { pageno } of sql(harness.file, `SELECT pageno FROM dbstat WHERE name = 'deliveries'`)) {
      overwrite(harness.file, (Number(pageno) - 1) * 4096, Buffer.alloc(4096, 0xee));
    }
    const outbox = harness.open();
    expect(positions(outbox, 'hub')).toHaveLength(40);
    expect(outbox.counters().hub).toMatchObject({ accepted: 40, pending: 40 });
  });

  test('omit an event whose memory cannot be read', () => {
    using harness = usedHarness();
    sql(harness.file, `UPDATE events SET json = substr(json, 1, 20) WHERE eventKey = 'event-3'`);
    const outbox = harness.open();
    expect(outbox.recovery?.reason).toMatch(/event-3 is not as it was written/);
    expect([...outbox.state.events.keys()]).not.toContain('event-3');
    expect(outbox.recovery?.salvaged).toMatchObject({ events: 6, records: 40, lost: 0 });
  });

  test('are salvaged while the service runs', () => {
    using harness = usedHarness(40, false);
    const outbox = harness.open({ directory: `${harness.directory}/second` });
    for (let n = 0; n < 40; n += 1) appendRecords(outbox, { bytes: 1000 });
    const file = join(harness.directory, 'second', 'outbox.sqlite');
    sql(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
    // Behind the back of the open connection, as a failing disk does it.
    overwrite(file, 4096, Buffer.alloc(4096 * 200, 0xee));
    sql(file, 'PRAGMA user_version', true);
    const notified: number[] = [];
    outbox.onAppended((records) => notified.push(records.length));
    appendRecords(outbox);
    deliverAll(outbox, 'hub');
    expect(outbox.storage.fault).toBeNull();
    expect(outbox.recovery?.reason).toMatch(/malformed/);
    expect(outbox.state.position).toBe(41);
    expect(notified).toEqual([1]);
    outbox.close();
  });
});

describe('a crash in the middle of a recovery', () => {
  test('after the replacement was made starts it again', () => {
    using harness = usedHarness();
    writeFileSync(join(harness.directory, 'outbox.sqlite.replacement'), 'complete or not');
    expect(positions(harness.open(), 'table')).toHaveLength(40);
    expect(existsSync(join(harness.directory, 'outbox.sqlite.replacement'))).toBe(false);
  });

  test('after the damaged file was moved uses the replacement', () => {
    using harness = usedHarness();
    copyFileSync(harness.file, join(harness.directory, 'outbox.sqlite.replacement'));
    rmSync(harness.file);
    writeFileSync(`${harness.file}-wal`, 'of the file that is gone');
    const outbox = harness.open();
    expect(positions(outbox, 'table')).toHaveLength(40);
    expect(asides(harness)).toHaveLength(1);
  });
});

test('what a crash left of an outbox that was being created is overwritten', () => {
  using harness = createHarness();
  const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite.replacement.unfinished'));
  db.exec('CREATE TABLE meta (key TEXT)');
  db.close();
  const outbox = harness.open();
  expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
  expect(readdirSync(harness.directory).filter((name) => name.includes('unfinished'))).toEqual([]);
});

test('a log without its outbox is moved to quarantine', () => {
  using harness = usedHarness();
  rmSync(harness.file);
  writeFileSync(`${harness.file}-wal`, Buffer.alloc(5000, 1));
  const outbox = harness.open();
  expect(outbox.recovery?.reason).toBe('only its log is left');
  expect(readdirSync(join(harness.directory, asides(harness)[0] ?? ''))).toEqual(['outbox.sqlite-wal']);
  appendRecords(outbox);
});

test('an outbox without its log starts at the last checkpoint', () => {
  using live = usedHarness(5);
  const again = live.open();
  appendRecords(again, { count: 3 });
  using harness = createHarness();
  copyFileSync(live.file, join(harness.directory, 'outbox.sqlite'));
  const outbox = harness.open();
  expect(outbox.storage.fault).toBeNull();
  expect(outbox.state.streamId).toBe(live.streamId);
});

describe('a log that is torn', () => {
  test('at any byte restores a prefix of the appended records, without an error', () => {
    using live = usedHarness(1);
    const writer = live.open();
    const log = `${live.file}-wal`;
    for (let n = 0; n < 20; n += 1) appendRecords(writer, { bytes: 500 });
    const [database, wal] = [readFileSync(live.file), readFileSync(log)];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: wal.length }), (length) => {
        using harness = createHarness();
        writeFileSync(join(harness.directory, 'outbox.sqlite'), database);
        writeFileSync(join(harness.directory, 'outbox.sqlite-wal'), wal.subarray(0, length));
        const outbox = harness.open();
        const found = positions(outbox, 'table');
        expect(found).toEqual(found.map((_, n) => n + 1));
        expect(outbox.state.position).toBe(found.length);
        expect(outbox.recovery).toBeNull();
      }),
      { numRuns: runs('torn logs', { quick: 15, full: 40 }), examples: [[0], [wal.length]] },
    );
  });
});

describe('random bytes in a file', () => {
  test('never prevent it from opening, and no damaged record is sent', () => {
    using live = usedHarness(30);
    const sound = readFileSync(live.file);
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.integer({ min: 0, max: sound.length - 64 }), fc.uint8Array({ minLength: 1, maxLength: 64 })),
          {
            minLength: 1,
            maxLength: 8,
          },
        ),
        (harms) => {
          using harness = createHarness();
          const bytes = Buffer.from(sound);
          for (const [offset, harm] of harms) bytes.set(harm, offset);
          writeFileSync(join(harness.directory, 'outbox.sqlite'), bytes);
          const outbox = openOrTooNew(harness);
          if (!outbox) return;
          for (const { json, position } of outbox.pending('table', { limit: 1000 })) {
            expect(JSON.parse(String(json))).toMatchObject({ position });
          }
          appendRecords(outbox);
          deliverAll(outbox, 'table');
          outbox.close();
          expect(isBalanced(harness)).toBe(true);
        },
      ),
      { numRuns: runs('files with random bytes', { quick: 20, full: 60 }) },
    );
  });
});

/** Harm may hit the format's number itself. */
function openOrTooNew(harness: Harness): ReturnType<Harness['open']> | null {
  try {
    return harness.open();
  } catch (error) {
    expect(error).toMatchObject({ name: 'OutboxTooNew' });
    return null;
  }
}

function overwrite(file: string, offset: number, bytes: Buffer): void {
  const all = readFileSync(file);
  writeFileSync(file, Buffer.concat([all.subarray(0, offset), bytes, all.subarray(offset + bytes.length)]));
}

function sql(file: string, text: string, ignore = false): Record<string, unknown>[] {
  const db = new DatabaseSync(file);
  try {
    return db.prepare(text).all();
  } catch (error) {
    if (!ignore) throw error;
    return [];
  } finally {
    db.close();
  }
}

function foreign(file: string): void {
  rmSync(file);
  sql(file, 'CREATE TABLE theirs (a)');
}
