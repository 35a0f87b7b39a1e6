import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { noProgress, type Outbox } from '../../../src/outbox/outbox.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { keepFileBusy } from '../busy-file.ts';
import { appendRecords, createHarness, deliverAll, type Harness, positions } from '../harness.ts';

const dead = (position: number) => ({ position, state: 'dead' as const, code: 'http-400', reason: 'no such column' });

/** Four records; of the hub 1 and 2 are dead letters, of the table 2. */
function withDeadLetters(harness: Harness): Outbox {
  const outbox = harness.open();
  appendRecords(outbox, { count: 4 });
  outbox.settle('hub', [dead(1), dead(2)], noProgress);
  outbox.settle('table', [dead(2)], noProgress);
  return outbox;
}

const balances = (outbox: Outbox): number[] => Object.values(outbox.counters()).map(imbalance);

const tombstones = (harness: Harness) => {
  const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'), { readOnly: true });
  const rows = db.prepare('SELECT position, recordId, sinks FROM tombstones ORDER BY position').all();
  db.close();
  return rows.map((row) => ({ ...row, sinks: JSON.parse(String(row.sinks)) }));
};

describe('dead letters that are retried', () => {
  const cases = [
    { which: {}, count: 3, hub: [1, 2, 3, 4], table: [1, 2, 3, 4] },
    { which: { sink: 'hub' }, count: 2, hub: [1, 2, 3, 4], table: [1, 3, 4] },
    { which: { position: 2 }, count: 2, hub: [2, 3, 4], table: [1, 2, 3, 4] },
    { which: { sink: 'hub', position: 1 }, count: 1, hub: [1, 3, 4], table: [1, 3, 4] },
    { which: { sink: 'hub', position: 3 }, count: 0, hub: [3, 4], table: [1, 3, 4] },
    { which: { sink: 'unknown' }, count: 0, hub: [3, 4], table: [1, 3, 4] },
  ];
  test.for(cases)('$which: $count are pending again', ({ which, count, hub, table }) => {
    using harness = createHarness();
    const outbox = withDeadLetters(harness);
    expect(outbox.retryDeadLetters(which)).toBe(count);
    expect(positions(outbox, 'hub')).toEqual(hub);
    expect(positions(outbox, 'table')).toEqual(table);
    expect(balances(outbox)).toEqual([0, 0]);
    outbox.close();
    const again = harness.open();
    expect(positions(again, 'hub')).toEqual(hub);
    expect(again.counters().hub).toMatchObject({ pending: hub.length, dead: 4 - hub.length });
    expect(harness.lines).toEqual([]);
  });

  test('have the same bytes and ids', () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox);
    const [before] = outbox.pending('hub', { limit: 1 });
    outbox.settle('hub', [dead(1)], noProgress);
    outbox.retryDeadLetters({});
    const [after] = outbox.pending('hub', { limit: 1 });
    expect(after).toEqual({ ...before, attempts: 1 });
    deliverAll(outbox, 'hub');
    expect(outbox.counters().hub).toMatchObject({ delivered: 1, dead: 0, pending: 0 });
  });

  test('stay dead letters while the disk takes no writes', () => {
    using harness = createHarness();
    const outbox = withDeadLetters(harness);
    const other = keepFileBusy(harness.directory);
    expect(outbox.retryDeadLetters({})).toBe(0);
    expect(outbox.purge({ state: 'dead' })).toBe(0);
    expect(outbox.storage.fault?.kind).toBe('busy');
    other.letGo();
    expect(outbox.retryDeadLetters({})).toBe(3);
    expect(outbox.storage.fault).toBeNull();
  });
});

describe('purged deliveries', () => {
  const cases = [
    { which: { state: 'dead' } as const, count: 3, hub: [3, 4], table: [1, 3, 4] },
    { which: { state: 'pending' } as const, count: 5, hub: [], table: [] },
    { which: { state: 'pending', sink: 'hub' } as const, count: 2, hub: [], table: [1, 3, 4] },
    { which: { state: 'pending', sink: 'table', position: 3 } as const, count: 1, hub: [3, 4], table: [1, 4] },
    { which: { state: 'pending', sink: 'table', limit: 2 } as const, count: 2, hub: [3, 4], table: [4] },
    { which: { state: 'pending', limit: 3 } as const, count: 3, hub: [], table: [3, 4] },
  ];
  test.for(cases)('$which: $count deliveries, counted as expired', ({ which, count, hub, table }) => {
    using harness = createHarness();
    const outbox = withDeadLetters(harness);
    expect(outbox.purge(which)).toBe(count);
    expect(positions(outbox, 'hub')).toEqual(hub);
    expect(positions(outbox, 'table')).toEqual(table);
    const counters = outbox.counters();
    expect((counters.hub?.expired ?? 0) + (counters.table?.expired ?? 0)).toBe(count);
    expect(balances(outbox)).toEqual([0, 0]);
    outbox.close();
    const again = harness.open();
    expect(positions(again, 'hub')).toEqual(hub);
    expect(again.counters()).toEqual(counters);
    expect(harness.lines).toEqual([]);
  });

  test('leaves one tombstone a record, with every sink that will never get it', () => {
    using harness = createHarness();
    const outbox = withDeadLetters(harness);
    outbox.purge({ state: 'dead', sink: 'table' });
    outbox.purge({ state: 'dead', sink: 'hub' });
    expect(tombstones(harness)).toEqual([
      { position: 1, recordId: 'record-1', sinks: ['hub'] },
      { position: 2, recordId: 'record-2', sinks: ['hub', 'table'] },
    ]);
  });

  test('leaves at most ten thousand tombstones, the newest', () => {
    using harness = createHarness();
    const outbox = harness.open({ sinks: ['hub'] });
    for (let n = 0; n < 101; n += 1) appendRecords(outbox, { count: 100 });
    expect(outbox.purge({ state: 'pending' })).toBe(10_100);
    const kept = tombstones(harness);
    expect(kept).toHaveLength(10_000);
    expect([kept[0], kept.at(-1)]).toMatchObject([{ position: 101 }, { position: 10_100 }]);
  });

  test('does not reappear when its sink leaves the configuration and returns', () => {
    using harness = createHarness();
    const outbox = withDeadLetters(harness);
    outbox.purge({ state: 'dead', sink: 'hub' });
    outbox.close();
    harness.open({ sinks: ['table'] }).close();
    const again = harness.open();
    expect(positions(again, 'hub')).toEqual([3, 4]);
    expect(balances(again)).toEqual([0, 0]);
  });

  test('are not counted as delivered when they were in flight and arrive', () => {
    using harness = createHarness();
    const outbox = harness.open({ sinks: ['hub'] });
    appendRecords(outbox, { count: 2 });
    outbox.purge({ state: 'pending' });
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], noProgress);
    expect(outbox.counters().hub).toMatchObject({ delivered: 0, expired: 2, pending: 0 });
    expect(balances(outbox)).toEqual([0]);
  });
});
