import type { Clock } from '../../../src/clock.ts';

interface Sleeper {
  readonly until: number;
  /** Undefined once it was woken or aborted. */
  wake: (() => void) | undefined;
}

/** A clock for a hundred thousand sleepers. Its time passes as fast as the processor allows. */
export interface VirtualClock extends Clock {
  /** Advances to this moment; calls `each` at the end of every second. */
  runUntil(monotonicMs: number, each: (second: number) => void): Promise<void>;
}

/** All sleeps end at a multiple of this: the event loop is waited for once for all of them. */
const tickMs = 10;

export function createVirtualClock(start = Date.parse('2026-01-01T00:00:00Z')): VirtualClock {
  let time = 0;
  let activity = 0;
  const due = new Map<number, Sleeper[]>();
  const times = createHeap();

  function enqueue(sleeper: Sleeper): void {
    const there = due.get(sleeper.until);
    if (there) there.push(sleeper);
    else {
      due.set(sleeper.until, [sleeper]);
      times.push(sleeper.until);
    }
  }

  /** Until two turns of the event loop have passed without a new sleep. */
  async function settled(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      const before = activity;
      await new Promise((resolve) => setImmediate(resolve));
      quiet = activity === before ? quiet + 1 : 0;
    }
  }

  return {
    now: () => new Date(start + time),
    monotonicMs: () => time,
    sleep: (ms, signal) => {
      if (signal?.aborted) return Promise.resolve();
      activity += 1;
      return new Promise((resolve) => {
        const until = Math.ceil((time + Math.max(ms, 1)) / tickMs) * tickMs;
        const sleeper: Sleeper = { until, wake: undefined };
        const wake = (): void => {
          sleeper.wake = undefined;
          signal?.removeEventListener('abort', wake);
          activity += 1;
          resolve();
        };
        sleeper.wake = wake;
        signal?.addEventListener('abort', wake, { once: true });
        enqueue(sleeper);
      });
    },
    async runUntil(end, each) {
      await settled();
      let second = Math.floor(time / 1000);
      for (let next = times.peek(); next !== undefined && next <= end; next = times.peek()) {
        times.pop();
        const sleepers = due.get(next) ?? [];
        due.delete(next);
        if (sleepers.every(({ wake }) => wake === undefined)) continue;
        for (; second < Math.floor(next / 1000); second += 1) each(second);
        time = next;
        for (const { wake } of sleepers) wake?.();
        await settled();
      }
      for (; second < Math.floor(end / 1000); second += 1) each(second);
      time = end;
    },
  };
}

/** The smallest number first. */
function createHeap() {
  const heap: number[] = [];
  const at = (index: number): number => heap[index] ?? Number.POSITIVE_INFINITY;
  const swap = (one: number, other: number): void => {
    const kept = at(one);
    heap[one] = at(other);
    heap[other] = kept;
  };
  return {
    peek: (): number | undefined => heap[0],
    push(value: number): void {
      heap.push(value);
      for (let child = heap.length - 1, parent = (child - 1) >> 1; child > 0 && at(child) < at(parent); ) {
        swap(child, parent);
        child = parent;
        parent = (child - 1) >> 1;
      }
    },
    pop(): void {
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return;
      heap[0] = last;
      for (let parent = 0; ; ) {
        const [left, right] = [2 * parent + 1, 2 * parent + 2];
        const least = at(right) < at(left) ? right : left;
        if (at(least) >= at(parent)) return;
        swap(least, parent);
        parent = least;
      }
    },
  };
}
