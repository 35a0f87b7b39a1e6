import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import {
  countDeliveries,
  exportRecords,
  listDeliveries,
  type RecordFilter,
  readRecord,
} from '../../src/outbox/list-deliveries.ts';
import { noProgress, type Outbox } from '../../src/outbox/outbox.ts';
import { after, appendRecords, createHarness, type Harness, recordAt } from './harness.ts';

/** Six records for two sinks: 1 delivered and 2 dead for the hub, 2 dead for the table, and 6 purged for the table. */
function varied(harness: Harness): Outbox {
  const outbox = harness.open();
  appendRecords(outbox, { count: 6 });
  const dead = { position: 2, state: 'dead', code: 'http-400', reason: 'no such column' } as const;
  outbox.settle('hub', [{ position: 1, state: 'delivered' }, dead], noProgress);
  outbox.settle('table', [dead], noProgress);
  outbox.purge({ state: 'pending', sink: 'table', position: 6 });
  return outbox;
}

const all = ['pending', 'dead', 'delivered', 'abandoned'] as const;

describe('deliveries', () => {
  const cases = [
    { filter: { states: ['dead'] as const }, found: ['2 hub', '2 table'] },
    { filter: { states: ['delivered'] as const }, found: ['1 hub'] },
    { filter: { states: ['abandoned'] as const }, found: ['6 table'] },
    { filter: { states: ['pending'] as const, sink: 'table' }, found: ['1 table', '3 table', '4 table', '5 table'] },
    { filter: { states: all, position: 2 }, found: ['2 hub', '2 table'] },
    { filter: { states: all, sink: 'unknown' }, found: [] },
  ];
  test.for(cases)('with $filter finds $found, newest last', ({ filter, found }) => {
    using harness = createHarness();
    varied(harness);
    const entries = listDeliveries(harness.directory, { ...filter, limit: 100 });
    expect(entries?.rows.map(({ position, sink }) => `${position} ${sink}`)).toEqual(found);
    expect(entries?.total).toBe(found.length);
    const counts = [...(countDeliveries(harness.directory, filter)?.values() ?? [])];
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(found.length);
    const positions = [...exportRecords(harness.directory, filter)].map((json) => JSON.parse(json).position);
    expect(positions).toEqual([...new Set(found.map((name) => Number(name.split(' ')[0])))]);
  });

  const chosen: { filter: RecordFilter; found: number[] }[] = [
    { filter: {}, found: [1, 2, 3, 4] },
    { filter: { eventId: 'event-A' }, found: [1, 2] },
    { filter: { eventType: 'REBOOT' }, found: [3] },
    { filter: { vm: 'WEB_7' }, found: [1, 3] },
    { filter: { vm: 'web_' }, found: [] },
    { filter: { since: new Date('2026-03-14T11:00:00.000Z') }, found: [2, 3, 4] },
    { filter: { until: new Date('2026-03-14T11:00:00.000Z') }, found: [1, 2] },
    {
      filter: { since: new Date('2026-03-14T10:30:00Z'), until: new Date('2026-03-14T12:30:00Z'), vm: 'web_7' },
      found: [3],
    },
  ];
  test.for(chosen)('of records with $filter finds those at $found', ({ filter, found }) => {
    using harness = createHarness();
    const outbox = harness.open({ sinks: ['hub'] });
    const append = (eventId: string, given: Partial<LifecycleRecord>): void => {
      const { state } = outbox;
      const record = recordAt(state.position + 1, eventId, { streamId: state.streamId, ...given });
      outbox.append(after(state, 1, eventId), [record]);
    };
    const at = (hour: number): string => `2026-03-14T${hour}:00:00.000Z`;
    append('EVENT-A', { observedAt: at(10), affectedResources: ['web_3', 'web_7'] });
    append('EVENT-A', { observedAt: at(11), affectedResources: ['web_3'] });
    append('EVENT-B', { observedAt: at(12), eventType: 'Reboot', affectedResources: ['Web_7'] });
    append('EVENT-C', { observedAt: at(13), eventType: null, affectedResources: [] });
    const entries = listDeliveries(harness.directory, { states: all, limit: 100, ...filter });
    expect(entries?.rows.map(({ position }) => position)).toEqual(found);
    expect(entries?.total).toBe(found.length);
    const exported = [...exportRecords(harness.directory, { states: all, ...filter })].map((json) => JSON.parse(json));
    expect(exported.map(({ position }) => position)).toEqual(found);
  });

  test('whose bytes are damaged have no type and affect no VM, and hide no other delivery', () => {
    using harness = createHarness();
    appendRecords(harness.open({ sinks: ['hub'] }), { count: 2 });
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec("UPDATE bodies SET json = CAST('{\"torn' AS BLOB) WHERE position = 1");
    db.close();
    const found = listDeliveries(harness.directory, { states: all, limit: 100, eventType: 'Freeze', vm: 'web_3' });
    expect(found?.rows.map(({ position }) => position)).toEqual([2]);
  });

  test('beyond a limit are counted, and the newest are listed', () => {
    using harness = createHarness();
    varied(harness);
    const entries = listDeliveries(harness.directory, { states: ['pending'], limit: 2 });
    expect(entries?.rows.map(({ position, sink }) => `${position} ${sink}`)).toEqual(['5 table', '6 hub']);
    expect(entries?.total).toBe(8);
    expect(entries?.rows[0]).toEqual({
      position: 5,
      sink: 'table',
      state: 'pending',
      eventKey: 'event-1',
      phase: 'Scheduled',
      observedAt: '2026-03-14T09:26:53.123Z',
      attempts: 0,
      settledAt: null,
      code: null,
      reason: null,
    });
  });

  test('are exported to the last although there are many pages of them', async () => {
    using harness = createHarness();
    const outbox = harness.open({ sinks: ['hub'] });
    for (let n = 0; n < 10; n += 1) appendRecords(outbox, { count: 50 }); // each in one transaction
    const positions = [...exportRecords(harness.directory, { states: ['pending'] })].map(
      (json) => JSON.parse(json).position,
    );
    expect(positions).toEqual(Array.from({ length: 500 }, (_, n) => n + 1));
  });

  test('are null where there is no outbox', () => {
    using harness = createHarness();
    const nowhere = join(harness.directory, 'nowhere');
    expect(listDeliveries(nowhere, { states: all, limit: 1 })).toBeNull();
    expect(countDeliveries(nowhere, { states: all })).toBeNull();
    expect(readRecord(nowhere, 1)).toBeNull();
    expect([...exportRecords(nowhere, { states: all })]).toEqual([]);
  });
});

