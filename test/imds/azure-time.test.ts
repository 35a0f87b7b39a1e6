import { expect, test } from 'vitest';
import { readAzureTime } from '../../src/imds/azure-time.ts';

const date = 'Sun, 01 Mar 2026 12:00:00 GMT';
/** The local clock, `ms` after the second that the answer names. */
const arriving = (ms: number, roundTripMs = 0) => ({
  arrivedAt: new Date(Date.parse(date) + ms),
  roundTripMs,
});

test.each([
  { our: 'is right, early in the second', arrived: arriving(1), offset: 0 },
  { our: 'is right, late in the second', arrived: arriving(998), offset: 0 },
  { our: 'is right, and the answer took a second', arrived: arriving(1400, 1000), offset: 0 },
  { our: 'is behind', arrived: arriving(-29_500), offset: 30 },
  { our: 'is ahead', arrived: arriving(30_500), offset: -30 },
])('our clock $our', ({ arrived, offset }) => {
  expect(readAzureTime(date, arrived)).toEqual({ azureTime: new Date(date), clockOffsetSeconds: offset });
});

test.each([1001, 3900, 120_000])('an answer that took %i ms may have been dated at any time', (roundTripMs) => {
  expect(readAzureTime(date, arriving(roundTripMs, roundTripMs))).toEqual({
    azureTime: new Date(date),
    clockOffsetSeconds: null,
  });
});

test.each([null, '', 'today', 'node 3'])('a Date of %j is ignored', (header) => {
  expect(readAzureTime(header, arriving(0))).toEqual({ azureTime: null, clockOffsetSeconds: null });
});
