import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../src/lifecycle/observation.ts';
import { listDeliveries } from '../../src/outbox/list-deliveries.ts';
import { noProgress } from '../../src/outbox/outbox.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { observerNamed } from '../support/observations.ts';
import { until } from '../support/until.ts';
import { after, appendRecords, createHarness, deliverAll, memoryOf, positions, recordAt } from './harness.ts';

/** How many transactions a piece of work takes: each one adds a commit frame to the log. */
function changesOf(directory: string): { count: () => number } {
  const db = new DatabaseSync(join(directory, 'outbox.sqlite'), { readOnly: true });
  const version = (): number => (db.prepare('PRAGMA data_version').get() as { data_version: number }).data_version;
  let before = version();
  return {
    count() {
      const now = version();
      const changed = now === before ? 0 : 1;
      before = now;
      return changed;
    },
  };
}

describe('an outbox that is opened again', () => {
  test('restores stream, state and the pending deliveries of every sink', () => {
    using harness = createHarness();
    const first = harness.open();
    appendRecords(first, { count: 2 });
    first.settle('hub', [{ position: 1, state: 'delivered' }], noProgress);
    const { state } = first;
    first.close();
    const second = harness.open();
    expect(second.state).toEqual(state);
    expect(positions(second, 'hub')).toEqual([2]);
    expect(positions(second, 'table')).toEqual([1, 2]);
    expect(second.storage).toEqual({ fault: null, undurable: 0 });
    expect(harness.lines).toEqual([]);
  });

  test('sends the very bytes that were appended', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const [record] = appendRecords(outbox);
    const [entry] = outbox.pending('hub', { limit: 1 });
    expect(entry?.json.toString()).toBe(JSON.stringify(record));
    expect(entry).toMatchObject({
      position: 1,
      eventKey: 'event-1',
      attempts: 0,
      appendedAt: '2026-01-01T00:00:00.000Z',
    });
  });

  test('restores the observer and the boot id', () => {
    using harness = createHarness();
    const observer = observerNamed('web_3');
    const first = harness.open();
    expect(first.storedObserver).toBeNull();
    first.rememberObserver(observer, 'boot-1');
    first.close();
    const second = harness.open();
    expect(second.storedObserver?.observer).toEqual(observer);
    expect(second.storedObserver?.bootId).toBe('boot-1');
  });

  test('restores the approved events, unless Azure refused', () => {
    using harness = createHarness();
    harness.open().close();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    const put = db.prepare(
      'INSERT INTO approvals (eventKey, eventId, cause, intendedAt, outcome) VALUES (?, ?, ?, ?, ?)',
    );
    put.run('open-intent', 'OPEN-INTENT', 'operator', '2026-01-01T00:00:00.000Z', null);
    put.run('accepted', 'ACCEPTED', 'operator', '2026-01-01T00:00:00.000Z', 'accepted');
    put.run('refused', 'REFUSED', 'operator', '2026-01-01T00:00:00.000Z', 'refused');
    put.run('unknown', 'UNKNOWN', 'operator', '2026-01-01T00:00:00.000Z', 'outcome-unknown');
    db.close();
    expect([...harness.open().state.approved]).toEqual(['accepted', 'open-intent', 'unknown']);
  });
});

