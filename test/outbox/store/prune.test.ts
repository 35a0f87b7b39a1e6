import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noProgress } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { deliveredBounds } from '../../../src/outbox/store/retention.ts';
import { runs } from '../../support/runs.ts';
import { appendRecords, createHarness, deliverAll, type Harness, positions } from '../harness.ts';

const day = 24 * 3_600_000;

function rows(harness: Harness, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'), { readOnly: true });
  const found = db.prepare(sql).all();
  db.close();
  return found;
}

describe('delivered records', () => {
  test('are kept for a week, others for as long as it takes', () => {
    using harness = createHarness();
    const outbox = harness.open({ sinks: ['hub'] });
    appendRecords(outbox, { count: 3 });
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], noProgress);
    outbox.settle('hub', [{ position: 2, state: 'dead', code: 'x', reason: 'y' }], noProgress);
    harness.clock.stepWall(7 * day);
    outbox.maintain();
    expect(rows(harness, 'SELECT position FROM records')).toHaveLength(3);
    harness.clock.stepWall(1);
    outbox.maintain();
    expect(rows(harness, 'SELECT position FROM records').map(({ position }) => position)).toEqual([2, 3]);
    expect(rows(harness, 'SELECT position FROM bodies')).toHaveLength(2);
    expect(rows(harness, 'SELECT position FROM deliveries')).toHaveLength(2);
    expect(outbox.counters().hub).toMatchObject({ accepted: 3, delivered: 1, pending: 1, dead: 1, expired: 0 });
    expect(harness.lines).toEqual([]);
  });

  test('are kept up to 16 MB, and what they leave is given back to the disk', () => {
    using harness = createHarness();
    const outbox = harness.open({ sinks: ['hub'] });
    for (let n = 0; n < 6; n += 1) appendRecords(outbox, { bytes: 4 * 2 ** 20 });
    deliverAll(outbox, 'hub');
    const size = (): number => statSync(join(harness.directory, 'outbox.sqlite')).size;
    outbox.maintain();
    const [{ bytes } = {}] = rows(harness, 'SELECT sum(bytes) AS bytes FROM records');
    expect(bytes).toBeGreaterThan(deliveredBounds.bytes / 2);
    expect(bytes).toBeLessThanOrEqual(deliveredBounds.bytes);
    for (let n = 0; n < 3; n += 1) outbox.maintain();
    expect(size()).toBeLessThan(18 * 2 ** 20);
  });
});

