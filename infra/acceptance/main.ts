/** Proves in a subscription what the project assumes of Azure. See `--help`. */
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommanderError } from 'commander';
import { print } from '../../src/cli/print.ts';
import { describeUsageError } from '../../src/cli/usage-error.ts';
import { version } from '../../src/process/version.ts';
import { type Assumption, readAssumptions } from './assumptions.ts';
import { type Az, AzError } from './az.ts';
import { type AzProcesses, createAz, findAz } from './az-process.ts';
import { findSubscription, newRunId, runNamed, verifyLocation, verifyTenant, versionsOf } from './begin.ts';
import { cleanUpRun, findLeftover } from './clean-up-run.ts';
import { defaultFolder, type Order, readCommandLine } from './command-line.ts';
import { exitCodes, Failure } from './exit-codes.ts';
import { type Journal, openJournal, type RunEvent } from './journal.ts';
import { type Performed, perform } from './perform.ts';
import { type Plan, planOf } from './plan.ts';
import { planText, summaryOf } from './plan-text.ts';
import { reportSummary } from './report-text.ts';
import { createStepSignals, sentenceOf } from './runner.ts';
import type { Run, Step, StepOptions } from './step.ts';
import { stepsOf } from './steps.ts';
import { exitCodeOf, listenToSignals, type StopSignal } from './stop-requests.ts';
import type { CreateTarget } from './target.ts';
import { createTargets } from './targets.ts';
import { reportFiles } from './write-report.ts';

/** What the command takes from the process around it; a test gives its own. */
export interface MainContext {
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  readonly stepsOf: (options: StepOptions) => readonly Step[];
  readonly readAssumptions: () => readonly Assumption[];
  readonly createTargets: Readonly<Record<'azure' | 'simulator', CreateTarget>>;
  /** Undefined where there is no Azure CLI. */
  readonly openAz: (options: {
    signal: () => AbortSignal;
    write: (event: RunEvent) => void;
  }) => AzProcesses | undefined;
  readonly listen: (signal: StopSignal, listener: () => void) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Ends the process. */
  readonly exit: (code: number) => void;
  readonly wait: (seconds: number) => Promise<void>;
}

/** Carries out the command line; returns the exit code. */
export async function main(args: readonly string[], context: MainContext): Promise<number> {
  try {
    const order = readCommandLine(args, context.print);
    if (order.verb === 'clean-up') return await cleanUpNow(order, context);
    const plan = planOf(context.stepsOf(order), order);
    if (order.verb === 'run') return await runSteps(order, plan, context);
    const everyStep = planOf(context.stepsOf({ ...order, windows: true })).steps;
    const leftOut = everyStep.filter(({ id }) => !plan.steps.some((step) => step.id === id));
    const assumptions = context.readAssumptions();
    context.print(planText({ ...order, plan: { ...plan, leftOut }, run: planned(order), assumptions }));
    return exitCodes.ok.code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok.code;
      context.printError(`${describeUsageError(error.message)}\n`);
      return exitCodes.usage.code;
    }
    if (error instanceof Failure) {
      context.printError(`${error.message}\n`);
      return exitCodes[error.reason].code;
    }
    // Of a call before the run began.
    if (error instanceof AzError) {
      context.printError(`${error.message}\n`);
      return exitCodes.notReady.code;
    }
    throw error;
  }
}

/** The run that a plan describes before there is one. */
const planned = ({ subscription, location, folder }: Order): Run =>
  runNamed('<run>', { subscription: subscription ?? '<subscription>', location: location ?? '<location>', folder });

async function runSteps(order: Order, plan: Plan, context: MainContext): Promise<number> {
  const { against, folder } = order;
  const id = newRunId();
  const signals = createStepSignals();
  let journal: Journal | undefined;
  let processes: AzProcesses | undefined;
  const say = (line: string): void => context.print(timed(line));
  const stop = listenToSignals(context.listen, context.now, {
    onFirst: () =>
      say(
        'Stopping: the running steps are ended, then everything is removed. A second Ctrl-C ends at once and leaves the rest.',
      ),
    endAtOnce: (code) => {
      processes?.kill();
      if (journal !== undefined && against === 'azure') say(`To remove what is left: ${cleanUpCommand(id, folder)}`);
      context.exit(code);
    },
  });
  const defaultSignal = (): AbortSignal => signals.getStore() ?? stop.first;
  if (against === 'azure') processes = openAz(context, defaultSignal, (event) => journal?.write(event));
  const az = processes?.az ?? noAz;
  let run: Run;
  let versions: Readonly<Record<string, string>>;
  try {
    const place = against === 'azure' ? await verifiedPlace(az, order) : simulatedPlace;
    versions = { bridge: version, ...(against === 'azure' ? await versionsOf(az) : {}) };
    run = runNamed(id, { ...place, folder });
    journal = openJournal(run.folder);
  } catch (error) {
    const signal = stop.name();
    if (signal === undefined) throw notBegun(error);
    say('Ended before anything was created.');
    return exitCodeOf(signal);
  }
  say(`Run ${id}: ${summaryOf(plan.steps, against)}`);
  say(`Journal, evidence and report: ${run.folder}`);
  const createTarget = context.createTargets[against];
  const performance = { ...order, run, plan, options: order, versions, journal, az, createTarget, signals, stop, say };
  const performed = await perform({ ...performance, assumptions: context.readAssumptions(), wait: context.wait });
  journal.close();
  conclude(performed, run.folder, context);
  return performed.exitCode;
}