describe('append', () => {
  test('writes only the events whose memory is another object', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const one = memoryOf('ONE');
    const two = memoryOf('TWO');
    const events = new Map([
      ['one', one],
      ['two', two],
    ]);
    outbox.append({ ...outbox.state, events, incarnation: 1 }, []);
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    // A mark that only a write of this row removes.
    db.exec(`UPDATE events SET json = json || ' '`);
    outbox.append({ ...outbox.state, events: new Map([...events, ['two', { ...two, open: false }]]) }, []);
    const rows = db.prepare(`SELECT eventKey, json LIKE '% ' AS untouched, open FROM events ORDER BY eventKey`).all();
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { eventKey: 'one', untouched: 1, open: 1 },
      { eventKey: 'two', untouched: 0, open: 0 },
    ]);
    outbox.append({ ...outbox.state, events: new Map([['one', one]]) }, []);
    expect(db.prepare('SELECT eventKey FROM events').all()).toHaveLength(1);
    db.close();
  });

  test('writes nothing for an unchanged document, and the time of the last document once a minute', () => {
    using harness = createHarness();
    const outbox = harness.open();
    outbox.append({ ...outbox.state, lastDocumentAt: '2026-01-01T00:00:00.000Z', incarnation: 1 }, []);
    const changes = changesOf(harness.directory);
    const writes = (lastDocumentAt: string): number => {
      outbox.append({ ...outbox.state, lastDocumentAt, events: new Map(outbox.state.events) }, []);
      return changes.count();
    };
    expect(writes('2026-01-01T00:00:01.000Z')).toBe(0);
    expect(writes('2026-01-01T00:00:59.999Z')).toBe(0);
    expect(outbox.state.lastDocumentAt).toBe('2026-01-01T00:00:59.999Z');
    expect(writes('2026-01-01T00:01:00.000Z')).toBe(1);
    expect(writes('2026-01-01T00:01:30.000Z')).toBe(0);
    outbox.settle('hub', [], noProgress);
    expect(readOutbox(harness.directory)?.lastDocumentAt).toBe('2026-01-01T00:01:00.000Z');
    outbox.close();
    expect(readOutbox(harness.directory)?.lastDocumentAt).toBe('2026-01-01T00:01:30.000Z');
  });

  test('notifies listeners after its records are on disk', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const notified: [number, number | undefined][] = [];
    const stop = outbox.onAppended((records) =>
      notified.push([records.length, readOutbox(harness.directory)?.position]),
    );
    appendRecords(outbox, { count: 2 });
    stop();
    appendRecords(outbox);
    expect(notified).toEqual([[2, 2]]);
  });

  test('takes several transactions for many records, and notifies no listener before the last', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const notified: number[] = [];
    outbox.onAppended((records) => notified.push(records.length));
    appendRecords(outbox, { count: 600 });
    expect(notified).toEqual([]);
    expect(positions(outbox, 'hub')).toEqual([]);
    expect(outbox.counters().hub).toMatchObject({ accepted: 0, pending: 0 });
    expect(readOutbox(harness.directory)).toMatchObject({ position: 0 });
    await until(() => notified.length > 0);
    expect(notified).toEqual([600]);
    expect(outbox.counters().hub).toMatchObject({ accepted: 600, pending: 600 });
    expect(positions(outbox, 'hub')).toHaveLength(600);
    expect(readOutbox(harness.directory)).toMatchObject({ position: 600 });
  });

  test('that is being written includes records appended by then', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 400 });
    await nextTurn();
    appendRecords(outbox, { eventId: 'EVENT-2' });
    outbox.settle('hub', [], { ...noProgress, step: 3 });
    outbox.close();
    const again = harness.open();
    expect(positions(again, 'table')).toHaveLength(401);
    expect(again.progress('hub').step).toBe(3);
  });

  test('that is being written when the outbox is closed leaves the directory to the next instance', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    // A file that was opened a moment ago is not opened again.
    await harness.clock.advance(6_000);
    appendRecords(outbox, { count: 600 });
    outbox.close();
    await nextTurn();
    expect(positions(harness.open(), 'hub')).toHaveLength(600);
  });

  test('that was interrupted by a crash leaves nothing behind', () => {
    using harness = createHarness();
    harness.open().close();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec(`INSERT INTO records VALUES (1, 'e', 'r', 'Scheduled', 'x', 'x', 2, 0);
      INSERT INTO bodies VALUES (1, X'7B7D'); INSERT INTO deliveries (sink, position, eventKey, state) VALUES ('hub', 1, 'e', 'pending')`);
    db.close();
    const outbox = harness.open();
    expect(positions(outbox, 'hub')).toEqual([]);
    expect(outbox.state.position).toBe(0);
    expect(outbox.counters().hub).toMatchObject({ accepted: 0, pending: 0 });
    appendRecords(outbox);
    expect(positions(outbox, 'hub')).toEqual([1]);
  });

  test('keeps the documents that wait for the observer', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const documentAt = (n: number): Observation => ({
      at: `2026-01-01T00:00:0${n}.000Z`,
      monotonicMs: null,
      previousDocumentAt: null,
      previousDocument: null,
      document: { incarnation: n, events: [], unreadable: 0 },
      imdsApiVersion: '2020-07-01',
      azureTime: null,
      clockOffsetSeconds: null,
      host: { bootId: null, physicalHost: null, tick: null, wallStepMs: 0 },
    });
    const [one, two, three] = [documentAt(1), documentAt(2), documentAt(3)];
    outbox.append({ ...outbox.state, undecided: [one] }, []);
    outbox.append({ ...outbox.state, undecided: [one, two] }, []);
    expect(readOutbox(harness.directory)?.undecided).toEqual({ documents: 2 });
    outbox.append({ ...outbox.state, undecided: [one, three] }, []);
    outbox.append({ ...outbox.state, undecided: [one, two] }, []);
    expect(readOutbox(harness.directory)?.undecided).toEqual({ documents: 2 });
    outbox.close();
    const again = harness.open();
    expect(again.state.undecided).toEqual([one, two]);
    again.append({ ...again.state, undecided: [] }, []);
    expect(readOutbox(harness.directory)?.undecided).toEqual({ documents: 0 });
  });
});

