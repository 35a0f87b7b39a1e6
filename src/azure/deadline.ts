import { aborted as abortedSend, KnownFailure, retry } from './failure.ts';

/** Waits that are bounded. The code of a missed one is `<name>-timeout`. */
export type Operation = 'token' | 'connect' | 'send' | 'upload' | 'check' | 'close';

/**
 * Runs SDK calls that cannot be trusted to return. `upload()` has no time-out of its own, `getToken()` ignores its
 * AbortSignal, an AMQP connection to a silent peer takes 60 s whatever the options say (all measured): so the signal given to
 * the call is aborted *and* the wait for it ends, whichever helps.
 */
export interface Deadlines extends DeadlineCounts {
  /**
   * Resolves or rejects with what `work` does if that happens within `ms`. Otherwise rejects with a
   * {@link KnownFailure}: `<operation>-timeout`, or `aborted` when one of `signals` ended the wait. What the abandoned
   * promise does later is swallowed and counted.
   */
  run<T>(
    operation: Operation,
    ms: number,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

export interface DeadlineCounts {
  /** How often a deadline was missed, by operation. */
  readonly missed: Readonly<Partial<Record<Operation, number>>>;
  /** Abandoned promises that settled after all. */
  readonly lateSettles: number;
}

/** @param what is addressed, for the sentence: `the event hub vm-lifecycle in …`. */
export function createDeadlines(what: string): Deadlines {
  const missed: Partial<Record<Operation, number>> = {};
  let lateSettles = 0;

  function run<T>(
    operation: Operation,
    ms: number,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (signals.some(({ aborted }) => aborted)) return reject(new KnownFailure(abortedSend));
      const inner = new AbortController();
      let over = false;
      const finish = (settle: () => void): void => {
        if (over) {
          lateSettles += 1;
          return;
        }
        over = true;
        clearTimeout(timer);
        for (const signal of signals) signal.removeEventListener('abort', onAbort);
        settle();
      };
      // The wait ends before the abort is passed on: an SDK that rejects at once on abort is late, not first.
      const giveUp = (failure: KnownFailure): void => {
        finish(() => reject(failure));
        inner.abort(failure);
      };
      const onAbort = (): void => giveUp(new KnownFailure(abortedSend));
      const timer = setTimeout(() => {
        missed[operation] = (missed[operation] ?? 0) + 1;
        giveUp(missedFailure(operation, ms, what));
      }, ms);
      for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true });
      start(work, inner.signal).then(
        (value) => finish(() => resolve(value)),
        (error: unknown) => finish(() => reject(error)),
      );
    });
  }

  return {
    run,
    missed,
    get lateSettles() {
      return lateSettles;
    },
  };
}

/** Some SDK calls throw before they return a promise. */
async function start<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return await work(signal);
}

function missedFailure(operation: Operation, ms: number, what: string): KnownFailure {
  const reason = `No answer from ${what} within ${ms / 1000} s (${operation}); it is tried again. If it stays, look at what stands between, for instance a firewall.`;
  return new KnownFailure(retry('transient', `${operation}-timeout`, reason));
}
