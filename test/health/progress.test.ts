import { expect, test } from 'vitest';
import { createProgress, loopLimits, pollLoop } from '../../src/health/progress.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const ten = () => ({ limitMs: 10_000, because: 'ten seconds are plenty' });

test('a loop is judged from its first turn on, and each by its own age', async () => {
  const clock = createFakeClock();
  const progress = createProgress(clock, ten);
  expect(progress.loops()).toEqual([]);
  progress.beat('a');
  await clock.advance(8_000);
  progress.beat('b');
  await clock.advance(3_000);
  const standing = () => progress.loops().map(({ loop, ageMs, isProgressing }) => ({ loop, ageMs, isProgressing }));
  expect(standing()).toEqual([
    { loop: 'a', ageMs: 11_000, isProgressing: false },
    { loop: 'b', ageMs: 3_000, isProgressing: true },
  ]);
  progress.beat('a');
  expect(standing()[0]).toEqual({ loop: 'a', ageMs: 0, isProgressing: true });
});

test('a step of the wall clock makes no loop late', () => {
  const clock = createFakeClock();
  const progress = createProgress(clock, ten);
  progress.beat('a');
  clock.stepWall(86_400_000);
  expect(progress.loops()[0]?.isProgressing).toBe(true);
});

test('a poll may take as long as the answer that enables Scheduled Events, a relay as long as its sleep and its longest send', () => {
  const imds = { timeoutSeconds: 10, firstTimeoutSeconds: 130 };
  const limits = loopLimits({ imds, holdSeconds: { 'event-hubs': 300 } });
  expect(limits(pollLoop)).toEqual({ limitMs: 165_000, because: expect.stringContaining('130 s') });
  expect(limits('event-hubs')).toEqual({ limitMs: 450_000, because: expect.stringContaining('360 s') });
  expect(loopLimits({ imds, holdSeconds: {} })('stdout').limitMs).toBe(150_000);
});
