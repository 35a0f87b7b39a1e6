import type { Holdings } from '../fleet/inspected.ts';

/** Figures of the measured bridge with its senders, between two faults. */
export interface SoakSample {
  readonly hours: number;
  readonly residentMb: number;
  readonly anonymousMb: number;
  readonly cpuMs: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly stateMb: number;
}

/** What each process of the measured bridge holds after a garbage collection; the bridge itself is the first. */
export interface SoakHoldings {
  readonly hours: number;
  readonly processes: readonly Holdings[];
}

/** A figure at a moment. */
export interface Sample {
  readonly hours: number;
  readonly value: number;
}

/** By how much the figure rises in an hour: the slope of the line with the least squares. NaN for fewer than two moments. */
export function slopePerHour(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [hours, value] = [mean((one) => one.hours), mean((one) => one.value)];
  const variance = samples.reduce((sum, one) => sum + (one.hours - hours) ** 2, 0);
  if (variance === 0) return Number.NaN;
  return samples.reduce((sum, one) => sum + (one.hours - hours) * (one.value - value), 0) / variance;
}

/** Of the heap of one process, and of the resident memory of all. */
const mostMbPerHour = 1;
/** In less than an hour even a heap after its collection still fills its caches. */
const hoursOfAHeap = 1;
/** Until then pages that V8 keeps for itself fill up: by 5 to 17 MB in the first hour, though nothing leaks. */
const hoursOfResidentMemory = 3;

const laterHalf = <T>(all: readonly T[]): readonly T[] => all.slice(Math.floor(all.length / 2));

/** MB an hour in the second half of the run. */
export const residentSlope = (samples: readonly SoakSample[]): number =>
  slopePerHour(laterHalf(samples).map(({ hours, residentMb }) => ({ hours, value: residentMb })));

/**
 * What grew, each a sentence: the second half of the run is compared with the first. Of what is counted, the least number of each
 * half is compared: a connection that a fault has just broken holds listeners and timers until it is gone, and what leaks never goes.
 */
export function growthOf(samples: readonly SoakSample[], holdings: readonly SoakHoldings[]): readonly string[] {
  const hours = samples.at(-1)?.hours ?? 0;
  // Senders may start after the first count.
  const most = Math.max(0, ...holdings.map(({ processes }) => processes.length));
  const perProcess = Array.from({ length: most }).flatMap((_, index) => {
    const who = index === 0 ? 'the bridge' : `sender ${index}`;
    const held = holdings.flatMap(({ hours, processes }) => {
      const one = processes[index];
      return one === undefined ? [] : [{ ...one, hours }];
    });
    const heap = laterHalf(held).map((one) => ({ hours: one.hours, value: one.heapMb }));
    return [
      more(`listeners of ${who}`, 30, held, ({ listeners }) => listeners),
      more(`timers of ${who}`, 3, held, ({ resources }) => resources.Timeout ?? 0),
      hours < hoursOfAHeap ? null : rise(`the heap of ${who}`, slopePerHour(heap)),
    ];
  });
  const all = [
    ...perProcess,
    more('descriptors', 10, samples, ({ descriptors }) => descriptors),
    hours < hoursOfResidentMemory ? null : rise('resident memory', residentSlope(samples)),
  ];
  return all.filter((sentence) => sentence !== null);
}

function more<T>(what: string, allowed: number, all: readonly T[], of: (one: T) => number): string | null {
  const later = laterHalf(all);
  const earlier = all.slice(0, -later.length);
  const [before, after] = [earlier, later].map((half) => Math.min(...half.map(of)));
  if (before === undefined || after === undefined || after <= before + allowed) return null;
  return `${what}: at least ${after}, ${before} before`;
}

const rise = (what: string, slope: number): string | null =>
  slope > mostMbPerHour ? `${what} grows by ${slope.toFixed(1)} MB an hour, at most ${mostMbPerHour}` : null;
