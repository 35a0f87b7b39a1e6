import { Failure } from '../../cli/exit-codes.ts';
import { systemClock } from '../../clock.ts';

/** Waiting in a show. Once it is over nothing that waits ever resolves: whoever plays is left where he stands. */
export interface Waits {
  /** Aborted when the show is over. */
  readonly signal: AbortSignal;
  pause(ms: number): Promise<void>;
  /** Until it holds. What is waited for in vain ends the show. */
  until(what: string, holds: () => boolean): Promise<void>;
  /** Until it holds, but not longer than patience lasts; false then. */
  patiently(holds: () => boolean): Promise<boolean>;
  /** Resolves when the show is over; rejects when it ended with a {@link Failure}. */
  over(): Promise<void>;
  end(): void;
}

const lookEveryMs = 50;

/** `stop` ends the show, with a failure if that is its reason. */
export function createWaits(stop: AbortSignal, patienceMs = 20_000): Waits {
  const ending = new AbortController();
  const signal = AbortSignal.any([stop, ending.signal]);

  const pause = async (ms: number): Promise<void> => {
    await systemClock.sleep(ms, signal);
    if (signal.aborted) await new Promise(() => {});
  };
  const patiently = async (holds: () => boolean): Promise<boolean> => {
    const deadline = performance.now() + patienceMs;
    while (!holds()) {
      if (performance.now() > deadline) return false;
      await pause(lookEveryMs);
    }
    return true;
  };
  return {
    signal,
    pause,
    patiently,
    async until(what, holds) {
      if (await patiently(holds)) return;
      ending.abort(new Failure('unexpected', `The demo waited in vain for ${what}.`));
      await pause(0);
    },
    over: () =>
      new Promise((resolve, reject) => {
        const end = (): void => (signal.reason instanceof Failure ? reject(signal.reason) : resolve());
        if (signal.aborted) end();
        else signal.addEventListener('abort', end, { once: true });
      }),
    end: () => ending.abort(),
  };
}
