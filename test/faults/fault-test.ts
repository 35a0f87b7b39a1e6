import type { Load } from './schedule.ts';

/** One row of the table that `npm run faults` prints. It proves a promise of `infra/guarantees.md` under one kind of fault. */
export interface FaultTest {
  /** Words and hyphens: `random-kills`. `--only` names it. */
  readonly id: string;
  /** What happens to the bridge, as a phrase: `SIGKILL at random moments`. */
  readonly title: string;
  /** Whether whole processes take part, or one process with an injected clock, the real file and the real libraries. */
  readonly kind: 'processes' | 'one process';
  /** How many cases: of a quick run, which `.ci/run` includes, and of a full one. */
  readonly cases: { readonly quick: number; readonly full: number };
  /** So that tests which mostly wait run beside each other. Measured: the results have the figures. */
  readonly load: Load;
  /** Why it cannot run here, for example because a program is missing; null if it can. */
  whyNot?(): string | null;
  /** Throws only if the test itself is broken; what the bridge did wrong is in the outcome. */
  run(context: FaultContext): Promise<Outcome>;
}

export interface FaultContext {
  readonly cases: number;
  /** All that is random is drawn from it, so that a run can be repeated. */
  readonly seed: number;
  /** A folder of its own, removed after the test. */
  readonly directory: string;
  /**
   * The bridge that is tested, bundled from `src`, or from a copy of it to which a negative control has applied its patch. Tests of one
   * process import from that folder, `sources`.
   */
  readonly program: string;
  readonly sources: string;
  /** Of an interrupt. A test of many independent cases ends with the outcome of those that it played; others throw. */
  readonly signal: AbortSignal;
  /** Progress, for the person who watches. */
  say(line: string): void;
}

export interface Outcome {
  /** How many cases were played, where an interrupt ended the test before the others. */
  readonly played?: number;
  /** What was due at a sink and never arrived, over all sinks. */
  readonly lost: number;
  /** Copies with the same `recordId`, and the most that this many faults may cause. */
  readonly duplicated: { readonly found: number; readonly allowed: number };
  /** Proofs that the fault really happened: kills, refusals, fault points reached, copies seen. Each is at least `least`. */
  readonly happened: readonly { readonly what: string; readonly count: number; readonly least: number }[];
  /** The longest time that the promise bounds, such as a recovery; null for a test without one. */
  readonly worst: { readonly what: string; readonly seconds: number; readonly mostSeconds: number } | null;
  /** A fresh event that was scheduled after the last fault arrived at every sink. */
  readonly freshArrived: boolean;
  /** Samples of the equation of `imbalance` in `src/outbox/store/counters.ts`, and how many of them it did not hold for. */
  readonly conservation: { readonly samples: number; readonly violations: number };
  /** Every other promise that was broken, each a sentence. */
  readonly broken: readonly string[];
  /** Figures for which the table has no column, each a line below it. */
  readonly details?: readonly string[];
}
