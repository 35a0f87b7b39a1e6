import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noProgress, type PendingDelivery } from '../../src/outbox/outbox.ts';
import { type Backlog, createBacklog } from '../../src/relay/backlog.ts';
import { type Harness, openHarness } from './harness.ts';

let harness: Harness;
let backlog: Backlog;
beforeEach(() => {
  harness = openHarness();
  backlog = createBacklog('scripted', harness.outbox);
});
afterEach(() => harness.close());

const held = (eventId: string): number[] => (backlog.queues.get(eventId) ?? []).map(({ position }) => position);
const entries = (eventId: string): PendingDelivery[] => [...(backlog.queues.get(eventId) ?? [])];
/** Delivers all that is held of the events. */
const deliver = (...eventIds: string[]): void => {
  const done = eventIds.flatMap(entries);
  backlog.remove(done);
  harness.outbox.settle(
    'scripted',
    done.map(({ position }) => ({ position, state: 'delivered' })),
    noProgress,
  );
};
const append = (...eventIds: string[]): void => {
  harness.append(...eventIds);
  for (const eventId of eventIds) backlog.appended(eventId);
};
const times = (count: number, eventId: string): string[] => Array<string>(count).fill(eventId);

describe('the loaded part of the backlog', () => {
  test('is empty without pending records', () => {
    expect(backlog.hasMore()).toBe(true);
    expect(backlog.load()).toEqual([]);
    expect(backlog.hasMore()).toBe(false);
  });

  test('is the oldest record of each event, in order; later ones are loaded when their event is delivered', () => {
    append('a', 'b', 'a');
    backlog.load();
    append('a', 'c');
    backlog.load();
    expect([held('a'), held('b'), held('c')]).toEqual([[1, 3], [2], [5]]);
    expect(backlog.hasMore()).toBe(false);
    deliver('a');
    expect(backlog.hasMore()).toBe(true);
    backlog.load();
    expect(held('a')).toEqual([4]);
    deliver('a', 'b', 'c');
    expect(backlog.hasMore()).toBe(false);
    expect(backlog.records()).toBe(0);
  });

  test('is at most a thousand records, few at first, and the rest is counted', async () => {
    await harness.appendMany([...times(900, 'a'), ...times(900, 'b')]);
    const counts: number[] = [];
    for (let load = 0; load < 40; load += 1) {
      backlog.load();
      counts.push(backlog.records());
      deliver('a', 'b');
      if (!backlog.hasMore()) break;
    }
    // As long as no record has been seen they are all taken for as large as one can be: 4 MB hold 64 of them.
    expect(counts[0]).toBe(64);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1_000);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1_800);
  });

  test('unloads idle records for others, and loads them again', async () => {
    await harness.appendMany(times(2_000, 'a'));
    backlog.load();
    deliver('a');
    backlog.load();
    expect(backlog.records()).toBe(1_000);
    append('b');
    expect(backlog.load()).toEqual([]);
    const [first] = held('a');
    expect(backlog.load((eventKey) => eventKey === 'a')).toHaveLength(1);
    expect([held('a'), held('b')]).toEqual([[first], [2_001]]);
    deliver('a');
    backlog.load();
    expect(held('a').slice(0, 2)).toEqual([Number(first) + 1, Number(first) + 2]);
  });

  test('takes at most 4 MB, however large the records are', async () => {
    const description = 'x'.repeat(40_000);
    await harness.appendMany(Array.from({ length: 300 }, (_, n) => ({ eventId: `event-${n}`, description })));
    while (backlog.load().length > 0);
    const bytes = [...backlog.queues.values()].flat().reduce((sum, { json }) => sum + json.length, 0);
    expect(bytes).toBeGreaterThan(3 * 2 ** 20);
    expect(bytes).toBeLessThanOrEqual(4 * 2 ** 20);
  });

  test('never unloads records in flight, nor the only record of an event', async () => {
    await harness.appendMany(times(2_000, 'a'));
    backlog.load();
    deliver('a');
    backlog.load();
    append('b');
    expect(backlog.load(() => false)).toEqual([]);
    expect(backlog.records()).toBe(1_000);
  });
});

