import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, type Cause } from '../../src/relay/backoff.ts';

/** The pauses of the first failures in a row, in seconds. */
function pauses(cause: Cause, random: number, failures = 10): number[] {
  return Array.from({ length: failures }, (_, before) => backoffMs(before + 1, cause, () => random) / 1_000);
}

describe('the pause of a sink', () => {
  const cases: readonly { name: string; cause: Cause; random: number; seconds: number[] }[] = [
    {
      name: 'a fault that passes, at most',
      cause: 'transient',
      random: 1,
      seconds: [2, 4, 8, 16, 32, 64, 128, 256, 300, 300],
    },
    { name: 'a fault that passes, at least', cause: 'transient', random: 0, seconds: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1] },
    {
      name: 'a fault that passes, mostly',
      cause: 'transient',
      random: 0.5,
      seconds: [1.5, 2.5, 4.5, 8.5, 16.5, 32.5, 64.5, 128.5, 150.5, 150.5],
    },
    {
      name: 'throttling, at most',
      cause: 'throttled',
      random: 1,
      seconds: [20, 20, 20, 20, 32, 64, 128, 256, 300, 300],
    },
    { name: 'throttling, at least', cause: 'throttled', random: 0, seconds: Array<number>(10).fill(10) },
    {
      name: 'a wrong configuration, at most',
      cause: 'configuration',
      random: 1,
      seconds: [60, 60, 60, 60, 60, 64, 128, 256, 300, 300],
    },
    { name: 'a wrong configuration, at least', cause: 'configuration', random: 0, seconds: Array<number>(10).fill(30) },
  ];

  test.each(cases)('$name', ({ cause, random, seconds }) => {
    expect(pauses(cause, random)).toEqual(seconds);
  });

  test.each([
    { name: 'is honoured where it is longer than the backoff', retryAfterMs: 90_000, seconds: 90 },
    { name: 'does not shorten the backoff', retryAfterMs: 100, seconds: 2 },
    { name: 'of an hour is followed for 15 minutes', retryAfterMs: 3_600_000, seconds: 900 },
  ])('a Retry-After $name', ({ retryAfterMs, seconds }) => {
    expect(backoffMs(1, 'transient', () => 1, retryAfterMs)).toBe(seconds * 1_000);
  });

  test('every pause is between 1 s and 5 min, after any number of failures', () => {
    const causes = fc.constantFrom<Cause>('transient', 'throttled', 'configuration');
    fc.assert(
      fc.property(
        causes,
        fc.nat(5_000),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (cause, failures, random) => {
          const pauseMs = backoffMs(failures, cause, () => random);
          expect(pauseMs).toBeGreaterThanOrEqual(1_000);
          expect(pauseMs).toBeLessThanOrEqual(300_000);
        },
      ),
    );
  });
});
