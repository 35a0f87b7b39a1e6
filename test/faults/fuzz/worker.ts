/** Tries mutations one after the other; a case that hangs is stopped with this thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { createRandom } from '../../fleet-model/random.ts';
import { sampleSnapshot } from '../../support/sample-snapshot.ts';
import {
  configurationTarget,
  documentTarget,
  rowTarget,
  settingsTarget,
  statusTarget,
  type Target,
} from './targets.ts';

export interface Job {
  readonly sources: string;
  readonly directory: string;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** The number of the present case. */
  readonly progress: Int32Array;
}

const { sources, directory, seed, from, to, progress } = workerData as Job;

const configuration = await configurationTarget(sources, directory);
const targets: Readonly<Record<string, readonly [share: number, target: Target]>> = {
  document: [60, await documentTarget(sources)],
  configuration: [18, configuration],
  settings: [12, await settingsTarget(sources)],
  row: [9, await rowTarget(sources, directory)],
  status: [1, await statusTarget(sources, directory, sampleSnapshot)],
};
const wheel = Object.entries(targets).flatMap(([name, [share]]) => Array<string>(share).fill(name));

for (let n = from; n < to; n += 1) {
  Atomics.store(progress, 0, n);
  const name = wheel[n % wheel.length] ?? 'document';
  const target = targets[name]?.[1];
  let problem: string | null | undefined;
  try {
    problem = await target?.(createRandom(seed * 31 + n));
  } catch (error) {
    problem = error instanceof Error ? error.stack : String(error);
  }
  if (problem) parentPort?.postMessage({ n, name, problem });
}
Atomics.store(progress, 0, to);
process.exit(0);