async function cleanUpNow(order: Order, context: MainContext): Promise<number> {
  const never = new AbortController().signal;
  const processes = openAz(
    context,
    () => never,
    () => {},
  );
  const say = (line: string): void => context.print(timed(line));
  listenToSignals(context.listen, context.now, {
    onFirst: () => say('Everything is being removed. A second Ctrl-C ends at once and leaves the rest.'),
    endAtOnce: (code) => {
      processes.kill();
      context.exit(code);
    },
  });
  const leftover = await findLeftover(order, processes.az);
  if ('nothing' in leftover) {
    context.print(`${leftover.nothing}\n`);
    return exitCodes.ok.code;
  }
  const assumptions = context.readAssumptions();
  const performed = await cleanUpRun(leftover, { az: processes.az, assumptions, say, wait: context.wait });
  conclude(performed, leftover.folder, context);
  return performed.exitCode;
}

function openAz(context: MainContext, signal: () => AbortSignal, write: (event: RunEvent) => void): AzProcesses {
  const processes = context.openAz({ signal, write });
  if (processes !== undefined) return processes;
  throw new Failure('notReady', 'The Azure CLI is not in PATH: install it, https://aka.ms/azure-cli');
}

async function verifiedPlace(
  az: Az,
  { subscription, location }: Order,
): Promise<{ subscription: string; location: string }> {
  if (subscription === null || location === null) throw new Error('A run needs a subscription and a location.');
  const id = await findSubscription(az, subscription);
  await verifyTenant(az, id);
  await verifyLocation(az, id, location);
  return { subscription: id, location };
}

/** Why a run could not begin, as a message for its user. */
const notBegun = (error: unknown): Error =>
  error instanceof Failure || error instanceof AzError
    ? error
    : new Failure('notReady', `The run could not begin, and has created nothing: ${sentenceOf(error)}.`);

const simulatedPlace = { subscription: '00000000-0000-0000-0000-000000000000', location: 'simulated' } as const;

const noAz: Az = { call: () => Promise.reject(new Error('A run against the simulator calls no az.')) };

const cleanUpCommand = (id: string, folder: string): string =>
  `npm run acceptance -- --clean-up ${id}${resolve(folder) === resolve(defaultFolder) ? '' : ` --folder ${folder}`}`;

/** The last lines: where the report is, what it says, and what is left. */
function conclude({ report, left }: Performed, folder: string, { print }: MainContext): void {
  if (report !== undefined) {
    print(
      `\n${reportSummary(report)}\nReport: ${join(folder, reportFiles.markdown)} and ${reportFiles.json} beside it\n`,
    );
    const { state } = report.cleanUp;
    if (state === 'kept') print(`To remove everything: ${cleanUpCommand(report.run.id, dirname(folder))}\n`);
  }
  for (const { what, why, command } of left) {
    print(`\nLeft: ${what}\n  why:    ${why}\n${command === null ? '' : `  remove: ${command}\n`}`);
  }
  if (report === undefined && left.length === 0) print('\nNothing is left in the subscription.\n');
}

const timed = (line: string): string => `${new Date().toISOString().slice(11, 19)}  ${line}\n`;

if (import.meta.main) {
  process.exitCode = await main(process.argv.slice(2), {
    print,
    printError: (text) => void process.stderr.write(text),
    stepsOf,
    readAssumptions,
    createTargets,
    openAz: (options) => {
      const program = findAz(process.env);
      return program && createAz({ ...options, program, env: process.env });
    },
    listen: (signal, listener) => void process.on(signal, listener),
    now: () => performance.now(),
    exit: (code) => process.exit(code),
    wait: (seconds) => sleep(seconds * 1000),
  });
  // A step that did not end when it was aborted must not keep the process.
  setTimeout(() => process.exit(), 10_000).unref();
}
