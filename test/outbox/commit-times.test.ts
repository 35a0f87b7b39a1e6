import { cpSync } from 'node:fs';
import { expect, test } from 'vitest';
import { noProgress, type SinkProgress } from '../../src/outbox/outbox.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { appendRecords, createHarness } from './harness.ts';

/** An outbox of one sink with this many records, on a disk of which each commit takes `tookMs`. */
function slowOutbox({ records, tookMs }: { readonly records: number; readonly tookMs: number }) {
  const harness = createHarness();
  let spentMs = 0;
  const clock = { ...harness.clock, monotonicMs: () => harness.clock.monotonicMs() + spentMs };
  const outbox = harness.open({ clock, sinks: ['hub'] });
  for (let n = 0; n < records; n += 50) appendRecords(outbox, { count: 50 });
  const progress: SinkProgress = {
    ...noProgress,
    // Read within the transaction that writes it.
    get step() {
      spentMs += tookMs;
      return 0;
    },
  };
  return {
    harness,
    outbox,
    deliver: (from: number, count: number): void =>
      outbox.settle(
        'hub',
        Array.from({ length: count }, (_, n) => ({ position: from + n, state: 'delivered' as const })),
        progress,
      ),
    onDisk: () => readOutbox(harness.directory)?.sinks[0]?.counters.delivered,
    [Symbol.dispose]: () => harness[Symbol.dispose](),
  };
}

test.each([
  { name: 'a commit of 1 ms is followed by 9 ms of rest', tookMs: 1, restMs: 9 },
  { name: 'a commit of 10 ms is followed by 90 ms of rest', tookMs: 10, restMs: 90 },
  { name: 'a disk that stalled for 3 s rests for no longer than 100 ms', tookMs: 3000, restMs: 100 },
  { name: 'a commit that took no time is followed by none', tookMs: 0, restMs: 0 },
])('$name', async ({ tookMs, restMs }) => {
  using slow = slowOutbox({ records: 100, tookMs });
  slow.deliver(1, 1);
  expect(slow.onDisk()).toBe(1);
  slow.deliver(2, 1);
  slow.deliver(3, 1);
  expect(slow.onDisk()).toBe(restMs === 0 ? 3 : 1);
  if (restMs > 0) await slow.harness.clock.advance(restMs - 1);
  expect(slow.onDisk()).toBe(restMs === 0 ? 3 : 1);
  await slow.harness.clock.advance(1);
  expect(slow.onDisk()).toBe(3);
});

test('as many delivery updates as fill a transaction are written without a rest', () => {
  using slow = slowOutbox({ records: 600, tookMs: 10 });
  slow.deliver(1, 1);
  slow.deliver(2, 499);
  expect(slow.onDisk()).toBe(1);
  slow.deliver(501, 1);
  expect(slow.onDisk()).toBe(501);
});

test('delivery updates that wait are neither offered again nor counted, and are written by the end', () => {
  using slow = slowOutbox({ records: 100, tookMs: 10 });
  slow.deliver(1, 1);
  slow.deliver(2, 98);
  expect(slow.outbox.pending('hub', { limit: 10 }).map(({ position }) => position)).toEqual([100]);
  expect(slow.outbox.counters().hub).toMatchObject({ accepted: 100, delivered: 1, pending: 99 });
  slow.outbox.close();
  expect(slow.onDisk()).toBe(99);
});

test('a large append that a kill interrupts was not counted before', () => {
  using harness = createHarness();
  const outbox = harness.open();
  appendRecords(outbox, { count: 2 });
  const before = outbox.counters();
  appendRecords(outbox, { count: 1000 });
  expect(outbox.counters()).toEqual(before);
  using killed = createHarness();
  cpSync(harness.directory, killed.directory, { recursive: true });
  expect(killed.open().counters()).toEqual(before);
});
