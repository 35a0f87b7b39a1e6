import { expect, test } from 'vitest';
import { hold } from '../../src/outbox/deliveries.ts';
import { firstPart, partBounds } from '../../src/outbox/parts.ts';
import { recordAt } from './rig.ts';

const records = (count: number, bytes = 0) =>
  Array.from({ length: count }, (_, n) => hold(recordAt(n + 1, 'E', { description: 'x'.repeat(bytes) }), ''));

test.each([
  { case: 'nothing is one part', count: 0, bytes: 0, sinks: 2, part: 0, isLast: true },
  { case: 'rows of deliveries count', count: 1000, bytes: 0, sinks: 4, part: partBounds.rows / 5, isLast: false },
  { case: 'without sinks only bytes count', count: 10, bytes: 0, sinks: 0, part: 10, isLast: true },
  { case: 'a part has so many bytes at most', count: 10, bytes: 100 * 1024, sinks: 1, part: 2, isLast: false },
  { case: 'one that is larger goes alone', count: 2, bytes: 300 * 1024, sinks: 1, part: 1, isLast: false },
])('of a large append $case', ({ count, bytes, sinks, part, isLast }) => {
  const first = firstPart(records(count, bytes), sinks);
  expect([first.part.length, first.isLast]).toEqual([part, isLast]);
});
