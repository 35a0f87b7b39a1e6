import { expect, test } from 'vitest';
import { bufferedRecord } from '../../../src/outbox/store/deliveries.ts';
import { chunkBounds, firstChunk } from '../../../src/outbox/store/outbox-file.ts';
import { recordAt } from '../harness.ts';

const records = (count: number, bytes = 0) =>
  Array.from({ length: count }, (_, n) => bufferedRecord(recordAt(n + 1, 'E', { description: 'x'.repeat(bytes) }), ''));

test.each([
  { case: 'nothing is one chunk', count: 0, bytes: 0, sinks: 2, chunk: 0, isLast: true },
  { case: 'rows of deliveries count', count: 1000, bytes: 0, sinks: 4, chunk: chunkBounds.rows / 5, isLast: false },
  { case: 'without sinks only bytes count', count: 10, bytes: 0, sinks: 0, chunk: 10, isLast: true },
  { case: 'a chunk has a limit of bytes', count: 10, bytes: 100 * 1024, sinks: 1, chunk: 2, isLast: false },
  { case: 'one that is larger goes alone', count: 2, bytes: 300 * 1024, sinks: 1, chunk: 1, isLast: false },
])('of a large append $case', ({ count, bytes, sinks, chunk, isLast }) => {
  const first = firstChunk(records(count, bytes), sinks);
  expect([first.chunk.length, first.isLast]).toEqual([chunk, isLast]);
});
