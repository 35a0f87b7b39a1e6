import { existsSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { Assumption } from './assumptions.ts';
import type { Az } from './az.ts';
import { findSubscription, tagName } from './begin.ts';
import { cleanUp } from './clean-up.ts';
import type { Order } from './command-line.ts';
import { listTaggedGroups } from './commands.ts';
import { exitCodes, Failure } from './exit-codes.ts';
import { beginningOf, type Entry, openJournal, readJournal } from './journal.ts';
import type { Performed } from './perform.ts';
import { writeReport } from './write-report.ts';

export interface CleanUpRunParts {
  readonly az: Az;
  readonly assumptions: readonly Assumption[];
  readonly say: (line: string) => void;
  readonly wait: (seconds: number) => Promise<void>;
}

/** What a run has left, and where: from its journal, or from the command line. */
export interface Leftover {
  readonly runId: string;
  /** Id or name. */
  readonly subscription: string;
  readonly folder: string;
}

/** That there is nothing to remove, as a sentence that names where was looked. */
export interface NothingLeft {
  readonly nothing: string;
}

/**
 * Finds what `--clean-up` means.
 * @throws Failure (usage) that says what to name
 */
export async function findLeftover(
  order: Pick<Order, 'runId' | 'subscription' | 'folder'>,
  az: Az,
): Promise<Leftover | NothingLeft> {
  const folder = resolve(order.folder);
  const runId = order.runId ?? (await onlyRunIn(folder, order, az));
  if (typeof runId === 'object') return runId;
  if (!/^[a-z][a-z0-9]{3,11}$/.test(runId)) {
    throw new Failure('usage', `${runId} is no id of a run: it is the name of the run's folder, such as k3x9ab.`);
  }
  const begun = beginningOf(readJournal(join(folder, runId)));
  const subscription = begun?.run.subscription ?? order.subscription;
  if (subscription === null) {
    throw new Failure(
      'usage',
      `There is no journal of the run ${runId} in ${folder}: name its subscription with --subscription.`,
    );
  }
  if (begun !== undefined && order.subscription !== null) {
    const named = await findSubscription(az, order.subscription);
    if (named !== begun.run.subscription) {
      throw new Failure(
        'usage',
        `The run ${runId} was in another subscription than ${order.subscription}: leave out --subscription.`,
      );
    }
  }
  return { runId, subscription, folder: join(folder, runId) };
}

/** The only run whose journal does not end with an empty subscription. */
async function onlyRunIn(
  folder: string,
  { subscription }: Pick<Order, 'subscription'>,
  az: Az,
): Promise<string | NothingLeft> {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const left = names.filter((name) => hasLeftSomething(readJournal(join(folder, name))));
  const [only] = left;
  if (only !== undefined && left.length === 1) {
    const { host, pid } = beginningOf(readJournal(join(folder, only)))?.process ?? {};
    if (pid !== undefined && host === hostname() && pid !== process.pid && isRunning(pid)) {
      throw new Failure(
        'usage',
        `The run ${only} seems to be going on: end its process ${pid} by Ctrl-C. If that is another program, use --clean-up ${only}.`,
      );
    }
    return only;
  }
  if (left.length > 1) throw new Failure('usage', `Several runs have left something: name one of ${left.join(', ')}.`);
  if (subscription === null) {
    const elsewhere = 'For a run of another machine, name its subscription with --subscription.';
    if (names.length === 0) throw new Failure('usage', `There is no run in ${folder}. ${elsewhere}`);
    return { nothing: `Nothing to remove: no run in ${folder} has left anything. ${elsewhere}` };
  }
  const id = await findSubscription(az, subscription);
  const groups = (await az.call(listTaggedGroups({ subscription: id }, tagName))) as readonly {
    tags: Readonly<Record<string, string>>;
  }[];
  const runs = [...new Set(groups.map(({ tags }) => tags[tagName]))];
  if (runs.length === 0) {
    return { nothing: `Nothing to remove: no run has left a resource group in the subscription ${subscription}.` };
  }
  throw new Failure(
    'usage',
    `Name the run, after verifying that it is not still going on elsewhere: ${runs.map((run) => `--clean-up ${run}`).join(', ')}.`,
  );
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function hasLeftSomething(entries: readonly Entry[]): boolean {
  if (beginningOf(entries)?.against !== 'azure') return false;
  const ended = entries.findLast((entry) => entry.event === 'clean-up-ended');
  return ended === undefined || ended.left.length > 0;
}

/** Removes what a run has left, also without its journal, and writes its report again. */
export async function cleanUpRun(
  { runId, subscription, folder }: Leftover,
  parts: CleanUpRunParts,
): Promise<Performed> {
  const id = await findSubscription(parts.az, subscription);
  const journal = openJournal(folder);
  // A step that was killed may have left one-time passwords.
  for (const name of readdirSync(folder)) if (name.endsWith('.secrets.json')) rmSync(join(folder, name));
  try {
    const left = await cleanUp({ ...parts, journal, runId, subscription: id });
    const report =
      beginningOf(journal.entries) === undefined ? undefined : writeReport(folder, journal.entries, parts.assumptions);
    return { report, left, exitCode: left.length === 0 ? exitCodes.ok.code : exitCodes.left.code };
  } finally {
    journal.close();
  }
}
