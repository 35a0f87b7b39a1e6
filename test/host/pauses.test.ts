import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { createPauses } from '../../src/host/pauses.ts';
import { settled } from '../support/fake-clock.ts';

/** A clock that advances without firing timers: as for a process that is stopped, or busy. */
function createStallingClock() {
  let nowMs = 5000;
  let sleeper: { readonly at: number; readonly wake: () => void } | null = null;
  const clock: Clock = {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        sleeper = { at: nowMs + ms, wake: resolve };
        signal?.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
  return {
    clock,
    stall: (ms: number) => {
      nowMs += ms;
    },
    /** Wakes who is due. */
    async wake() {
      if (sleeper && sleeper.at <= nowMs) sleeper.wake();
      await settled();
    },
    /** Time passes as it should. */
    async run(ms: number) {
      for (let left = ms; left > 0; left -= 100) {
        nowMs += Math.min(100, left);
        await this.wake();
      }
    },
  };
}

describe('pauses', () => {
  test('are not measured without a request', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    time.stall(3000);
    await time.wake();
    expect(pauses.take()).toBeNull();
    pauses.watch(true);
    expect(pauses.take()).toEqual({ longestMs: 0, totalMs: 0 });
    pauses.watch(false);
    expect(pauses.take()).toBeNull();
    pauses.close();
  });

  test('are the longest and the sum of what the tick came late, since they were taken last', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    pauses.watch(true);
    await time.run(1000);
    for (const ms of [600, 3100]) {
      time.stall(ms);
      await time.wake();
      await time.run(1000);
    }
    expect(pauses.take()).toEqual({ longestMs: 3000, totalMs: 3500 });
    await time.run(1000);
    expect(pauses.take()).toEqual({ longestMs: 0, totalMs: 0 });
    pauses.close();
  });

  test('under a tenth of a second are noise, however many', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    pauses.watch(true);
    for (let tick = 0; tick < 100; tick += 1) {
      time.stall(199);
      await time.wake();
    }
    expect(pauses.take()).toEqual({ longestMs: 0, totalMs: 0 });
    pauses.close();
  });

  test('count also before the late tick came, and only once', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    pauses.watch(true);
    await time.run(500);
    time.stall(2100);
    expect(pauses.take()).toEqual({ longestMs: 2000, totalMs: 2000 });
    await time.wake();
    await time.run(500);
    expect(pauses.take()).toEqual({ longestMs: 0, totalMs: 0 });
    pauses.close();
  });

  test('are complete when read in the middle of an interval', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    pauses.watch(true);
    await time.run(500);
    time.stall(60);
    expect(pauses.take()).toEqual({ longestMs: 0, totalMs: 0 });
    time.stall(3040);
    await time.wake();
    expect(pauses.take()).toEqual({ longestMs: 3000, totalMs: 3000 });
    pauses.close();
  });

  test('do not hold our own synchronous work', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    pauses.watch(true);
    await time.run(500);
    time.stall(900);
    pauses.discountOwnWork(900);
    await time.wake();
    expect(pauses.take()).toEqual({ longestMs: 0, totalMs: 0 });
    time.stall(2900);
    pauses.discountOwnWork(800);
    await time.wake();
    expect(pauses.take()).toEqual({ longestMs: 2000, totalMs: 2000 });
    pauses.close();
  });

  test('are not discounted because of earlier work', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    pauses.discountOwnWork(5000);
    pauses.watch(true);
    pauses.discountOwnWork(90);
    await time.run(500);
    time.stall(1100);
    await time.wake();
    expect(pauses.take()).toEqual({ longestMs: 1000, totalMs: 1000 });
    pauses.close();
  });

  test('before the watch do not count', async () => {
    const time = createStallingClock();
    const pauses = createPauses(time.clock);
    pauses.watch(true);
    await time.run(500);
    pauses.watch(false);
    time.stall(5000);
    pauses.watch(true);
    pauses.watch(true);
    await time.run(500);
    expect(pauses.take()).toEqual({ longestMs: 0, totalMs: 0 });
    pauses.close();
  });
});
