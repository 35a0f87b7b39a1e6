import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { logBacklog } from '../../src/outbox/log-backlog.ts';
import { noCounters, noProgress, type Outbox } from '../../src/outbox/outbox.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { imbalance } from '../../src/outbox/store/counters.ts';
import { OutboxInUse } from '../../src/outbox/store/errors.ts';
import { memoryBounds } from '../../src/outbox/store/retention.ts';
import { observerNamed } from '../support/observations.ts';
import { keepFileBusy } from './busy-file.ts';
import { appendRecords, createHarness, deliverAll, type Harness, positions } from './harness.ts';

/** A state directory that cannot be made, as the path leads through a file. */
function blockedHarness(): Harness & { unblock(): void } {
  const harness = createHarness();
  const obstacle = join(harness.directory, 'obstacle');
  writeFileSync(obstacle, '');
  return {
    ...harness,
    open: (options) => harness.open({ directory: join(obstacle, 'state'), ...options }),
    directory: join(obstacle, 'state'),
    unblock: () => rmSync(obstacle),
    [Symbol.dispose]: () => harness[Symbol.dispose](),
  };
}

const balanceOf = (outbox: Outbox): number[] => Object.values(outbox.counters()).map(imbalance);

describe('a commit that fails', () => {
  test('loses no record: listeners are notified, records are sent from memory, and the next success writes them all', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const notified: number[] = [];
    outbox.onAppended((records) => notified.push(...records.map(({ position }) => position)));
    appendRecords(outbox, { count: 2 });
    const other = keepFileBusy(harness.directory);
    appendRecords(outbox, { eventId: 'EVENT-2' });
    expect(notified).toEqual([1, 2, 3]);
    expect(outbox.storage).toMatchObject({ fault: { kind: 'busy', code: 'sqlite-5' }, undurable: 1 });
    expect(positions(outbox, 'hub')).toEqual([1, 2, 3]);
    expect(outbox.pending('hub', { limit: 10, exceptEvents: new Set(['event-1']) })).toHaveLength(1);
    expect(outbox.pending('hub', { limit: 10, onlyEvents: new Set(['event-1']) })).toHaveLength(2);
    expect(readOutbox(harness.directory)?.position).toBe(2);
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.retry();
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    expect(readOutbox(harness.directory)?.position).toBe(3);
    expect(harness.lines.map(({ fields }) => fields.code)).toEqual(['sqlite-5', 'writable']);
  });

  test('notifies those who listen when it has ended, once', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const recoveries = { heard: 0, afterRemoval: 0 };
    outbox.onRecovered(() => {
      recoveries.heard += 1;
    });
    const remove = outbox.onRecovered(() => {
      recoveries.afterRemoval += 1;
    });
    remove();
    appendRecords(outbox);
    expect(recoveries.heard).toBe(0);
    const other = keepFileBusy(harness.directory);
    appendRecords(outbox);
    await harness.clock.advance(1_000);
    outbox.retry();
    expect(recoveries.heard).toBe(0);
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.retry();
    appendRecords(outbox);
    expect(recoveries).toEqual({ heard: 1, afterRemoval: 0 });
  });

  test('of a delivery update repeats no delivery in this process', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 3 });
    const other = keepFileBusy(harness.directory);
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], { ...noProgress, lastSuccessAt: 'now' });
    outbox.settle('hub', [{ position: 2, state: 'pending', code: 'http-503', reason: 'busy' }], noProgress);
    outbox.settle('hub', [{ position: 2, state: 'pending', code: 'http-503', reason: 'busy' }], noProgress);
    outbox.settle('hub', [{ position: 3, state: 'dead', code: 'http-400', reason: 'no' }], {
      ...noProgress,
      step: 2,
    });
    expect(outbox.pending('hub', { limit: 10 })).toMatchObject([{ position: 2, attempts: 2 }]);
    expect(outbox.progress('hub').step).toBe(2);
    expect(outbox.counters().hub).toMatchObject({ accepted: 3, delivered: 1, pending: 1, dead: 1, undurable: 0 });
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.settle('table', [], noProgress);
    outbox.close();
    const again = harness.open();
    expect(again.pending('hub', { limit: 10 })).toMatchObject([{ position: 2, attempts: 2 }]);
    expect(again.counters().hub).toMatchObject({ accepted: 3, delivered: 1, pending: 1, dead: 1, undurable: 0 });
    expect(again.progress('hub').step).toBe(2);
  });

  test('leaves records delivered by then counted as undurable', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const other = keepFileBusy(harness.directory);
    appendRecords(outbox, { count: 3 });
    deliverAll(outbox, 'hub');
    outbox.settle('table', [{ position: 2, state: 'dead', code: 'x', reason: 'y' }], noProgress);
    expect(positions(outbox, 'hub')).toEqual([]);
    expect(positions(outbox, 'table')).toEqual([1, 3]);
    expect(outbox.counters().hub).toMatchObject({ accepted: 3, delivered: 3, undurable: 3 });
    other.letGo();
    await harness.clock.advance(1_000);
    appendRecords(outbox);
    const counters = outbox.counters();
    expect(counters.hub).toMatchObject({ accepted: 4, delivered: 3, pending: 1, undurable: 3 });
    expect(counters.table).toMatchObject({ accepted: 4, pending: 3, dead: 1, undurable: 0 });
    expect(readOutbox(harness.directory)?.sinks.map(({ name, counters: stored }) => [name, stored])).toEqual(
      Object.entries(counters),
    );
    deliverAll(outbox, 'hub');
    expect(outbox.counters().hub).toMatchObject({ delivered: 4, undurable: 3 });
  });

  test('logs the backlog that is lost when the process ends', () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 3 });
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], noProgress);
    expect(outbox.backlog()).toEqual([
      { sink: 'hub', pending: 2, onlyInMemory: 0 },
      { sink: 'table', pending: 3, onlyInMemory: 0 },
    ]);
    using _other = { [Symbol.dispose]: keepFileBusy(harness.directory).letGo };
    appendRecords(outbox, { count: 4 });
    outbox.settle(
      'hub',
      [2, 4, 5].map((position) => ({ position, state: 'delivered' as const })),
      noProgress,
    );
    outbox.settle('hub', [{ position: 6, state: 'pending', code: 'x', reason: 'y' }], noProgress);
    expect(outbox.backlog()).toEqual([
      { sink: 'hub', pending: 3, onlyInMemory: 2 },
      { sink: 'table', pending: 7, onlyInMemory: 4 },
    ]);
    const { length } = harness.lines;
    logBacklog(outbox, harness.log);
    const why = outbox.storage.fault?.reason;
    expect(harness.lines.slice(length)).toEqual([
      {
        level: 'error',
        fields: { sink: 'hub', pending: 3, onlyInMemory: 2 },
        message: `3 records wait for hub, 2 in memory only: those are lost now. ${why}`,
      },
      {
        level: 'error',
        fields: { sink: 'table', pending: 7, onlyInMemory: 4 },
        message: `7 records wait for table, 4 in memory only: those are lost now. ${why}`,
      },
    ]);
  });

  test('that succeeds later leaves a backlog that the next start sends', () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox);
    deliverAll(outbox, 'table');
    logBacklog(outbox, harness.log);
    expect(harness.lines).toEqual([
      {
        level: 'info',
        fields: { sink: 'hub', pending: 1 },
        message: '1 record waits for hub; the next start sends them.',
      },
    ]);
  });

  test('does not retry the disk for every delivery', () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 50 });
    using _other = { [Symbol.dispose]: keepFileBusy(harness.directory).letGo };
    // Each attempt waits half a second for the other process: a hundred would outlast the time that a test has.
    for (const position of positions(outbox, 'hub')) {
      outbox.settle('hub', [{ position, state: 'delivered' }], noProgress);
      outbox.retry();
    }
    expect(outbox.counters().hub).toMatchObject({ delivered: 50 });
  });

  test('in the middle of a large append keeps all of it', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 400 });
    const other = keepFileBusy(harness.directory);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outbox.storage.fault?.kind).toBe('busy');
    expect(positions(outbox, 'hub')).toHaveLength(400);
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], noProgress);
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.retry();
    expect(positions(outbox, 'hub')).toHaveLength(399);
    expect(readOutbox(harness.directory)).toMatchObject({ position: 400 });
    expect(balanceOf(outbox)).toEqual([0, 0]);
  });

  test('limits the records in memory, and counts those it discards', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const other = keepFileBusy(harness.directory);
    appendRecords(outbox, { eventId: 'DONE', count: 300, open: false });
    deliverAll(outbox, 'hub');
    deliverAll(outbox, 'table');
    appendRecords(outbox, { eventId: 'ENDED', count: 300, open: false });
    outbox.settle('hub', [{ position: 301, state: 'delivered' }], noProgress);
    appendRecords(outbox, { eventId: 'OPEN', count: 600 });
    // 200 too many: those 300 are settled for every sink.
    expect(outbox.storage.undurable).toBe(memoryBounds.records);
    expect(outbox.counters().hub).toMatchObject({
      accepted: 1200,
      delivered: 301,
      pending: 899,
      expired: 0,
      undurable: 301,
    });
    appendRecords(outbox, { eventId: 'OPEN', count: 200 });
    // The other 100 of them, and 100 of the event that ended.
    expect(outbox.counters().hub).toMatchObject({ accepted: 1400, delivered: 301, pending: 1000, expired: 99 });
    expect(outbox.counters().table).toMatchObject({ accepted: 1400, delivered: 300, pending: 1000, expired: 100 });
    expect(positions(outbox, 'table', 1)).toEqual([401]);
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.retry();
    expect(balanceOf(outbox)).toEqual([0, 0]);
    expect(outbox.counters().hub).toMatchObject({
      accepted: 1400,
      delivered: 301,
      pending: 1000,
      expired: 99,
      undurable: 301,
    });
    outbox.close();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    expect(db.prepare('SELECT position, sinks FROM tombstones ORDER BY position LIMIT 2').all()).toEqual([
      expect.objectContaining({ position: 301, sinks: '["table"]' }),
      expect.objectContaining({ position: 302, sinks: '["hub","table"]' }),
    ]);
    db.close();
  });
});

