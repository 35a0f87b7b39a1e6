import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { FaultContext, FaultTest } from '../fault-test.ts';
import type { Job } from '../fuzz/worker.ts';

/** A case takes less than a millisecond; one that runs for this long hangs. */
const hangMs = 20_000;

/** Mutates documents, configuration, settings of the extension, rows and answers on the status socket. */
export const fuzz: FaultTest = {
  id: 'fuzz',
  title: 'mutated documents, configurations, handler settings, stored rows and status replies',
  kind: 'one process',
  cases: { quick: 20_000, full: 1_000_000 },
  load: { seconds: 25, processors: 0.3 },
  async run(context) {
    const problems = new Map<string, number>();
    const note = (problem: string): void => void problems.set(problem, (problems.get(problem) ?? 0) + 1);
    const cases: Record<string, number> = { hangs: 0, tried: 0 };
    for (let from = 0; from < context.cases; ) {
      const reached = await runUntilHang(context, from, note);
      if (reached < context.cases) note(`case ${reached} hangs`);
      cases.tried = (cases.tried ?? 0) + reached - from;
      from = reached + 1;
    }
    return {
      lost: 0,
      duplicated: { found: 0, allowed: 0 },
      happened: [{ what: 'mutations', count: cases.tried ?? 0, least: context.cases }],
      worst: null,
      freshArrived: true,
      conservation: { samples: 1, violations: 0 },
      broken: [...problems].slice(0, 20).map(([problem, count]) => `${count} times: ${problem}`),
    };
  },
};

/** @returns the case that hangs, or the end. */
async function runUntilHang(context: FaultContext, from: number, note: (problem: string) => void): Promise<number> {
  const directory = join(context.directory, `from-${from}`);
  mkdirSync(directory);
  const progress = new Int32Array(new SharedArrayBuffer(4));
  Atomics.store(progress, 0, from);
  const { sources, seed } = context;
  const workerData: Job = { sources, directory, seed, from, to: context.cases, progress };
  const worker = new Worker(new URL('../fuzz/worker.ts', import.meta.url), { workerData });
  let error: unknown = null;
  worker.once('error', (cause) => {
    error = cause;
  });
  // The same problem of many cases is one line, with the first of them.
  worker.on('message', ({ n, name, problem }: { n: number; name: string; problem: string }) => {
    const key = problem.replaceAll(/\d+/g, '#').slice(0, 160);
    if (!firstOf.has(key)) firstOf.set(key, `${name}, case ${n}: ${problem}`);
    note(firstOf.get(key) ?? problem);
  });
  const firstOf = new Map<string, string>();
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  let before = from;
  let since = performance.now();
  while (!isOver) {
    await Promise.race([ended, sleep(500)]);
    const now = Atomics.load(progress, 0);
    if (now !== before) [before, since] = [now, performance.now()];
    if (!isOver && (performance.now() - since > hangMs || context.signal.aborted)) {
      await worker.terminate();
      context.signal.throwIfAborted();
      return before;
    }
  }
  if (error) throw error;
  return Atomics.load(progress, 0);
}
