import { setTimeout as sleep } from 'node:timers/promises';

/** How much slower this machine computes because other programs, or the tests beside each other, want its processors. */
export interface Slowdown {
  /** From this moment until now: 1 on an idle machine, 2 if the same work took twice as long. Times are those of `performance.now()`. */
  since(began: number): number;
  stop(): void;
}

const everyMs = 500;
/** Long enough that the kernel would let another program run meanwhile. */
const workMs = 20;

export interface Sample {
  readonly at: number;
  readonly wallMs: number;
  readonly processorMs: number;
}

/** Computes a little twice a second, and compares how long that took with the processor time it got. For a process that does little else. */
export function measureSlowdown(): Slowdown {
  const samples: Sample[] = [sample()];
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await sleep(everyMs, undefined, { ref: false, signal: stop.signal });
      samples.push(sample());
    }
  };
  run().catch(() => {});
  return {
    since: (began) => slowdownOf(samples, began),
    stop: () => stop.abort(),
  };
}

/** Of the samples since then, or of the newest one. */
export function slowdownOf(samples: readonly Sample[], began: number): number {
  const own = samples.filter(({ at }, index) => at >= began || index === samples.length - 1);
  const sum = (of: (one: Sample) => number): number => own.reduce((total, one) => total + of(one), 0);
  return Math.max(1, sum(({ wallMs }) => wallMs) / sum(({ processorMs }) => processorMs));
}

function sample(): Sample {
  const at = performance.now();
  const before = process.threadCpuUsage();
  const processorMs = (): number => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  while (processorMs() < workMs);
  return { at, wallMs: performance.now() - at, processorMs: processorMs() };
}
