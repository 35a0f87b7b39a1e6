import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Assumption } from './assumptions.ts';
import type { Az } from './az.ts';
import { assumedHours } from './azure/prices.ts';
import { cleanUp } from './clean-up.ts';
import { exitCodes } from './exit-codes.ts';
import type { Beginning, Journal, Left } from './journal.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import { FoundInJournal, type RunEnd, runPlan, type StepSignals, sentenceOf } from './runner.ts';
import type { Run, StepOptions } from './step.ts';
import { exitCodeOf, type StopRequests } from './stop-requests.ts';
import type { CreateTarget } from './target.ts';
import { writeReport } from './write-report.ts';

/** A run, and what it is carried out with. */
export interface Performance {
  readonly run: Run;
  readonly plan: Plan;
  readonly options: StepOptions;
  readonly versions: Readonly<Record<string, string>>;
  readonly keep: boolean;
  /** Null: the time for which the cost is calculated. */
  readonly timeLimitMinutes: number | null;
  readonly assumptions: readonly Assumption[];
  readonly journal: Journal;
  readonly az: Az;
  readonly createTarget: CreateTarget;
  readonly signals: StepSignals;
  readonly stop: StopRequests;
  /** One line for the person who watches. */
  readonly say: (line: string) => void;
  /** Resolves after that number of seconds. */
  readonly wait: (seconds: number) => Promise<void>;
}

/** How a run ended. */
export interface Performed {
  readonly report: Report | undefined;
  readonly left: readonly Left[];
  readonly exitCode: number;
}

/** Carries out the steps, removes what they created, and writes the report after every step and in the end. */
export async function perform(performance: Performance): Promise<Performed> {
  const { run, plan, options, keep, az, signals, stop } = performance;
  performance.journal.write(beginningOf(performance));
  const say = (line: string): void => {
    performance.journal.write({ event: 'said', line });
    performance.say(line);
  };
  const report = (): Report | undefined => reported(performance);
  const found = new FoundInJournal(performance.journal);
  const target = performance.createTarget({ run, az, found, say });
  const because = await runPlan(plan, {
    ...performance,
    target,
    found,
    say,
    stop: stop.first,
    limitMinutes: performance.timeLimitMinutes ?? assumedHours * 60,
    save: (name, text) => saveIn(run.folder, name, text),
    onStepEnded: report,
  }).catch((error: unknown): 'error' => {
    performance.say(`The run is ended by an error: ${sentenceOf(error)}`);
    return 'error';
  });

  // Ctrl-C does not end what follows, and neither does a full disk.
  const journal = tolerant(performance);
  return await signals.run(new AbortController().signal, async () => {
    journal.write({ event: 'run-ended', because });
    await target
      .close()
      .catch((error: unknown) => performance.say(`A connection was not closed: ${sentenceOf(error)}`));
    const removes = options.against === 'azure' && !keep;
    const left = removes
      ? await cleanUp({ ...performance, journal, runId: run.id, subscription: run.subscription })
      : [];
    const final = report();
    return { report: final, left, exitCode: exitCodeFor(because, final, left, stop) };
  });
}

const beginningOf = ({ run, plan, options, versions, keep }: Performance): Beginning => ({
  event: 'run-begun',
  run,
  against: options.against,
  windows: options.windows,
  versions,
  keep,
  process: { host: hostname(), pid: process.pid },
  steps: plan.steps.map(({ id, title, phase, cost }) => ({ id, title, phase, usd: cost.usd })),
});

function reported({ run, journal, assumptions, say }: Performance): Report | undefined {
  try {
    return writeReport(run.folder, journal.entries, assumptions);
  } catch (error) {
    say(`The report was not written: ${sentenceOf(error)}`);
    return undefined;
  }
}

/** A journal that says what it could not write. */
const tolerant = ({ journal, say }: Performance): Journal => ({
  entries: journal.entries,
  close: () => journal.close(),
  write(event) {
    try {
      journal.write(event);
    } catch (error) {
      say(`The journal was not written: ${sentenceOf(error)}`);
    }
  },
});

/** Writes a file into the folder of the run; returns its path relative to it. */
function saveIn(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  return name;
}

/** What is left comes first, because it may cost money; then how the run ended. */
function exitCodeFor(
  because: RunEnd | 'error',
  report: Report | undefined,
  left: readonly Left[],
  stop: Pick<StopRequests, 'name'>,
): number {
  const signal = stop.name();
  if (left.length > 0) return exitCodes.left.code;
  if (because === 'error' || report === undefined) return exitCodes.unexpected.code;
  if (signal !== undefined) return exitCodeOf(signal);
  if (report.assumptions.some(({ verdict }) => verdict === 'refuted')) return exitCodes.refuted.code;
  const succeeded = report.steps.every(({ outcome }) => outcome?.result === 'succeeded');
  return because === 'all steps' && succeeded ? exitCodes.ok.code : exitCodes.failed.code;
}
