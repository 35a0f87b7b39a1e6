import { expect, test } from 'vitest';
import { bufferedRecord } from '../../src/outbox/store/deliveries.ts';
import { observerRow, WriteBuffer } from '../../src/outbox/write-buffer.ts';
import { sampleRecord } from '../support/sample-record.ts';

test('a thousand rows are held for a disk that takes none, and of more the oldest are dropped, but never the observer', () => {
  const buffer = new WriteBuffer(['hub']);
  const nothing = (): void => {};
  buffer.writeLater(observerRow, nothing);
  for (let n = 1; n <= 1_200; n += 1) buffer.writeLater(`answer ${n}`, nothing);
  const held = [...buffer.rows.keys()];
  expect(held).toHaveLength(1_000);
  expect(held[0]).toBe(observerRow);
  expect(held.at(1)).toBe('answer 202');
  expect(held.at(-1)).toBe('answer 1200');
});

test('records are discarded also where a sink has settled none of them', () => {
  const buffer = new WriteBuffer(['hub', 'table']);
  const at = '2026-01-01T00:00:00.000Z';
  for (let position = 1; position <= 1_001; position += 1)
    buffer.records.set(position, bufferedRecord(sampleRecord({ position }), at));
  buffer.settle('hub', [{ position: 1, state: 'delivered' }], at);
  buffer.keepWithinBounds(() => true, at);
  expect([...buffer.records.keys()].slice(0, 2)).toEqual([2, 3]);
  expect(buffer.tombstones).toMatchObject([{ record: { position: 1 }, sinks: ['table'] }]);
});

test('nothing waits any more when all updates are written', () => {
  const buffer = new WriteBuffer(['hub']);
  buffer.settle('hub', [{ position: 1, state: 'delivered' }], '2026-01-01T00:00:00.000Z');
  expect(buffer.isEmpty).toBe(false);
  buffer.updatesWritten();
  expect(buffer.isEmpty).toBe(true);
});
