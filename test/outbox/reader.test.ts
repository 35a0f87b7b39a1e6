import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { listDeliveries } from '../../src/outbox/list-deliveries.ts';
import { noProgress } from '../../src/outbox/outbox.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { observerNamed } from '../support/observations.ts';
import { appendRecords, createHarness, damage } from './harness.ts';

test('where there is no outbox there is nothing to report', () => {
  using harness = createHarness();
  expect(readOutbox(`${harness.directory}/nowhere`)).toBeNull();
});

test('another process sees counters, progress and dead letters while the service runs, and after it ended', async () => {
  using harness = createHarness();
  const outbox = harness.open();
  outbox.rememberObserver(observerNamed('web_3'), null);
  appendRecords(outbox, { eventId: 'A', open: false });
  await harness.clock.advance(60_000);
  appendRecords(outbox, { eventId: 'B', count: 2 });
  outbox.settle('hub', [{ position: 1, state: 'delivered' }], {
    ...noProgress,
    lastSuccessAt: '2026-01-01T00:01:00.000Z',
  });
  outbox.settle('table', [{ position: 1, state: 'dead', code: 'http-400', reason: 'no such column' }], noProgress);
  const report = readOutbox(harness.directory);
  expect(report).toMatchObject({
    streamId: outbox.state.streamId,
    position: 3,
    events: [{ eventId: 'B' }],
    observer: { vmName: 'web_3' },
    recovery: null,
    sinks: [
      {
        name: 'hub',
        configured: true,
        counters: outbox.counters().hub,
        progress: { lastSuccessAt: '2026-01-01T00:01:00.000Z' },
        oldestPendingAt: '2026-01-01T00:01:00.000Z',
      },
      { name: 'table', oldestPendingAt: '2026-01-01T00:01:00.000Z', counters: { dead: 1 } },
    ],
  });
  const { rows } = listDeliveries(harness.directory, { states: ['dead'], limit: 100 }) ?? {};
  expect(rows).toMatchObject([{ position: 1, sink: 'table', code: 'http-400' }]);
  expect(report?.bytes).toBeGreaterThan(10_000);
  outbox.close();
  expect(readOutbox(harness.directory)).toMatchObject({ position: 3, sinks: report?.sinks });
});

test('a sink that has everything has no oldest pending record', () => {
  using harness = createHarness();
  harness.open({ sinks: ['hub'] });
  expect(readOutbox(harness.directory)?.sinks).toMatchObject([{ name: 'hub', oldestPendingAt: null }]);
});

test('an outbox in which a byte of an event went bad is refused', () => {
  using harness = createHarness();
  const outbox = harness.open();
  appendRecords(outbox, { eventId: 'A' });
  appendRecords(outbox, { eventId: 'B' });
  outbox.close();
  const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
  damage(db, `UPDATE events SET json = replace(json, '2026', '2006') WHERE eventKey = 'a'`);
  db.close();
  expect(() => readOutbox(harness.directory)).toThrow('the memory of the event a is not as it was written');
});
