/** Time as a parameter: everything that waits or asks the time takes a `Clock`, so that a test owns it. */
export interface Clock {
  /** Wall clock. May be stepped by NTP or by the hypervisor: never measure a duration with it. */
  now(): Date;
  /** Milliseconds of a clock that never goes backwards. Only differences mean something, also between two processes of one boot. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` is aborted. Never rejects; keeps no process alive once aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  // Counts from the boot, where `performance.now()` counts from the start of the process.
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** `42 s`, `17 min`, `5 h`, `3 d`: rounded to the unit of which there are at least two. The sign is dropped. */
export function formatDuration(seconds: number): string {
  const unit = units.find(([, length]) => Math.abs(seconds) >= 2 * length);
  if (!unit) return `${Math.round(Math.abs(seconds))} s`;
  return `${Math.round(Math.abs(seconds) / unit[1])} ${unit[0]}`;
}

const precise = [
  ['d', 86_400, 'h', 3_600],
  ['h', 3_600, 'min', 60],
  ['min', 60, 's', 1],
] as const;

/** `42 s`, `14 min 12 s`, `3 h 5 min`, `2 d 4 h`: two units, rounded down, so that it counts down. The sign is dropped. */
export function formatCountdown(seconds: number): string {
  const left = Math.floor(Math.abs(seconds));
  const found = precise.find(([, length]) => left >= length);
  if (!found) return `${left} s`;
  const [unit, length, smaller, smallerLength] = found;
  return `${Math.floor(left / length)} ${unit} ${Math.floor((left % length) / smallerLength)} ${smaller}`;
}
