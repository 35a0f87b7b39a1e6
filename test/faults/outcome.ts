import type { Outcome } from './fault-test.ts';

/** The outcomes of several cases as one: sums, the longest time, and what is wrong with any. */
export function combined(outcomes: readonly Outcome[]): Outcome {
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, each) => total + of(each), 0);
  const whats = [...new Set(outcomes.flatMap(({ happened }) => happened.map(({ what }) => what)))];
  const proofs = (what: string) => outcomes.flatMap(({ happened }) => happened.filter((one) => one.what === what));
  const times = outcomes.flatMap(({ worst }) => (worst ? [worst] : []));
  // The one that used most of what it is allowed.
  const [worst = null] = times.toSorted((a, b) => b.seconds / b.mostSeconds - a.seconds / a.mostSeconds);
  return {
    lost: sum(({ lost }) => lost),
    duplicated: {
      found: sum(({ duplicated }) => duplicated.found),
      allowed: sum(({ duplicated }) => duplicated.allowed),
    },
    happened: whats.map((what) => ({
      what,
      count: proofs(what).reduce((total, { count }) => total + count, 0),
      least: proofs(what).reduce((total, { least }) => total + least, 0),
    })),
    worst,
    freshArrived: outcomes.every(({ freshArrived }) => freshArrived),
    conservation: {
      samples: sum(({ conservation }) => conservation.samples),
      violations: sum(({ conservation }) => conservation.violations),
    },
    broken: outcomes.flatMap(({ broken }) => broken),
  };
}
