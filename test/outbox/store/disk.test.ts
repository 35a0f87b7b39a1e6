import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { noCounters, noProgress } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { attempt } from '../../../src/outbox/store/files.ts';
import { reserveBytes } from '../../../src/outbox/store/reserve.ts';
import { appendRecords, createHarness, deliverAll, positions } from '../harness.ts';
import { mountSmallDisk, whyNoMount } from '../small-disk.ts';

const reason = whyNoMount();
if (reason)
  console.warn(`  skipped: the outbox on a full and on a read-only disk, since none can be mounted here: ${reason}`);

describe.skipIf(reason !== null)('on a full disk', () => {
  test('the reserve is freed for what must be written, and created again when there is room', () => {
    using disk = mountSmallDisk(24);
    using harness = createHarness(join(disk.path, 'state'));
    const outbox = harness.open();
    const reserve = join(harness.directory, 'reserve.bin');
    expect(statSync(reserve).size).toBe(reserveBytes);
    disk.fill();
    for (let n = 0; n < 40; n += 1) appendRecords(outbox, { bytes: 4000 });
    expect(existsSync(reserve)).toBe(false);
    expect(outbox.storage.fault).toBeNull();
    expect(readOutbox(harness.directory)?.position).toBe(40);
    outbox.maintain();
    expect(existsSync(reserve)).toBe(false);
    disk.empty();
    outbox.maintain();
    expect(statSync(reserve).size).toBe(reserveBytes);
  });

  test('records are sent from memory, and written once there is space', async () => {
    using disk = mountSmallDisk(16);
    using harness = createHarness(join(disk.path, 'state'));
    const outbox = harness.open();
    appendRecords(outbox, { count: 2 });
    disk.fill();
    rmSync(join(harness.directory, 'reserve.bin'), { force: true });
    disk.fill();
    const notified: number[] = [];
    outbox.onAppended((records) => notified.push(...records.map(({ position }) => position)));
    for (let n = 0; n < 100; n += 1) appendRecords(outbox, { bytes: 2000 });
    expect(outbox.storage.fault).toMatchObject({ kind: 'full', since: '2026-01-01T00:00:00.000Z' });
    expect(outbox.state.position).toBe(102);
    expect(notified).toHaveLength(100);
    const { undurable } = outbox.storage;
    expect(undurable).toBeGreaterThan(20);
    expect(positions(outbox, 'hub')).toHaveLength(102);
    outbox.settle('hub', [{ position: 102, state: 'delivered' }], noProgress);
    expect(outbox.counters().hub).toMatchObject({ accepted: 102, delivered: 1, pending: 101, undurable: 1 });
    expect(harness.lines.filter(({ level }) => level === 'error')).toHaveLength(1);

    disk.empty();
    outbox.retry();
    expect(outbox.storage.fault?.kind).toBe('full');
    await harness.clock.advance(1_000);
    outbox.retry();
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    outbox.close();
    const again = harness.open();
    expect(again.state.position).toBe(102);
    expect(positions(again, 'hub')).toEqual(Array.from({ length: 101 }, (_, n) => n + 1));
    expect(again.counters().hub).toMatchObject({ accepted: 102, delivered: 1, undurable: 1 });
    expect(harness.lines.at(-1)).toMatchObject({ level: 'info', fields: { code: 'writable' } });
  });

  test('no position is used twice, also after a kill with records in memory', () => {
    using disk = mountSmallDisk(16);
    using harness = createHarness(join(disk.path, 'state'));
    const outbox = harness.open();
    appendRecords(outbox, { count: 2 });
    disk.fill();
    rmSync(join(harness.directory, 'reserve.bin'), { force: true });
    disk.fill();
    for (let n = 0; n < 100; n += 1) appendRecords(outbox, { bytes: 2000 });
    expect(outbox.storage.undurable).toBeGreaterThan(20);
    // What a kill leaves: the files as they are now.
    using killed = createHarness();
    cpSync(harness.directory, killed.directory, { recursive: true });
    const stored = readOutbox(killed.directory)?.position ?? 0;
    expect(stored).toBeLessThan(80);
    const after = killed.open();
    expect(after.recovery).toBeNull();
    expect(after.state).toMatchObject({ streamId: outbox.state.streamId, position: 102 });
    expect(positions(after, 'hub')).toHaveLength(stored);
    expect(killed.lines).toMatchObject([{ level: 'warn', fields: { code: 'not-stored', from: stored + 1, to: 102 } }]);
    expect(appendRecords(after)).toMatchObject([{ position: 103 }]);
    after.close();
    const last = killed.open();
    expect(last.state.position).toBe(103);
    expect(positions(last, 'table').at(-1)).toBe(103);
    expect(killed.lines).toHaveLength(1);
  });

  test('delivered records are pruned for new ones, though the quota of the outbox is not reached', () => {
    using disk = mountSmallDisk(32);
    using harness = createHarness(join(disk.path, 'state'));
    const outbox = harness.open({ sinks: ['hub'] });
    for (let n = 0; n < 40; n += 1) appendRecords(outbox, { eventId: 'BEFORE', bytes: 40_000 });
    deliverAll(outbox, 'hub');
    outbox.maintain();
    for (let n = 0; n < 20; n += 1) {
      // The process that fills the disk takes what the reserve freed, too.
      disk.fill();
      appendRecords(outbox, { eventId: 'AFTER', bytes: 20_000 });
    }
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    expect(readOutbox(harness.directory)?.position).toBe(60);
    expect(positions(outbox, 'hub')).toEqual(Array.from({ length: 20 }, (_, n) => 41 + n));
  });

  test('an outbox that was opened on a full disk grows when there is space again, and discards nothing', () => {
    using disk = mountSmallDisk(200);
    using harness = createHarness(join(disk.path, 'state'));
    harness.open().close();
    disk.fill(2 ** 20);
    const outbox = harness.open();
    expect(outbox.fill.limitBytes).toBe(2 ** 20);
    disk.empty();
    for (let n = 0; n < 60; n += 1) appendRecords(outbox, { eventId: `EVENT-${n}`, open: false, bytes: 40_000 });
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    expect(positions(outbox, 'hub')).toHaveLength(60);
    expect(outbox.fill.limitBytes).toBeGreaterThan(9 * 2 ** 20);
    expect(outbox.fill.limitBytes).toBeLessThanOrEqual(10 * 2 ** 20);
  });

  test('at start without inodes, records are kept in memory, and the message says what is missing', async () => {
    using disk = mountSmallDisk(24, 32);
    using harness = createHarness(join(disk.path, 'state'));
    harness.open().close();
    const files = Array.from({ length: 32 }, (_, n) => join(disk.path, `file-${n}`));
    for (const file of files) attempt(() => writeFileSync(file, ''));
    const outbox = harness.open();
    appendRecords(outbox);
    expect(outbox.storage).toMatchObject({ fault: { kind: 'full', code: 'ENOSPC' }, undurable: 1 });
    expect(harness.lines.at(-1)?.message).toContain('has no inodes left');
    for (const file of files) rmSync(file, { force: true });
    await harness.clock.advance(5_000);
    outbox.retry();
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    expect(readOutbox(harness.directory)?.position).toBe(1);
  });

  test.each(['is its own', 'is that of 0.1.0'])('at start the reserve is freed, also where the outbox %s', (whose) => {
    using disk = mountSmallDisk(24);
    using harness = createHarness(join(disk.path, 'state'));
    const before = harness.open();
    if (whose === 'is its own') appendRecords(before, { count: 2 });
    before.close();
    if (whose !== 'is its own') {
      const file = readFileSync(join(import.meta.dirname, '../../fixtures/outboxes/0.1.0.sqlite.gz'));
      writeFileSync(join(harness.directory, 'outbox.sqlite'), gunzipSync(file));
    }
    disk.fill();
    const outbox = harness.open();
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    const { position } = outbox.state;
    appendRecords(outbox, { count: 4 });
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    expect(readOutbox(harness.directory)?.position).toBe(position + 4);
  });

  test.each([0, 100_000])(
    'at start a damaged outbox is replaced in the space of the reserve, with %d bytes free',
    (free) => {
      using disk = mountSmallDisk(24);
      using harness = createHarness(join(disk.path, 'state'));
      const before = harness.open();
      appendRecords(before, { count: 20, bytes: 2000 });
      before.close();
      const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
      db.exec("DELETE FROM meta WHERE key = 'sentinel'");
      db.close();
      disk.fill(free);
      const outbox = harness.open();
      expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
      expect(outbox.recovery).toMatchObject({ salvaged: { stream: true, records: 20, lost: 0 } });
      expect(positions(outbox, 'hub')).toHaveLength(20);
    },
  );

  test('at start on a read-only disk an outbox of 0.1.0 is read and sent', () => {
    using disk = mountSmallDisk(16);
    using harness = createHarness(join(disk.path, 'state'));
    harness.open().close();
    const file = readFileSync(join(import.meta.dirname, '../../fixtures/outboxes/0.1.0.sqlite.gz'));
    writeFileSync(join(harness.directory, 'outbox.sqlite'), gunzipSync(file));
    const stored = readOutbox(harness.directory);
    expect(stored?.position).toBeGreaterThan(0);
    disk.mount('ro');
    const outbox = harness.open({ sinks: stored?.sinks.map(({ name }) => name) ?? [] });
    expect(outbox.state.position).toBe(stored?.position);
    expect(stored?.sinks.map(({ name }) => outbox.counters()[name]?.pending)).toEqual(
      stored?.sinks.map(({ counters }) => counters.pending),
    );
    disk.mount('rw');
  });

  test('the start succeeds', () => {
    using disk = mountSmallDisk(1);
    using harness = createHarness(join(disk.path, 'state'));
    disk.fill();
    const outbox = harness.open();
    expect(outbox.storage.fault).not.toBeNull();
    appendRecords(outbox);
    expect(positions(outbox, 'hub')).toEqual([1]);
    deliverAll(outbox, 'hub');
    expect(positions(outbox, 'hub')).toEqual([]);
    expect(imbalance(outbox.counters().hub ?? (undefined as never))).toBe(0);
  });
});