describe('a state directory that cannot be used at start', () => {
  test('does not prevent the bridge from working, and is used once possible', async () => {
    using harness = blockedHarness();
    const outbox = harness.open();
    const { streamId } = outbox.state;
    outbox.rememberObserver(observerNamed('web_3'), null);
    appendRecords(outbox, { count: 2 });
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], { ...noProgress, step: 1 });
    expect(positions(outbox, 'hub')).toEqual([2]);
    expect(outbox.progress('hub').step).toBe(1);
    outbox.maintain();
    expect(harness.lines).toMatchObject([{ level: 'error', message: expect.stringContaining(harness.directory) }]);
    harness.unblock();
    appendRecords(outbox);
    expect(existsSync(harness.directory)).toBe(false);
    await harness.clock.advance(5_000);
    outbox.retry();
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    outbox.close();
    const again = harness.open();
    expect(again.state).toMatchObject({ streamId, position: 3 });
    expect(again.storedObserver?.observer.vmName).toBe('web_3');
    expect(positions(again, 'hub')).toEqual([2, 3]);
    expect(again.counters().hub).toMatchObject({ accepted: 3, delivered: 1, undurable: 1 });
  });

  test('continues the stream of an earlier outbox once it is readable, after memory has been sent', async () => {
    using harness = createHarness();
    const before = harness.open();
    appendRecords(before, { eventId: 'EARLIER', count: 3 });
    const { streamId } = before.state;
    before.close();
    renameSync(harness.directory, `${harness.directory}-hidden`);
    writeFileSync(harness.directory, '');
    const outbox = harness.open();
    appendRecords(outbox, { eventId: 'MEANWHILE' });
    expect(outbox.state.streamId).not.toBe(streamId);
    rmSync(harness.directory);
    renameSync(`${harness.directory}-hidden`, harness.directory);
    await harness.clock.advance(5_000);
    outbox.retry();
    expect(outbox.storage).toMatchObject({ fault: { code: 'earlier-outbox' }, undurable: 1 });
    deliverAll(outbox, 'hub');
    expect(outbox.state.streamId).not.toBe(streamId);
    deliverAll(outbox, 'table');
    await harness.clock.advance(5_000);
    outbox.retry();
    expect(outbox.storage.fault).toBeNull();
    expect(outbox.state).toMatchObject({ streamId, position: 3 });
    expect(positions(outbox, 'hub')).toEqual([1, 2, 3]);
    expect(outbox.counters().hub).toMatchObject({ accepted: 4, delivered: 1, pending: 3, undurable: 1 });
  });

  test('may belong to another VM: it is archived once it can be moved', async () => {
    using harness = blockedHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 2 });
    outbox.archive('the VM is another one');
    expect(outbox.state.position).toBe(0);
    expect(positions(outbox, 'hub')).toEqual([]);
    harness.unblock();
    await harness.clock.advance(5_000);
    appendRecords(outbox);
    expect(outbox.storage.fault).toBeNull();
    expect(readOutbox(harness.directory)).toMatchObject({ position: 1, streamId: outbox.state.streamId });
  });

  test('that another instance takes by then is left to it', async () => {
    using harness = blockedHarness();
    const outbox = harness.open();
    appendRecords(outbox);
    harness.unblock();
    mkdirSync(join(harness.directory, '..'), { recursive: true });
    using other = createHarness(harness.directory);
    appendRecords(other.open(), { count: 5 });
    await harness.clock.advance(5_000);
    outbox.retry();
    expect(outbox.storage).toMatchObject({ fault: { kind: 'unavailable' }, undurable: 1 });
    expect(outbox.storage.fault?.reason).toBe(new OutboxInUse(harness.directory).message);
    expect(readOutbox(harness.directory)?.position).toBe(5);
  });
});

test('an unknown sink has no counters', () => {
  using harness = blockedHarness();
  expect(harness.open().counters()).toEqual({ hub: noCounters, table: noCounters });
});