describe('one record', () => {
  test('contains its record and the state, code and reason of each delivery', () => {
    using harness = createHarness();
    varied(harness);
    expect(readRecord(harness.directory, 2)).toEqual({
      newest: 6,
      details: {
        position: 2,
        record: expect.objectContaining({ recordId: 'record-2', eventId: 'EVENT-1' }),
        appendedAt: '2026-01-01T00:00:00.000Z',
        isDamaged: false,
        deliveries: ['hub', 'table'].map((sink) => ({
          sink,
          state: 'dead',
          attempts: 1,
          settledAt: '2026-01-01T00:00:00.000Z',
          code: 'http-400',
          reason: 'no such column',
        })),
        givenUp: null,
      },
    });
  });

  test('that was discarded names the sinks, one that never existed is null', () => {
    using harness = createHarness();
    varied(harness);
    expect(readRecord(harness.directory, 6)?.details).toMatchObject({
      record: { recordId: 'record-6' },
      deliveries: [
        { sink: 'hub', state: 'pending' },
        { sink: 'table', state: 'abandoned', code: 'purged', reason: 'Discarded by an operator.' },
      ],
      givenUp: { at: '2026-01-01T00:00:00.000Z', sinks: ['table'] },
    });
    expect(readRecord(harness.directory, 7)).toEqual({ newest: 6, details: null });
  });

  test('whose bytes are damaged shows none of them', () => {
    using harness = createHarness();
    varied(harness);
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec(`UPDATE bodies SET json = X'7B7D' WHERE position = 3`);
    db.close();
    expect(readRecord(harness.directory, 3)?.details).toMatchObject({ record: null, isDamaged: true });
    const exported = [...exportRecords(harness.directory, { states: ['pending'] })].map(
      (json) => JSON.parse(json).position,
    );
    expect(exported).toEqual([1, 4, 5, 6]);
  });
});
