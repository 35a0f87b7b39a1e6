import type { FaultTest, Outcome } from './fault-test.ts';

/** A test with what became of it. */
export interface Result {
  readonly test: Pick<FaultTest, 'id' | 'title' | 'kind' | 'cases'>;
  readonly cases: number;
  readonly seed: number;
  readonly seconds: number;
  /** Of the test and what it started; null where it did not complete. */
  readonly processorSeconds: number | null;
  /** How much slower than idle the machine was meanwhile. */
  readonly slowdown: number;
  readonly ended: Ended;
}

export type Ended =
  | { readonly how: 'outcome'; readonly outcome: Outcome }
  | { readonly how: 'skipped'; readonly reason: string }
  /** The test itself is broken, or it took too long. */
  | { readonly how: 'error'; readonly message: string };

/** However busy the machine was, a time may not exceed its bound by more. */
const mostSlowdown = 2;

/** What a bound in seconds is on a machine that was that much slower than idle. The table says where this decided. */
const boundOf = (mostSeconds: number, slowdown: number): number => mostSeconds * Math.min(slowdown, mostSlowdown);

/** Whether a time was longer than promised, by no more than a busy machine explains. */
export const isExcused = ({ worst }: Outcome, slowdown: number): boolean =>
  worst !== null && worst.seconds > worst.mostSeconds && worst.seconds <= boundOf(worst.mostSeconds, slowdown);

/**
 * What is wrong with an outcome, each a sentence; empty if the promises held. A fault that did not happen is wrong as well: a test
 * without its fault proves nothing.
 */
export function faultsOf(outcome: Outcome, slowdown = 1): readonly string[] {
  const { lost, duplicated, happened, worst, freshArrived, conservation, broken } = outcome;
  return [
    ...(lost > 0 ? [`${lost} lost`] : []),
    ...(duplicated.found > duplicated.allowed
      ? [`${duplicated.found} duplicates, at most ${duplicated.allowed} are allowed`]
      : []),
    ...(happened.length === 0 ? ['no proof that the fault happened'] : []),
    ...happened
      .filter(({ count, least }) => count < least)
      .map(({ what, count, least }) => `${what}: ${count}, at least ${least} are needed`),
    ...(worst && worst.seconds > boundOf(worst.mostSeconds, slowdown)
      ? [`${worst.what}: ${Number(worst.seconds.toFixed(2))} s, at most ${worst.mostSeconds} s are allowed`]
      : []),
    ...(freshArrived ? [] : ['a fresh event did not arrive after the last fault']),
    ...(conservation.samples === 0 ? ['the counters were never sampled'] : []),
    ...(conservation.violations > 0
      ? [`the counters did not add up in ${conservation.violations} of ${conservation.samples} samples`]
      : []),
    ...broken,
  ];
}

/** `ok`, `skipped`, or what is wrong. */
export function verdictOf({ ended, slowdown }: Result): 'ok' | 'skipped' | 'failed' {
  if (ended.how === 'skipped') return 'skipped';
  return ended.how === 'outcome' && faultsOf(ended.outcome, slowdown).length === 0 ? 'ok' : 'failed';
}
