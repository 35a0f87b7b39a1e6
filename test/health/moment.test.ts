import { expect, test } from 'vitest';
import { formatCountdown, formatDuration } from '../../src/clock.ts';
import { clockTime, moment, size } from '../../src/health/moment.ts';

const now = new Date('2026-03-14T09:30:00.000Z');

test.for([
  [0, '0 s'],
  [-42, '42 s'],
  [119, '119 s'],
  [120, '2 min'],
  [7199, '120 min'],
  [7200, '2 h'],
  [172_800, '2 d'],
] as const)('%s seconds are written as %s', ([seconds, words]) => {
  expect(formatDuration(seconds)).toBe(words);
});

test.for([
  [0.9, '0 s'],
  [59.9, '59 s'],
  [60, '1 min 0 s'],
  [852.4, '14 min 12 s'],
  [3599, '59 min 59 s'],
  [11_100, '3 h 5 min'],
  [187_200, '2 d 4 h'],
  [-61, '1 min 1 s'],
] as const)('%s seconds are counted down as %s', ([seconds, words]) => {
  expect(formatCountdown(seconds)).toBe(words);
});

test('a time of another day has the date, a future time the duration until then', () => {
  expect(clockTime('2026-03-14T02:14:59.000Z', now)).toBe('02:14 UTC');
  expect(clockTime('2026-03-13T23:59:00.000Z', now)).toBe('2026-03-13 23:59 UTC');
  expect(moment('2026-03-14T09:42:00.000Z', now)).toBe('09:42 UTC (in 12 min)');
});

test.for([
  [0, '0 KB'],
  [36_000, '36 KB'],
  [1_350_000, '1.3 MB'],
  [256 * 2 ** 20, '256 MB'],
  [2.5 * 2 ** 30, '2.5 GB'],
] as const)('%s bytes are %s', ([bytes, words]) => {
  expect(size(bytes)).toBe(words);
});
