import type { Clock } from '../clock.ts';

/** What the relay's loop waits on: anything that may give it something to do rings. A ring while nobody waits is kept. */
export interface Notifier {
  notify(): void;
  /** Resolves when it rings or has rung since the last wait, after `ms`, or when `signal` is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export function createNotifier(clock: Clock): Notifier {
  let rung = false;
  const waiting = new Set<() => void>();
  return {
    notify() {
      if (waiting.size === 0) rung = true;
      for (const wake of waiting) wake();
    },
    async wait(ms, signal) {
      if (!rung && !signal?.aborted && ms > 0) {
        const over = new AbortController();
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
          signal?.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
          if (Number.isFinite(ms)) void clock.sleep(ms, over.signal).then(resolve);
          over.signal.addEventListener('abort', () => waiting.delete(resolve), { once: true });
        });
        over.abort('the wait is over');
        return;
      }
      rung = false;
    },
  };
}
