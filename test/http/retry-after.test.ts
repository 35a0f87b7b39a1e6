import { expect, test } from 'vitest';
import { readRetryAfter } from '../../src/http/retry-after.ts';

const now = new Date('2026-03-01T12:00:00Z');

test.each([
  ['5', 5000],
  [' 120 ', 120_000],
  ['0', 0],
  ['1.5', 1500],
  ['86400', 86_400_000],
  ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['Sun, 01 Mar 2026 11:59:00 GMT', 0],
])('Retry-After: %s is %i ms', (header, ms) => {
  expect(readRetryAfter(header, now)).toBe(ms);
});

test.each([null, '', 'soon', '-5', '1e9', 'node 3', '99999999999999999999'])('Retry-After: %s is ignored', (header) => {
  expect(readRetryAfter(header, now)).toBeNull();
});