describe('pending', () => {
  test('gives the oldest first, of the requested events', () => {
    using harness = createHarness();
    const outbox = harness.open();
    for (const eventId of ['A', 'B', 'A', 'C', 'B', 'A']) appendRecords(outbox, { eventId });
    const found = (query: Omit<Parameters<typeof outbox.pending>[1], 'limit'>, limit = 10): number[] =>
      outbox.pending('hub', { limit, ...query }).map(({ position }) => position);
    expect(found({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(found({}, 2)).toEqual([1, 2]);
    expect(found({}, 0)).toEqual([]);
    expect(found({ exceptEvents: new Set(['a']) })).toEqual([2, 4, 5]);
    expect(found({ onlyEvents: new Set(['a', 'c']) })).toEqual([1, 3, 4, 6]);
    expect(found({ onlyEvents: new Set(['a', 'c']), exceptEvents: new Set(['c']) })).toEqual([1, 3, 6]);
    expect(found({ onlyEvents: new Set(['a', 'c']) }, 3)).toEqual([1, 3, 4]);
    expect(outbox.pending('unknown', { limit: 10 })).toEqual([]);
  });

  test('quarantines a record whose bytes differ from those written', () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 3 });
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec(`UPDATE bodies SET json = X'00' WHERE position = 1; DELETE FROM bodies WHERE position = 3`);
    db.close();
    expect(positions(outbox, 'hub')).toEqual([2]);
    expect(outbox.counters().hub).toMatchObject({ pending: 1, dead: 2 });
    const dead = listDeliveries(harness.directory, { states: ['dead'], sink: 'hub', limit: 10 });
    expect(dead?.rows).toMatchObject([
      { position: 1, code: 'damaged', attempts: 1 },
      { position: 3, code: 'damaged', attempts: 1 },
    ]);
  });
});

describe('settle', () => {
  test('counts attempts, keeps dead letters with their reason, and delivers once', () => {
    using harness = createHarness();
    const outbox = harness.open();
    appendRecords(outbox, { count: 3 });
    const progress = { ...noProgress, step: 2, lastErrorAt: '2026-01-01T00:00:00.000Z', lastErrorCode: 'http-503' };
    outbox.settle('hub', [{ position: 1, state: 'pending', code: 'http-503', reason: 'busy' }], progress);
    outbox.settle('hub', [{ position: 1, state: 'pending', code: 'http-500', reason: 'sick' }], progress);
    expect(outbox.pending('hub', { limit: 1 })).toMatchObject([{ position: 1, attempts: 2 }]);
    outbox.settle('hub', [{ position: 1, state: 'dead', code: 'http-400', reason: 'no such column' }], progress);
    outbox.settle('hub', [{ position: 2, state: 'delivered' }], noProgress);
    outbox.settle('hub', [{ position: 2, state: 'delivered' }], noProgress);
    outbox.settle('hub', [{ position: 99, state: 'delivered' }], noProgress);
    expect(outbox.counters().hub).toEqual({
      accepted: 3,
      delivered: 1,
      pending: 1,
      dead: 1,
      expired: 0,
      abandoned: 0,
      undurable: 0,
    });
    expect(listDeliveries(harness.directory, { states: ['dead'], sink: 'hub', limit: 10 })?.rows).toEqual([
      {
        position: 1,
        sink: 'hub',
        state: 'dead',
        eventKey: 'event-1',
        phase: 'Scheduled',
        observedAt: expect.any(String),
        attempts: 3,
        settledAt: '2026-01-01T00:00:00.000Z',
        code: 'http-400',
        reason: 'no such column',
      },
    ]);
  });

  test('keeps the progress of a sink over a restart', () => {
    using harness = createHarness();
    const first = harness.open();
    expect(first.progress('hub')).toEqual(noProgress);
    const progress = {
      step: 4,
      retryAt: '2026-01-01T00:05:00.000Z',
      lastSuccessAt: '2026-01-01T00:00:00.000Z',
      lastErrorAt: '2026-01-01T00:04:00.000Z',
      lastErrorCode: 'http-403',
      lastErrorReason: 'no role',
    };
    first.settle('hub', [], progress);
    first.close();
    expect(harness.open().progress('hub')).toEqual(progress);
  });
});

