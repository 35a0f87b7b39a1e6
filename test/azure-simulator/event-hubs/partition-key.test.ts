import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { partitionOfKey } from '../../../src/azure-simulator/event-hubs/partition-key.ts';
import { runs } from '../../support/runs.ts';

// The SDK keeps its own port of the hash for the buffered producer; the package does not export it, so it is imported by its path.
const require = createRequire(import.meta.url);
const sdk = require(join(dirname(require.resolve('@azure/event-hubs')), 'impl', 'partitionKeyToIdMapper.js')) as {
  mapPartitionKeyToId(partitionKey: string, partitions: number): number;
};

describe('the partition of a key', () => {
  test('is the one that the SDK computes, for any key and count', () => {
    const key = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.uuid());
    fc.assert(
      fc.property(key, fc.integer({ min: 1, max: 2_000 }), (partitionKey, partitions) => {
        expect(partitionOfKey(partitionKey, partitions)).toBe(sdk.mapPartitionKeyToId(partitionKey, partitions));
      }),
      { numRuns: runs('partition keys', { quick: 100, full: 2_000 }) },
    );
  });

  test.each([
    ['', 4, 0],
    ['c7061bac-afdc-4513-b24b-aa5f13a16123', 4, 3],
    ['c7061bac-afdc-4513-b24b-aa5f13a16123', 32, 31],
    ['übermäßig', 32, 26],
  ])('the partition of %j among %i is always %i', (partitionKey, partitions, partition) => {
    expect(partitionOfKey(partitionKey, partitions)).toBe(partition);
  });
});
