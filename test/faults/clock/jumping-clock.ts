import type { Clock } from '../../../src/clock.ts';

/** The clock of this machine, which a test makes jump. */
export interface JumpingClock extends Clock {
  /** Steps the wall clock only, as NTP, an operator or a resume after a suspension does: the monotonic clock of Linux does not count that. */
  jump(ms: number): void;
  /** Lets time pass on both clocks, and wakes those who waited for it. */
  pass(ms: number): void;
  /** How often `sleep` was called. */
  sleeps(): number;
}

export function createJumpingClock(): JumpingClock {
  const sleeping = new Set<() => void>();
  let [wallMs, passedMs, sleeps] = [0, 0, 0];
  const monotonicMs = (): number => performance.now() + passedMs;
  return {
    now: () => new Date(Date.now() + wallMs + passedMs),
    monotonicMs,
    sleep(ms, signal) {
      sleeps += 1;
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const until = monotonicMs() + ms;
        const end = (): void => {
          clearTimeout(timer);
          sleeping.delete(wakeIfDue);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const wakeIfDue = (): void => {
          if (monotonicMs() >= until) end();
        };
        const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1));
        sleeping.add(wakeIfDue);
        signal?.addEventListener('abort', end, { once: true });
      });
    },
    jump(ms) {
      wallMs += ms;
    },
    pass(ms) {
      passedMs += ms;
      for (const wakeIfDue of [...sleeping]) wakeIfDue();
    },
    sleeps: () => sleeps,
  };
}