describe('an outbox that is full', () => {
  test('discards delivered records first, then the oldest ended event completely, and logs it', () => {
    using harness = createHarness();
    const outbox = harness.open({ maxMegabytes: 1, sinks: ['hub', 'table'] });
    appendRecords(outbox, { eventId: 'DELIVERED', bytes: 30_000, open: false });
    deliverAll(outbox, 'hub');
    deliverAll(outbox, 'table');
    appendRecords(outbox, { eventId: 'STILL-OPEN', bytes: 30_000 });
    for (const eventId of ['FIRST-ENDED', 'SECOND-ENDED', 'FIRST-ENDED', 'SECOND-ENDED']) {
      appendRecords(outbox, { eventId, bytes: 120_000, open: false });
    }
    outbox.settle('hub', [{ position: 3, state: 'delivered' }], noProgress);
    outbox.settle('hub', [{ position: 5, state: 'dead', code: 'x', reason: 'y' }], noProgress);
    appendRecords(outbox, { eventId: 'NEWEST-ENDED', bytes: 230_000, open: false });
    outbox.maintain();
    expect(
      rows(harness, 'SELECT DISTINCT eventKey FROM records ORDER BY position').map(({ eventKey }) => eventKey),
    ).toEqual(['still-open', 'second-ended', 'newest-ended']);
    expect(rows(harness, 'SELECT position, eventKey, sinks, recordId FROM tombstones')).toEqual([
      expect.objectContaining({ position: 3, eventKey: 'first-ended', sinks: '["table"]', recordId: 'record-3' }),
      expect.objectContaining({ position: 5, eventKey: 'first-ended', sinks: '["hub","table"]' }),
    ]);
    expect(outbox.counters().hub).toMatchObject({ accepted: 7, delivered: 2, pending: 4, dead: 0, expired: 1 });
    expect(outbox.counters().table).toMatchObject({ accepted: 7, delivered: 1, pending: 4, dead: 0, expired: 2 });
    expect(harness.lines.map(({ level, fields }) => [level, fields.code])).toContainEqual(['error', 'expired']);
    expect(positions(outbox, 'table')).toEqual([2, 4, 6, 7]);
  });

  test('never discards an open event: what does not fit stays in memory and is sent from there', () => {
    using harness = createHarness();
    const outbox = harness.open({ maxMegabytes: 1 });
    for (let n = 0; n < 20; n += 1) appendRecords(outbox, { eventId: 'OPEN', bytes: 60_000 });
    expect(outbox.storage.fault).toMatchObject({ kind: 'full' });
    expect(outbox.storage.undurable).toBeGreaterThan(1);
    expect(positions(outbox, 'hub')).toHaveLength(20);
    expect(statSync(join(harness.directory, 'outbox.sqlite')).size).toBeLessThanOrEqual(2 ** 20);
    // When the sink recovers there is room again.
    deliverAll(outbox, 'hub');
    deliverAll(outbox, 'table');
    outbox.close();
    for (const counters of Object.values(harness.open().counters())) expect(imbalance(counters)).toBe(0);
  });

  test('counts no result of what it discarded, also while nothing can be written', () => {
    using harness = createHarness();
    const outbox = harness.open({ maxMegabytes: 1, sinks: ['hub'] });
    appendRecords(outbox, { eventId: 'ENDED', bytes: 60_000, open: false });
    for (let n = 0; n < 20; n += 1) appendRecords(outbox, { eventId: 'OPEN', bytes: 60_000 });
    expect(outbox.storage.fault).toMatchObject({ kind: 'full' });
    // It was on its way.
    outbox.settle('hub', [{ position: 1, state: 'dead', code: 'x', reason: 'y' }], noProgress);
    expect(outbox.counters().hub).toMatchObject({ accepted: 21, delivered: 0, pending: 20, dead: 0, expired: 1 });
    outbox.settle('hub', [{ position: 2, state: 'delivered' }], noProgress);
    expect(outbox.counters().hub).toMatchObject({ accepted: 21, delivered: 1, pending: 19, dead: 0, expired: 1 });
  });

  test('makes room for new records without waiting for maintenance', () => {
    using harness = createHarness();
    const outbox = harness.open({ maxMegabytes: 1 });
    for (let n = 0; n < 40; n += 1) appendRecords(outbox, { eventId: `ENDED-${n}`, bytes: 60_000, open: false });
    expect(outbox.storage.fault).toBeNull();
    expect(positions(outbox, 'hub').at(-1)).toBe(40);
    const { hub } = outbox.counters();
    expect(hub?.expired).toBeGreaterThan(20);
    expect(imbalance(hub ?? (undefined as never))).toBe(0);
    expect(readOutbox(harness.directory)?.bytes).toBeLessThan(1.3 * 2 ** 20);
  });

  test('does not discard an event to make room for its own end: a crash before its commit would leave it open', () => {
    using harness = createHarness();
    const outbox = harness.open({ maxMegabytes: 1, sinks: ['hub'] });
    for (let n = 0; n < 12; n += 1) appendRecords(outbox, { bytes: 50_000 });
    appendRecords(outbox, { bytes: 250_000, open: false });
    expect(outbox.counters().hub).toMatchObject({ pending: 13, expired: 0 });
    expect(outbox.storage).toMatchObject({ fault: { kind: 'full' }, undurable: 1 });
  });

  test('warns once at 70 %, and logs when it is under 60 % again', () => {
    using harness = createHarness();
    const outbox = harness.open({ maxMegabytes: 1, sinks: ['hub'] });
    expect(outbox.fill).toMatchObject({ limitBytes: 2 ** 20, isAlarming: false });
    for (let n = 0; n < 10; n += 1) appendRecords(outbox, { eventId: `ENDED-${n}`, bytes: 66_000, open: false });
    outbox.maintain();
    outbox.maintain();
    expect(outbox.fill.isAlarming).toBe(true);
    expect(harness.lines.map(({ fields }) => fields.code)).toEqual(['fill']);
    expect(harness.lines[0]?.message).toMatch(/7\d %|8\d %/);
    deliverAll(outbox, 'hub');
    harness.clock.stepWall(8 * day);
    outbox.maintain();
    expect(outbox.fill.isAlarming).toBe(false);
    expect(harness.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });
});

describe('under any sequence of writes in an outbox that is too small', () => {
  const sinks = ['hub', 'table'] as const;
  const steps = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        append: fc.constantFrom('A', 'B', 'C', 'D'),
        kilobytes: fc.integer({ min: 20, max: 60 }),
        open: fc.boolean(),
        // An append of over 256 KB takes several transactions, each at a turn of the event loop of its own.
        count: fc.oneof(
          { weight: 9, arbitrary: fc.constant(1) },
          { weight: 1, arbitrary: fc.integer({ min: 5, max: 14 }) },
        ),
      }),
    },
    { weight: 2, arbitrary: fc.record({ deliver: fc.constantFrom(...sinks), count: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 1, arbitrary: fc.constantFrom('maintain', 'next turn') },
  );

  test('every record is delivered, pending, or discarded with a tombstone, and open events are complete', async () => {
    let expirations = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 30, maxLength: 60 }), async (history) => {
        using harness = createHarness();
        const outbox = harness.open({ maxMegabytes: 1, sinks });
        const delivered = { hub: new Set<number>(), table: new Set<number>() };
        for (const step of history) {
          if (step === 'maintain') outbox.maintain();
          else if (step === 'next turn') await nextTurn();
          else if ('append' in step) {
            const { append, kilobytes, open, count } = step;
            appendRecords(outbox, { eventId: append, bytes: kilobytes * 1024, open, count });
          } else {
            for (const position of positions(outbox, step.deliver, step.count)) {
              outbox.settle(step.deliver, [{ position, state: 'delivered' }], noProgress);
              delivered[step.deliver].add(position);
            }
          }
          for (const counters of Object.values(outbox.counters())) expect(imbalance(counters)).toBe(0);
        }
        for (let turns = 0; turns < 10; turns += 1) await nextTurn();
        const isInMemory = outbox.storage.undurable > 0;
        const buried = rows(harness, 'SELECT position, sinks FROM tombstones');
        for (const sink of sinks) {
          const lost = buried.filter((row) => String(row.sinks).includes(sink)).map(({ position }) => Number(position));
          const all = [...delivered[sink], ...positions(outbox, sink), ...lost].sort((a, b) => a - b);
          if (!isInMemory) expect(all).toEqual(Array.from({ length: outbox.state.position }, (_, n) => n + 1));
          expect(outbox.counters()[sink]).toMatchObject({ accepted: outbox.state.position });
        }
        expirations += buried.length;
      }),
      { numRuns: runs('histories of retention', { quick: 15, full: 40 }), endOnFailure: true },
    );
    expect(expirations).toBeGreaterThan(0);
  }, 120_000);
});

test('pruning that fails is logged and retried', () => {
  using harness = createHarness();
  const outbox = harness.open({ sinks: ['hub'] });
  appendRecords(outbox);
  deliverAll(outbox, 'hub');
  harness.clock.stepWall(8 * day);
  const other = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
  other.exec('BEGIN IMMEDIATE');
  outbox.maintain();
  expect(harness.lines).toMatchObject([{ level: 'warn', fields: { code: 'sqlite-5' } }]);
  other.close();
  outbox.maintain();
  expect(rows(harness, 'SELECT position FROM records')).toEqual([]);
});
