import type { Clock } from '../../src/clock.ts';

/** A clock that a test owns. Nothing sleeps in real time. */
export interface FakeClock extends Clock {
  /** Lets time pass: both clocks move, and who sleeps wakes in order, each with the time at which it wanted to wake. */
  advance(ms: number): Promise<void>;
  /** Steps the wall clock only, as NTP or the hypervisor does. */
  stepWall(ms: number): void;
  /** How many sleep. */
  sleepers(): number;
}

/** Lets everything run that is able to. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function createFakeClock(start = '2026-01-01T00:00:00.000Z'): FakeClock {
  let monotonic = 1_000;
  let wall = Date.parse(start);
  const sleeping = new Set<{ readonly until: number; readonly wake: () => void }>();

  const moveTo = (time: number): void => {
    wall += time - monotonic;
    monotonic = time;
  };

  return {
    now: () => new Date(wall),
    monotonicMs: () => monotonic,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          sleeping.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = { until: monotonic + Math.max(0, ms), wake };
        sleeping.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    async advance(ms) {
      const end = monotonic + ms;
      await settled();
      for (;;) {
        const next = [...sleeping].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
        if (!next) break;
        moveTo(next.until);
        next.wake();
        await settled();
      }
      moveTo(end);
      await settled();
    },
    stepWall: (ms) => {
      wall += ms;
    },
    sleepers: () => sleeping.size,
  };
}