test('no position is used twice when the file cannot be opened for writing', () => {
  using harness = createHarness();
  const before = harness.open();
  appendRecords(before, { count: 2 });
  before.close();
  // SQLite cannot make its index here.
  mkdirSync(join(harness.directory, 'outbox.sqlite-shm'));
  const outbox = harness.open();
  expect(outbox.storage.fault).not.toBeNull();
  appendRecords(outbox, { count: 3 });
  expect(positions(outbox, 'hub')).toEqual([1, 2, 3, 4, 5]);
  using killed = createHarness();
  cpSync(harness.directory, killed.directory, { recursive: true });
  rmSync(join(killed.directory, 'outbox.sqlite-shm'), { recursive: true });
  const after = killed.open();
  expect(after.storage.fault).toBeNull();
  expect(appendRecords(after)).toMatchObject([{ position: 6, streamId: outbox.state.streamId }]);
});

test.skipIf(process.platform !== 'linux')('a file that can be read only in part is not kept open', () => {
  using harness = createHarness();
  appendRecords(harness.open());
  const file = join(harness.directory, 'outbox.sqlite');
  using dead = createHarness();
  copyFileSync(file, join(dead.directory, 'outbox.sqlite'));
  const db = new DatabaseSync(join(dead.directory, 'outbox.sqlite'));
  db.exec('DROP TABLE sinks');
  db.close();
  // No lock can be taken here, so the file is opened for reading only.
  mkdirSync(join(dead.directory, 'lock.sqlite'));
  const outbox = dead.open();
  expect(outbox.storage.fault).toMatchObject({ kind: 'unavailable' });
  expect(outbox.state.position).toBe(0);
  const open = readdirSync('/proc/self/fd').map((fd) => attempt(() => readlinkSync(`/proc/self/fd/${fd}`)));
  expect(open.filter((path) => path?.startsWith(file))).not.toEqual([]);
  expect(open.filter((path) => path?.startsWith(join(dead.directory, 'outbox.sqlite')))).toEqual([]);
  outbox.close();
  rmSync(join(dead.directory, 'lock.sqlite'), { recursive: true });
});