describe('an urgent record', () => {
  test('is loaded regardless of what is pending before it', async () => {
    await harness.appendMany(times(500, 'a'));
    append('b');
    backlog.load();
    expect(held('b')).toEqual([]);
    backlog.loadEvents(['b']);
    expect(held('b')).toEqual([501]);
  });

  test('is loaded behind the earlier records of its event', () => {
    append('a', 'b');
    backlog.load();
    append('a', 'b');
    backlog.loadEvents(['a']);
    expect([held('a'), held('b')]).toEqual([[1, 3], [2]]);
    deliver('a');
    backlog.load();
    expect(held('a')).toEqual([]);
    expect(backlog.hasMore()).toBe(false);
  });

  test('beyond the limit is completed later, also before anything else was loaded', async () => {
    await harness.appendMany(times(150, 'a'));
    backlog.loadEvents(['a']);
    expect(held('a').length).toBeLessThan(150);
    backlog.load();
    deliver('a');
    expect(backlog.hasMore()).toBe(true);
    while (backlog.hasMore() && backlog.load().length > 0) deliver('a');
    expect(harness.counters()).toMatchObject({ pending: 0, delivered: 150 });
  });

  test('beyond the limit is completed later', async () => {
    await harness.appendMany(times(150, 'a'));
    backlog.load();
    deliver('a');
    backlog.loadEvents(['a']);
    deliver('a');
    while (backlog.hasMore() && backlog.load().length > 0) deliver('a');
    expect(harness.counters()).toMatchObject({ pending: 0, delivered: 150 });
  });
});

test('a hundred urgent events take little more memory than is allowed', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `event-${index}`);
  await harness.appendMany(names.flatMap((name) => times(30, name)));
  backlog.loadEvents(names);
  expect(names.filter((name) => held(name).length === 0)).toEqual([]);
  expect(backlog.records()).toBeLessThanOrEqual(2_000);
});

test('reconciling adds a requeued record to its loaded event, in order', () => {
  append('a', 'a', 'a');
  backlog.load();
  const [, , last] = entries('a');
  backlog.remove(entries('a').slice(0, 2));
  expect(held('a')).toEqual([last?.position]);
  backlog.compare(() => false);
  backlog.load();
  harness.outbox.settle('scripted', [{ position: 3, state: 'delivered' }], noProgress);
  if (last) backlog.remove([last]);
  backlog.load();
  expect(held('a')).toEqual([1, 2]);
});

test('reconciling drops records that left the outbox, unless they are in flight', () => {
  append('a', 'a', 'b', 'b');
  backlog.load();
  harness.outbox.settle(
    'scripted',
    [1, 3, 4].map((position) => ({ position, state: 'delivered' })),
    noProgress,
  );
  backlog.compare((eventKey) => eventKey !== 'b');
  expect([held('a'), held('b')]).toEqual([[2], [3, 4]]);
  backlog.compare(() => true);
  expect([held('a'), held('b')]).toEqual([[2], []]);
  expect(backlog.records()).toBe(1);
});

test('reconciling drops nothing that is behind the records that it reads', async () => {
  await harness.appendMany([...times(1_100, 'a'), 'b']);
  backlog.loadEvents(['a', 'b']);
  expect(held('b')).toEqual([1_101]);
  harness.outbox.settle('scripted', [{ position: 50, state: 'delivered' }], noProgress);
  backlog.compare(() => true);
  expect(held('b')).toEqual([1_101]);
  expect(held('a').slice(48, 50)).toEqual([49, 51]);
});

test('isolated records share a group', () => {
  append('a', 'b', 'a');
  backlog.load();
  backlog.isolate(entries('a'));
  backlog.isolate(entries('b'));
  expect([...entries('a'), ...entries('b')].map(({ group }) => group)).toEqual([1, 1, 2]);
});
