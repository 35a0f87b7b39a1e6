import { expect, test } from 'vitest';
import { memoryWithNewKeys, withNewKeys } from '../../src/lifecycle/upgrade.ts';

/** Neither a string nor a number can be made of it. */
const notATime = JSON.parse('{"toString": null, "valueOf": 1}');

test.for([
  ['a time is moved to the clock of Azure', '2026-03-04T05:06:07.000Z', 3, '2026-03-04T05:06:10.000Z'],
  ['without an offset the clocks were equal', '2026-03-04T05:06:07.000Z', null, '2026-03-04T05:06:07.000Z'],
  ['a damaged offset is none', '2026-03-04T05:06:07.000Z', notATime, '2026-03-04T05:06:07.000Z'],
  ['a damaged time is none', notATime, 3, null],
  ['a text that is no time is none', 'yesterday', 3, null],
  ['no time', null, 3, null],
] as const)('state of an earlier version: %s', ([, lastDocumentAt, clockOffsetSeconds, azureAt]) => {
  const stored = { streamId: 'stream', lastDocumentAt, clockOffsetSeconds };
  expect(withNewKeys(stored).lastDocument?.azureAt ?? null).toBe(azureAt);
});

test('a memory of an earlier version, with a damaged time, keeps its event', () => {
  const memory = memoryWithNewKeys({ eventId: 'EVENT-1', firstSeenAt: notATime, startedAt: notATime }, notATime);
  expect(memory).toMatchObject({ eventId: 'EVENT-1', started: null, last: { eventId: 'EVENT-1' } });
});
