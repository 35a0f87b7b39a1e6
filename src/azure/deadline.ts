import { aborted as abortedSend, KnownFailure, retry } from './failure.ts';

/**
 * How long a destination may take to accept a connection, or to answer on one; in ms. That it does not has to be visible within 15 s, and a
 * busy machine needs some of them.
 */
export const answerMs = 12_000;

/** Operations with a deadline. The code of a missed one is `<operation>-timeout`. */
export type Operation = 'token' | 'connect' | 'send' | 'upload' | 'check' | 'close';

/**
 * Runs SDK calls that may never return. `upload()` has no time-out of its own, `getToken()` ignores its AbortSignal, an AMQP
 * connection to a silent peer takes 60 s regardless of the options (all measured): so the signal given to the call is aborted *and*
 * the wait for it ends.
 */
export interface Deadlines extends DeadlineCounts {
  /**
   * Resolves or rejects with what `work` does if that happens within `ms`. Otherwise rejects with a
   * {@link KnownFailure}: `<operation>-timeout`, or `aborted` when one of `signals` ended the wait. A later result is
   * ignored and counted.
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
  /** Abandoned calls that settled later. */
  readonly lateSettles: number;
}

/** @param what the calls go to, for messages: `the event hub vm-lifecycle in …`. */
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
      // The wait ends before the abort is passed on: an SDK that rejects at once on abort counts as late.
      const abandon = (failure: KnownFailure): void => {
        finish(() => reject(failure));
        inner.abort(failure);
      };
      const onAbort = (): void => abandon(new KnownFailure(abortedSend));
      const timer = setTimeout(() => {
        missed[operation] = (missed[operation] ?? 0) + 1;
        abandon(missedFailure(operation, ms, what));
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
  const reason = `No answer from ${what} within ${ms / 1000} s (${operation}); retrying. If this continues, check for a firewall in between.`;
  return new KnownFailure(retry('transient', `${operation}-timeout`, reason));
}
