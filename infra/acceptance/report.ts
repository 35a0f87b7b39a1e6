import type { Assumption } from './assumptions.ts';
import { beginningOf, type Entry, type Left } from './journal.ts';
import type { Difference, Finding } from './step.ts';
import { type StepOutcome, type Verdict, verdictsOf } from './verdicts.ts';

/** What a run found out. It is made of the journal alone, so that a crash leaves one. */
export interface Report {
  readonly run: {
    readonly id: string;
    readonly against: 'azure' | 'simulator';
    readonly subscription: string;
    readonly location: string;
    /** UTC. */
    readonly begunAt: string;
    readonly minutes: number;
    readonly state: RunState;
    readonly versions: Readonly<Record<string, string>>;
    /** The most that the steps that began can have cost, in US dollars. */
    readonly maxCostUsd: number;
  };
  readonly assumptions: readonly ReportedAssumption[];
  readonly steps: readonly ReportedStep[];
  readonly durations: readonly Durations[];
  readonly differences: readonly Difference[];
  readonly cleanUp: CleanUpState;
}

/** `not ended`: it is still going on, or its process crashed. */
export type RunState = 'finished' | 'interrupted' | 'time limit' | 'error' | 'not ended';

/** What a report repeats of the register. */
type Repeated = 'claim' | 'unseen' | 'breaks' | 'otherwise';

export interface ReportedAssumption extends Omit<Verdict, 'findings'>, Pick<Assumption, Repeated> {
  readonly findings: readonly Omit<Finding, 'assumption' | 'verdict'>[];
}

export interface ReportedStep {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
  /** Null while it has not ended. */
  readonly outcome: StepOutcome | null;
  /** Null for a step that did not begin, or has not ended. */
  readonly seconds: number | null;
}

/** Of one kind of duration that was measured. */
export interface Durations {
  readonly what: string;
  readonly count: number;
  readonly minSeconds: number;
  readonly medianSeconds: number;
  readonly maxSeconds: number;
  readonly each: readonly { readonly seconds: number; readonly detail: string }[];
}

export interface CleanUpState {
  readonly state: 'nothing to remove' | 'kept' | 'not begun' | 'not ended' | 'done';
  readonly left: readonly Left[];
}

/** @throws Error for a journal without a beginning */
export function reportOf(
  entries: readonly Entry[],
  assumptions: readonly Pick<Assumption, 'id' | 'provedBy' | 'manual' | Repeated>[],
): Report {
  const begun = beginningOf(entries);
  if (begun === undefined) throw new Error('The journal of this run has no beginning.');
  const steps = begun.steps.map((step) => reportedStep(step, entries));
  const began = new Set(entries.flatMap((entry) => (entry.event === 'step-begun' ? [entry.step] : [])));
  const ended = entries.findLast(({ event }) => event === 'run-ended') ?? entries.at(-1) ?? begun;
  return {
    run: {
      id: begun.run.id,
      against: begun.against,
      subscription: begun.run.subscription,
      location: begun.run.location,
      begunAt: begun.at,
      minutes: Math.round(secondsBetween(begun.at, ended.at) / 60),
      state: stateOf(entries),
      versions: begun.versions,
      maxCostUsd:
        begun.against === 'simulator'
          ? 0
          : begun.steps.filter(({ id }) => began.has(id)).reduce((sum, { usd }) => sum + usd, 0),
    },
    assumptions: judged(entries, assumptions, steps, begun.against),
    steps,
    durations: durationsOf(entries),
    differences: entries.flatMap((entry) => (entry.event === 'difference' ? [entry.difference] : [])),
    cleanUp: begun.against === 'simulator' ? { state: 'nothing to remove', left: [] } : cleanUpOf(entries, begun.keep),
  };
}

function reportedStep(
  { id, title, phase }: Pick<ReportedStep, 'id' | 'title' | 'phase'>,
  entries: readonly Entry[],
): ReportedStep {
  const begun = entries.find((entry) => entry.event === 'step-begun' && entry.step === id);
  const ended = entries.find((entry) => entry.event === 'step-ended' && entry.step === id);
  return {
    id,
    title,
    phase,
    outcome: ended?.event === 'step-ended' ? ended.outcome : null,
    seconds: begun === undefined || ended === undefined ? null : secondsBetween(begun.at, ended.at),
  };
}

/** A step that has not ended counts as interrupted. */
function judged(
  entries: readonly Entry[],
  assumptions: Parameters<typeof reportOf>[1],
  steps: readonly ReportedStep[],
  against: 'azure' | 'simulator',
): readonly ReportedAssumption[] {
  const findings = entries.flatMap((entry) => (entry.event === 'finding' ? [entry.finding] : []));
  const outcomes = new Map(steps.map(({ id, outcome }) => [id, outcome ?? ({ result: 'interrupted' } as const)]));
  return verdictsOf(assumptions, findings, outcomes, against).map((verdict, at) => ({
    ...verdict,
    claim: assumptions[at]?.claim ?? '',
    ...(assumptions[at]?.unseen === undefined ? {} : { unseen: assumptions[at].unseen }),
    breaks: assumptions[at]?.breaks ?? '',
    otherwise: assumptions[at]?.otherwise ?? '',
    findings: verdict.findings.map(({ evidence, file }) => ({ evidence, ...(file === undefined ? {} : { file }) })),
  }));
}

function stateOf(entries: readonly Entry[]): RunState {
  const ended = entries.findLast((entry) => entry.event === 'run-ended');
  if (ended === undefined) return 'not ended';
  return ended.because === 'all steps' ? 'finished' : ended.because;
}

function cleanUpOf(entries: readonly Entry[], keep: boolean): CleanUpState {
  const ended = entries.findLast((entry) => entry.event === 'clean-up-ended');
  if (ended !== undefined) return { state: 'done', left: ended.left };
  const isBegun = entries.some(({ event }) => event === 'clean-up-begun');
  return { state: isBegun ? 'not ended' : keep ? 'kept' : 'not begun', left: [] };
}

function durationsOf(entries: readonly Entry[]): readonly Durations[] {
  const measured = entries.flatMap((entry) => (entry.event === 'measured' ? [entry] : []));
  return [...Map.groupBy(measured, ({ what }) => what)].map(([what, ones]) => {
    const sorted = ones.map(({ seconds }) => seconds).sort((a, b) => a - b);
    return {
      what,
      count: sorted.length,
      minSeconds: sorted[0] ?? Number.NaN,
      medianSeconds: medianOf(sorted),
      maxSeconds: sorted.at(-1) ?? Number.NaN,
      each: ones.map(({ seconds, detail }) => ({ seconds, detail })),
    };
  });
}

/** Of two in the middle, their mean. */
function medianOf(sorted: readonly number[]): number {
  const at = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(at)] ?? Number.NaN) + (sorted[Math.ceil(at)] ?? Number.NaN)) / 2;
}

const secondsBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1000;
