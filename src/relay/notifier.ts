import type { Clock } from '../clock.ts';

/** What the relay's loop waits on: anything that may give it something to do notifies it. */
export function createNotifier(clock: Clock) {
  let isNotified = false;
  const waiting = new Set<() => void>();
  return {
    /** Wakes those that wait; while none does, the next wait ends at once. */
    notify(): void {
      if (waiting.size === 0) isNotified = true;
      for (const wake of waiting) wake();
    },
    /** Resolves when notified, now or since the last wait, after `ms`, or when `signal` is aborted. */
    async wait(ms: number, signal?: AbortSignal): Promise<void> {
      if (isNotified || signal?.aborted || ms <= 0) {
        isNotified = false;
        return;
      }
      const over = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
      if (Number.isFinite(ms)) void clock.sleep(ms, over.signal).then(resolve);
      await promise;
      waiting.delete(resolve);
      over.abort('the wait is over');
    },
  };
}
