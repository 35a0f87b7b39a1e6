import { expect, test } from 'vitest';
import { createRequestLimit } from '../../../src/azure-simulator/imds/request-limit.ts';

test('five requests within a second are answered, the sixth is not, and each VM has its own five', () => {
  const limit = createRequestLimit();
  limit.set(5);
  const times = [0, 100, 200, 300, 400, 500];
  expect(times.map((now) => limit.isExceeded('web_0', now))).toEqual([false, false, false, false, false, true]);
  expect(limit.isExceeded('web_1', 500)).toBe(false);
});

test('refused requests do not count, so requests are accepted again a second later', () => {
  const limit = createRequestLimit();
  limit.set(1);
  expect([0, 900, 1000, 1001].map((now) => limit.isExceeded('web_0', now))).toEqual([false, true, false, true]);
});

test('without a limit no request is refused', () => {
  const limit = createRequestLimit();
  limit.set(1);
  limit.set(null);
  expect([1, 1, 1].map((now) => limit.isExceeded('web_0', now))).toEqual([false, false, false]);
});
