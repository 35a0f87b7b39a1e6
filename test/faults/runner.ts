import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FaultContext, FaultTest } from './fault-test.ts';
import type { Completed } from './own-process.ts';
import { nextToStart } from './schedule.ts';
import { measureSlowdown, type Slowdown } from './slowdown.ts';
import type { Ended, Result } from './verdict.ts';

type RunContext = Omit<FaultContext, 'program' | 'sources'>;

export interface RunOptions {
  readonly tests: readonly FaultTest[];
  readonly amount: 'quick' | 'full';
  readonly seed: number;
  /** How many processors the tests that run beside each other may use; 0: one test after the other. */
  readonly processors: number;
  /** Plays a test. Where the signal aborts, it ends or rejects, after everything that the test started has ended. */
  execute(test: FaultTest, context: RunContext): Promise<Completed>;
  readonly signal: AbortSignal;
  /** A test that takes longer fails. */
  readonly minutesEach: number;
  say(line: string): void;
}

/** Runs the tests, several at a time where they mostly wait; returns a result of each, in their order. */
export async function runTests({ tests, processors, ...options }: RunOptions): Promise<readonly Result[]> {
  const results = new Map<FaultTest, Result>();
  const waiting = [...tests];
  const running = new Map<FaultTest, Promise<void>>();
  const slowdown = measureSlowdown();
  const start = (test: FaultTest): void => {
    waiting.splice(waiting.indexOf(test), 1);
    const ended = runTest(test, slowdown, options).then((result) => {
      results.set(test, result);
      running.delete(test);
    });
    running.set(test, ended);
  };
  const next = (): FaultTest | null =>
    options.signal.aborted ? null : nextToStart(waiting, [...running.keys()], processors);
  for (;;) {
    for (let test = next(); test; test = next()) start(test);
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  slowdown.stop();
  return tests.flatMap((test) => results.get(test) ?? []);
}

async function runTest(
  test: FaultTest,
  slowdown: Slowdown,
  options: Omit<RunOptions, 'tests' | 'processors'>,
): Promise<Result> {
  const { amount, seed, minutesEach } = options;
  const cases = test.cases[amount];
  const began = performance.now();
  const say = (line: string): void => options.say(`${test.id}: ${line}`);
  const whyNot = test.whyNot?.() ?? null;
  say(whyNot === null ? `${test.title}, ${cases} times` : `skipped: ${whyNot}`);
  const resultOf = (ended: Ended, processorSeconds: number | null = null): Result => {
    const { id, title, kind, cases: all } = test;
    const seconds = (performance.now() - began) / 1000;
    const played = ended.how === 'outcome' ? (ended.outcome.played ?? cases) : cases;
    const common = { cases: played, seed, seconds, processorSeconds, slowdown: slowdown.since(began) };
    return { test: { id, title, kind, cases: all }, ...common, ended };
  };
  if (whyNot !== null) return resultOf({ how: 'skipped', reason: whyNot });
  const directory = mkdtempSync(join(tmpdir(), `faults-${test.id}-`));
  const limit = AbortSignal.timeout(minutesEach * 60_000);
  const signal = AbortSignal.any([options.signal, limit]);
  try {
    const { outcome, processorSeconds } = await options.execute(test, { cases, seed, directory, signal, say });
    limit.throwIfAborted();
    const result = resultOf({ how: 'outcome', outcome }, processorSeconds);
    say(`ended after ${result.seconds.toFixed(0)} s, with ${processorSeconds.toFixed(0)} s of processor time`);
    return result;
  } catch (error) {
    if (signal.aborted) return resultOf({ how: 'error', message: messageOf(limit, minutesEach) });
    return resultOf({ how: 'error', message: error instanceof Error ? error.message : String(error) });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const messageOf = (limit: AbortSignal, minutes: number): string =>
  limit.aborted ? `it took longer than ${minutes} minutes` : 'it was interrupted';
