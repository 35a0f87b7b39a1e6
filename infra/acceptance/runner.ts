import { AsyncLocalStorage } from 'node:async_hooks';
import type { Az } from './az.ts';
import type { Journal } from './journal.ts';
import { hasToWait, type Plan } from './plan.ts';
import type { Run, Step, StepContext } from './step.ts';
import type { Target } from './target.ts';
import type { StepOutcome } from './verdicts.ts';

/** What the steps are carried out with. */
export interface RunnerParts {
  readonly run: Run;
  readonly az: Az;
  readonly target: Target;
  readonly journal: Journal;
  /** What steps found; each value is also written into the journal. */
  readonly found: Map<string, unknown>;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
  readonly signals: StepSignals;
  /** Of the whole run. */
  readonly limitMinutes: number;
  readonly say: (line: string) => void;
  readonly save: (name: string, text: string) => string;
  /** Called after every step. */
  readonly onStepEnded: () => void;
}

export type RunEnd = 'all steps' | 'interrupted' | 'time limit';

/** The signal of the step that is running, for the calls that it makes through others. */
export type StepSignals = AsyncLocalStorage<AbortSignal>;
export const createStepSignals = (): StepSignals => new AsyncLocalStorage();

/** After a step is aborted, it may change back what it has changed. */
const graceMs = 60_000;

/** A step is aborted after twice its expected duration and a quarter of an hour. */
export const limitOf = ({ minutes }: Pick<Step, 'minutes'>): number => minutes * 2 + 15;

/**
 * Carries out the steps of a plan. A step that fails ends only the steps that need it. Resolves when all have ended, and rejects only for
 * an error of the journal.
 */
export async function runPlan({ steps }: Plan, parts: RunnerParts): Promise<RunEnd> {
  const whole = new AbortController();
  const limit = setTimeout(() => whole.abort(), parts.limitMinutes * 60_000);
  const stop = AbortSignal.any([parts.stop, whole.signal]);
  const outcomes = new Map<string, Promise<StepOutcome>>();
  try {
    for (const [at, step] of steps.entries()) {
      const before = steps.slice(0, at).filter((one) => hasToWait(step, one));
      outcomes.set(
        step.id,
        Promise.all(before.map(({ id }) => outcomes.get(id))).then(() => endOf(step, at)),
      );
    }
    await Promise.all(outcomes.values());
  } catch (error) {
    whole.abort();
    await Promise.allSettled(outcomes.values());
    throw error;
  } finally {
    clearTimeout(limit);
  }
  if (parts.stop.aborted) return 'interrupted';
  return whole.signal.aborted ? 'time limit' : 'all steps';

  async function endOf(step: Step, at: number): Promise<StepOutcome> {
    const notBegun = await withoutRunning(step);
    const outcome = notBegun ?? (await running(step, at));
    parts.journal.write({ event: 'step-ended', step: step.id, outcome });
    if (notBegun?.result !== 'interrupted') parts.say(`${step.id}: ${describeOutcome(outcome)}`);
    parts.onStepEnded();
    return outcome;
  }

  async function withoutRunning({ needs }: Step): Promise<StepOutcome | undefined> {
    for (const because of needs) {
      const outcome = await outcomes.get(because);
      if (outcome?.result !== 'succeeded' && !stop.aborted) return { result: 'skipped', because };
    }
    return stop.aborted ? { result: 'interrupted' } : undefined;
  }

  async function running(step: Step, at: number): Promise<StepOutcome> {
    parts.journal.write({ event: 'step-begun', step: step.id });
    parts.say(`${step.id}: ${step.title} (step ${at + 1} of ${steps.length}, about ${step.minutes} min)`);
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(), limitOf(step) * 60_000);
    const signal = AbortSignal.any([stop, tooLong.signal]);
    try {
      const work = parts.signals.run(signal, () => step.run(contextOf(step, signal, parts)));
      await withGrace(work, signal);
      return { result: 'succeeded' };
    } catch (error) {
      if (stop.aborted) return { result: 'interrupted' };
      if (tooLong.signal.aborted)
        return { result: 'failed', message: `it did not end within ${limitOf(step)} minutes` };
      return { result: 'failed', message: sentenceOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The step's own end; an error if it does not end although it was aborted. */
async function withGrace(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: stuck, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => reject(new Error('it did not end after it was aborted')), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  try {
    await Promise.race([work, stuck]);
  } finally {
    // Otherwise an abort of the run would begin the time of a step that has ended, for which the process would wait.
    signal.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}

/** What one step works with. */
function contextOf(step: Step, signal: AbortSignal, parts: RunnerParts): StepContext {
  const { run, az, target, journal, found, say, save } = parts;
  return {
    run,
    az,
    target,
    signal,
    found,
    save,
    say: (line) => say(`${step.id}: ${line}`),
    report: (finding) => journal.write({ event: 'finding', step: step.id, finding }),
    willCreate: (item) => journal.write({ event: 'will-create', item }),
    differ: (difference) => journal.write({ event: 'difference', difference }),
    measure: (what, seconds, detail) => journal.write({ event: 'measured', what, seconds, detail }),
  };
}

/** What steps found, kept in the journal. */
export class FoundInJournal extends Map<string, unknown> {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    super();
    this.#journal = journal;
    for (const entry of journal.entries) if (entry.event === 'found') super.set(entry.step, entry.value);
  }

  override set(step: string, value: unknown): this {
    this.#journal.write({ event: 'found', step, value });
    return super.set(step, value);
  }
}

/** The message of an error as one line; of one without a message, such as a refused connection to several addresses, what is known of it. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Error && error.message.trim() === '') {
    const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
    if (first !== undefined) return sentenceOf(first);
    return String((error as NodeJS.ErrnoException).code ?? error.name);
  }
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

function describeOutcome(outcome: StepOutcome): string {
  switch (outcome.result) {
    case 'succeeded':
      return 'done';
    case 'failed':
      return `failed: ${outcome.message}`;
    case 'skipped':
      return `skipped, because ${outcome.because} did not succeed`;
    default:
      return outcome.result;
  }
}
