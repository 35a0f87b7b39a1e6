import type { Clock } from '../clock.ts';
import type { Pause } from '../lifecycle/pause.ts';

const tickMs = 100;

/** A tick that comes less late than this means a busy machine, not a stopped one. */
export const noiseFloorMs = 100;

export interface Pauses {
  /** Starts or stops the tick, which costs ten wake-ups a second. Stopping drops figures that were not taken. */
  watch(on: boolean): void;
  /** Our own synchronous work blocked the thread for `ms`: not a pause. Call it before the thread is released. */
  discountOwnWork(ms: number): void;
  /** The figures since the last call; null while the tick does not run. */
  take(): Pause | null;
  close(): void;
}

// assumption: host-freeze-measured, query-pauses-of-windows
/**
 * Measures from inside how long this VM was paused: a timer that is due every 100 ms fires late by as much. It sees a
 * stopped process as well as a frozen machine whose monotonic clock went on; a machine whose clocks stopped too shows up
 * only in `wallStepMs`.
 */
export function createPauses(clock: Clock): Pauses {
  let watching: AbortController | null = null;
  let lastMs = 0;
  let ownWorkMs = 0;
  let longestMs = 0;
  let totalMs = 0;

  /** Counts the time since the last tick and restarts. */
  const count = (): void => {
    const nowMs = clock.monotonicMs();
    const lateMs = nowMs - lastMs - tickMs - ownWorkMs;
    lastMs = nowMs;
    ownWorkMs = 0;
    if (lateMs < noiseFloorMs) return;
    longestMs = Math.max(longestMs, lateMs);
    totalMs += lateMs;
  };

  const reset = (): void => {
    lastMs = clock.monotonicMs();
    ownWorkMs = 0;
    longestMs = 0;
    totalMs = 0;
  };

  const tick = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      await clock.sleep(tickMs, signal);
      if (signal.aborted) return;
      count();
    }
  };

  const watch = (on: boolean): void => {
    if (on === (watching !== null)) return;
    watching?.abort();
    watching = on ? new AbortController() : null;
    reset();
    if (watching) void tick(watching.signal);
  };

  return {
    watch,
    discountOwnWork(ms) {
      ownWorkMs += Math.max(0, ms);
    },
    take() {
      if (watching === null) return null;
      // After a stop an answer may be handled before the tick: what is overdue by then counts already.
      if (clock.monotonicMs() - lastMs - tickMs - ownWorkMs >= noiseFloorMs) count();
      const taken = { longestMs: Math.round(longestMs), totalMs: Math.round(totalMs) };
      longestMs = 0;
      totalMs = 0;
      return taken;
    },
    close: () => watch(false),
  };
}
