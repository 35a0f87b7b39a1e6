import { expect, test } from 'vitest';
import { emptyMemory } from '../../src/lifecycle/empty-memory.ts';
import { rememberEndedCount, toForget } from '../../src/lifecycle/remember.ts';
import { at } from '../support/observations.ts';

const moment = (seconds: number) => ({ azureAt: at(seconds), monotonicMs: null, bootId: null });
const ended = (key: string, seconds: number) =>
  [key, { ...emptyMemory(key, moment(0)), open: false, endedAt: at(seconds) }] as const;

test('of more ended events than are remembered, the longest ended are forgotten, regardless of their ids', () => {
  const recent = Array.from({ length: rememberEndedCount }, (_, n) => ended(`b-${n}`, 100 + n));
  const events = new Map([...recent, ended('a', 1), ended('c', 2)]);
  expect([...toForget(events, new Map(), moment(5000))].sort()).toEqual(['a', 'c']);
});

test('an ended event that the document still lists is not forgotten', () => {
  const events = new Map([
    ...Array.from({ length: rememberEndedCount }, (_, n) => ended(`b-${n}`, 100 + n)),
    ended('a', 1),
  ]);
  expect(toForget(events, new Map([['a', null]]), moment(5000))).toEqual([]);
});
