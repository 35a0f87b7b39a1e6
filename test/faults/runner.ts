import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FaultTest } from './fault-test.ts';
import type { Ended, Result } from './verdict.ts';

export interface RunOptions {
  readonly tests: readonly FaultTest[];
  readonly amount: 'quick' | 'full';
  readonly seed: number;
  /** The program that is tested and the folder of its sources: see `FaultContext`. */
  readonly program: string;
  readonly sources: string;
  readonly signal: AbortSignal;
  /** A test that takes longer fails. */
  readonly minutesEach: number;
  say(line: string): void;
}

/** Runs the tests one after the other, since each loads the machine; returns a result of each. */
export async function runTests({ tests, ...options }: RunOptions): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const test of tests) {
    if (options.signal.aborted) break;
    results.push(await runTest(test, options));
  }
  return results;
}

async function runTest(test: FaultTest, options: Omit<RunOptions, 'tests'>): Promise<Result> {
  const { amount, seed, program, sources, minutesEach } = options;
  const cases = test.cases[amount];
  const began = performance.now();
  const say = (line: string): void => options.say(`${test.id}: ${line}`);
  const whyNot = test.whyNot?.() ?? null;
  say(whyNot === null ? `${test.title}, ${cases} times` : `skipped: ${whyNot}`);
  const resultOf = (ended: Ended): Result => {
    const { id, title, kind } = test;
    return { test: { id, title, kind }, cases, seed, seconds: (performance.now() - began) / 1000, ended };
  };
  if (whyNot !== null) return resultOf({ how: 'skipped', reason: whyNot });
  const directory = mkdtempSync(join(tmpdir(), `faults-${test.id}-`));
  const limit = AbortSignal.timeout(minutesEach * 60_000);
  const signal = AbortSignal.any([options.signal, limit]);
  try {
    const running = test.run({ cases, seed, directory, program, sources, signal, say });
    const outcome = await Promise.race([running, rejectionOf(signal, () => messageOf(limit, minutesEach))]);
    return resultOf({ how: 'outcome', outcome });
  } catch (error) {
    return resultOf({ how: 'error', message: error instanceof Error ? error.message : String(error) });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const messageOf = (limit: AbortSignal, minutes: number): string =>
  limit.aborted ? `it took longer than ${minutes} minutes` : 'it was interrupted';

const rejectionOf = (signal: AbortSignal, message: () => string): Promise<never> =>
  new Promise((_, reject) => {
    const fail = (): void => reject(new Error(message()));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
