import type { FaultTest, Outcome } from './fault-test.ts';

/** A test with what became of it. */
export interface Result {
  readonly test: Pick<FaultTest, 'id' | 'title' | 'kind'>;
  readonly cases: number;
  readonly seed: number;
  readonly seconds: number;
  readonly ended: Ended;
}

export type Ended =
  | { readonly how: 'outcome'; readonly outcome: Outcome }
  | { readonly how: 'skipped'; readonly reason: string }
  /** The test itself is broken, or it took too long. */
  | { readonly how: 'error'; readonly message: string };

/**
 * What is wrong with an outcome, each a sentence; empty if the promises held. A fault that did not happen is wrong as well: a test
 * without its fault proves nothing.
 */
export function faultsOf(outcome: Outcome): readonly string[] {
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
    ...(worst && worst.seconds > worst.mostSeconds
      ? [`${worst.what}: ${worst.seconds} s, at most ${worst.mostSeconds} s are allowed`]
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
export function verdictOf({ ended }: Result): 'ok' | 'skipped' | 'failed' {
  if (ended.how === 'skipped') return 'skipped';
  return ended.how === 'outcome' && faultsOf(ended.outcome).length === 0 ? 'ok' : 'failed';
}
