import fc from 'fast-check';
import { expect, test } from 'vitest';
import { longestWaitMs, nextPollIn } from '../../src/imds/poll-pace.ts';

const good = { kind: 'document' } as const;
const bad = (retryAfterMs: number | null) => ({ kind: 'unavailable', retryAfterMs }) as const;

test.each([
  { poll: 'a quick answer', seen: good, tookMs: 3, everyMs: 1000, waitMs: 997 },
  { poll: 'an answer as slow as the interval', seen: good, tookMs: 1000, everyMs: 1000, waitMs: 0 },
  { poll: 'a very slow answer', seen: good, tookMs: 120_000, everyMs: 1000, waitMs: 0 },
  { poll: 'an interval of five seconds', seen: good, tookMs: 10, everyMs: 5000, waitMs: 4990 },
  { poll: 'a failure without a wish', seen: bad(null), tookMs: 3, everyMs: 1000, waitMs: 997 },
  { poll: 'a time-out', seen: bad(null), tookMs: 10_000, everyMs: 1000, waitMs: 0 },
  { poll: 'a wish for no wait', seen: bad(0), tookMs: 3, everyMs: 1000, waitMs: 997 },
  { poll: 'a wish for two seconds', seen: bad(2000), tookMs: 3, everyMs: 1000, waitMs: 2000 },
  { poll: 'a wish for five seconds', seen: bad(5000), tookMs: 3, everyMs: 1000, waitMs: 5000 },
  { poll: 'a wish shorter than the interval', seen: bad(2000), tookMs: 0, everyMs: 4000, waitMs: 4000 },
  { poll: 'a clock that went wrong', seen: good, tookMs: -50, everyMs: 1000, waitMs: 1000 },
])('after $poll the next poll starts in $waitMs ms', ({ seen, tookMs, everyMs, waitMs }) => {
  expect(nextPollIn(seen, { tookMs, pollIntervalMs: everyMs })).toEqual({ waitMs, cappedMs: null });
});

test('a Retry-After of an hour is limited to five seconds, and reported', () => {
  expect(nextPollIn(bad(3_600_000), { tookMs: 3, pollIntervalMs: 1000 })).toEqual({
    waitMs: 5000,
    cappedMs: 3_600_000,
  });
});

test('never more than one poll a second starts, and none later than five seconds after the last', () => {
  const wish = fc.option(fc.nat(1e9));
  fc.assert(
    fc.property(fc.nat(200_000), fc.integer({ min: 0, max: 5000 }), wish, (tookMs, pollIntervalMs, retryAfterMs) => {
      const { waitMs } = nextPollIn(bad(retryAfterMs), { tookMs, pollIntervalMs });
      expect(tookMs + waitMs).toBeGreaterThanOrEqual(1000);
      expect(waitMs).toBeLessThanOrEqual(longestWaitMs);
    }),
  );
});
