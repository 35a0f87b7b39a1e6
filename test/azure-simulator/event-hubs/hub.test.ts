import { expect, test } from 'vitest';
import { createHub } from '../../../src/azure-simulator/event-hubs/hub.ts';

const raw = [Buffer.from('one'), Buffer.from('two')];

test('a hub stores by partition, by key, or in turn, and numbers what each partition holds', () => {
  const hub = createHub('h', 2, ['$Default']);
  const appended: number[] = [];
  const unwatch = hub.watch((partition) => appended.push(partition));
  hub.append(raw, { partition: 1, partitionKey: null });
  hub.append(raw, { partition: 1, partitionKey: null });
  hub.append(raw, { partition: null, partitionKey: 'k' });
  hub.append(raw, { partition: null, partitionKey: 'k' });
  unwatch();
  hub.append(raw, { partition: null, partitionKey: null });
  hub.append(raw, { partition: null, partitionKey: null });
  expect(appended.slice(0, 2)).toEqual([1, 1]);
  expect(appended[2]).toBe(appended[3]);
  expect(appended).toHaveLength(4);
  expect(hub.events).toHaveLength(12);
  expect(new Set(hub.events.slice(8).map(({ partition }) => partition))).toEqual(new Set([0, 1]));
  for (const partition of hub.partitions) {
    expect(partition.map(({ sequenceNumber }) => sequenceNumber)).toEqual(partition.map((_, index) => index));
    expect(partition.map(({ offset }) => Number(offset))).toEqual(partition.map((_, index) => index * 3));
  }
  expect(() => hub.append(raw, { partition: 7, partitionKey: null })).toThrow('has no partition 7');
});
