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
