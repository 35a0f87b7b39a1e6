import { expect, test } from 'vitest';
import { createRuleThrottle } from '../../../src/azure-simulator/logs-ingestion/rule-limit.ts';

test('a rule without a limit takes whatever comes', () => {
  const throttle = createRuleThrottle(() => 0);
  expect(Array.from({ length: 20_000 }, () => throttle.secondsToWait(1_000_000)).every((wait) => wait === 0)).toBe(
    true,
  );
});

test('a rule accepts a limited number of requests a minute, and answers when the next minute starts', () => {
  let now = 5_000;
  const throttle = createRuleThrottle(() => now);
  throttle.limit({ requestsPerMinute: 2 });
  const callAt = (ms: number): number => {
    now = ms;
    return throttle.secondsToWait(1);
  };
  expect([5_000, 20_000, 20_000, 64_100, 64_999].map(callAt)).toEqual([0, 0, 45, 1, 1]);
  expect([65_000, 70_000, 70_000].map(callAt)).toEqual([0, 0, 55]);
  throttle.limit(null);
  expect(callAt(70_000)).toBe(0);
});

test('a rule accepts a limited number of bytes a minute, including the call that exceeds it', () => {
  let now = 0;
  const throttle = createRuleThrottle(() => now);
  throttle.limit({ bytesPerMinute: 100 });
  expect([99, 1_000_000, 1].map((bytes) => throttle.secondsToWait(bytes))).toEqual([0, 0, 60]);
  now = 60_000;
  expect(throttle.secondsToWait(1)).toBe(0);
});

test('a rule that takes nothing refuses the first call', () => {
  const throttle = createRuleThrottle(() => 0);
  throttle.limit({ requestsPerMinute: 0 });
  expect(throttle.secondsToWait(1)).toBe(60);
});