describe('a configuration that changes its sinks', () => {
  test('gives a new sink every retained record, delivered to others or not', () => {
    using harness = createHarness();
    const first = harness.open({ sinks: ['hub'] });
    appendRecords(first, { count: 3 });
    deliverAll(first, 'hub');
    first.close();
    const second = harness.open({ sinks: ['hub', 'table'] });
    expect(positions(second, 'hub')).toEqual([]);
    expect(positions(second, 'table')).toEqual([1, 2, 3]);
    expect(second.counters().table).toMatchObject({ accepted: 3, pending: 3 });
  });

  test('abandons the pending deliveries of a removed sink, and restores them when it returns', () => {
    using harness = createHarness();
    const first = harness.open();
    appendRecords(first, { count: 3 });
    first.settle('table', [{ position: 1, state: 'delivered' }], noProgress);
    first.settle('table', [{ position: 2, state: 'dead', code: 'x', reason: 'y' }], noProgress);
    first.close();
    const second = harness.open({ sinks: ['hub'] });
    expect(second.counters().table).toMatchObject({ accepted: 3, delivered: 1, pending: 0, dead: 0, abandoned: 2 });
    expect(second.pending('table', { limit: 10 })).toEqual([]);
    appendRecords(second);
    second.close();
    const third = harness.open();
    expect(positions(third, 'table')).toEqual([2, 3, 4]);
    expect(third.counters().table).toMatchObject({ accepted: 6, delivered: 1, pending: 3, abandoned: 2 });
  });
});

describe('an outbox of another VM', () => {
  test('is archived unsent, and a new stream starts', () => {
    using harness = createHarness();
    const outbox = harness.open();
    outbox.rememberObserver(observerNamed('web_3'), 'boot-1');
    appendRecords(outbox, { count: 2 });
    outbox.settle('hub', [{ position: 1, state: 'delivered' }], noProgress);
    const { streamId } = outbox.state;
    outbox.archive('the VM is another one');
    expect(outbox.state).toMatchObject({ position: 0, events: new Map() });
    expect(outbox.state.streamId).not.toBe(streamId);
    expect(outbox.storedObserver).toBeNull();
    expect(positions(outbox, 'hub')).toEqual([]);
    appendRecords(outbox);
    expect(positions(outbox, 'hub')).toEqual([1]);
    outbox.close();
    expect(harness.open().state).toMatchObject({ position: 1, streamId: outbox.state.streamId });
    expect(harness.lines).toMatchObject([{ level: 'warn', fields: { code: 'archived' } }]);
    const folders = readdirSync(harness.directory).filter((name) => name.startsWith('archived-'));
    expect(folders).toHaveLength(1);
    expect(harness.lines[0]?.message).toBe(
      `The outbox is moved to ${join(harness.directory, folders[0] ?? '')} (unsent: hub 1, table 2), and a new stream begins: the VM is another one`,
    );
  });

  test('is kept three times', () => {
    using harness = createHarness();
    const outbox = harness.open();
    for (let n = 0; n < 5; n += 1) {
      appendRecords(outbox);
      outbox.archive('again');
    }
    expect(readdirSync(harness.directory).filter((name) => name.startsWith('archived-'))).toHaveLength(3);
  });
});

test('an append refuses a record of another stream', () => {
  using harness = createHarness();
  const outbox = harness.open();
  outbox.append(after(outbox.state, 1, 'E'), [recordAt(1, 'E', { streamId: outbox.state.streamId })]);
  expect(JSON.parse(String(outbox.pending('hub', { limit: 1 })[0]?.json))).toMatchObject({
    streamId: outbox.state.streamId,
  });
});
