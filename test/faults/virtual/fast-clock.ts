import { subscribe } from 'node:diagnostics_channel';
import type { Clock } from '../../../src/clock.ts';

/** A clock whose time passes only on demand, while the network is idle: in between the bridge talks to real sockets. */
export interface FastClock extends Clock {
  advance(ms: number): Promise<void>;
  /** No time passes until this promise has settled. */
  during<T>(work: Promise<T>): Promise<T>;
  /** How many sleep. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** Enough turns of the event loop for an answer that has arrived to be handled, and a commit to be made. */
const idleTurns = 6;

export function createFastClock(wallMs: number): FastClock {
  let elapsedMs = 0;
  let busy = 0;
  const sleeping = new Set<Sleeper>();

  const begin = (): void => {
    busy += 1;
  };
  const end = (): void => {
    busy -= 1;
  };
  // Requests for documents.
  subscribe('undici:request:create', begin);
  subscribe('undici:request:trailers', end);
  subscribe('undici:request:error', end);

  /** Until nothing is under way, for some turns in a row. */
  async function idle(): Promise<void> {
    for (let turns = 0; turns < idleTurns; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (busy > 0) turns = -1;
    }
  }

  return {
    now: () => new Date(wallMs + elapsedMs),
    monotonicMs: () => elapsedMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          sleeping.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = { until: elapsedMs + Math.max(0, ms), wake };
        sleeping.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    async advance(ms) {
      const end = elapsedMs + ms;
      for (;;) {
        await idle();
        const next = [...sleeping].reduce<Sleeper | null>((a, b) => (a && a.until <= b.until ? a : b), null);
        if (!next || next.until > end) break;
        elapsedMs = Math.max(elapsedMs, next.until);
        for (const sleeper of [...sleeping]) if (sleeper.until <= elapsedMs) sleeper.wake();
      }
      elapsedMs = end;
      await idle();
    },
    async during(work) {
      begin();
      try {
        return await work;
      } finally {
        end();
      }
    },
    get sleepers() {
      return sleeping.size;
    },
  };
}