describe.skipIf(reason !== null)('on a disk that takes no writes', () => {
  test('the content of the file is known and sent, and delivery updates are written once possible', async () => {
    using disk = mountSmallDisk(24);
    using harness = createHarness(join(disk.path, 'state'));
    const before = harness.open();
    appendRecords(before, { count: 3 });
    const { state } = before;
    before.close();
    disk.mount('ro');
    const outbox = harness.open({ sinks: ['hub', 'table', 'added'] });
    expect(outbox.state).toEqual(state);
    expect(outbox.counters().added).toEqual(noCounters);
    expect(outbox.storage.fault).not.toBeNull();
    expect(positions(outbox, 'hub')).toEqual([1, 2, 3]);
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], noProgress);
    appendRecords(outbox);
    expect(positions(outbox, 'hub')).toEqual([2, 3, 4]);
    expect(outbox.counters().hub).toMatchObject({ accepted: 4, delivered: 1, pending: 3, undurable: 0 });
    disk.mount('rw');
    await harness.clock.advance(5_000);
    outbox.retry();
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    outbox.close();
    const again = harness.open();
    expect(again.state.position).toBe(4);
    expect(positions(again, 'hub')).toEqual([2, 3, 4]);
    expect(positions(again, 'table')).toEqual([1, 2, 3, 4]);
  });

  test.each([{ companions: ['-wal'] }, { companions: ['-wal', '-shm'] }])(
    'a log that was not played back is read too, with $companions beside the outbox',
    ({ companions }) => {
      using disk = mountSmallDisk(24);
      using harness = createHarness();
      appendRecords(harness.open(), { count: 3 });
      // As after a kill -9: the service never closed it.
      const directory = join(disk.path, 'state');
      mkdirSync(directory);
      for (const suffix of ['', ...companions]) {
        copyFileSync(join(harness.directory, `outbox.sqlite${suffix}`), join(directory, `outbox.sqlite${suffix}`));
      }
      disk.mount('ro');
      using dead = createHarness(directory);
      const copies = join(harness.directory, 'copies');
      mkdirSync(copies);
      vi.stubEnv('TMPDIR', copies);
      const outbox = dead.open();
      vi.unstubAllEnvs();
      expect(positions(outbox, 'hub')).toEqual([1, 2, 3]);
      expect(readdirSync(copies)).toEqual([]);
      outbox.close();
      disk.mount('rw');
    },
  );
});
