import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { attempt } from '../../src/outbox/store/files.ts';

/** What the kernel says of a process. */
export interface ProcessFigures {
  readonly residentMb: number;
  /** Of that what is not backed by a file: heap, stacks, buffers. The rest is the Node binary's pages, which are shared. */
  readonly anonymousMb: number;
  /** Resident in each process, summed: pages that they share count once for each. */
  readonly summedMb: number;
  /** The same, where a page that several processes of this machine share counts for each in part. */
  readonly proportionalMb: number;
  /** Processor time used so far, user and system, that of its children which ended included. */
  readonly cpuMs: number;
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * Of a process and those that it started. What files back is counted once, as much as the largest of them has: it is mostly the Node
 * binary, which they share. Linux only. Throws when the process has ended; a child that ends meanwhile is left out.
 */
export function figuresOf(pid: number): ProcessFigures {
  const all = [figuresOfOne(pid), ...childrenOf(pid).flatMap((child) => attempt(() => [figuresOfOne(child)]) ?? [])];
  const sum = (field: keyof ProcessFigures): number => all.reduce((total, one) => total + one[field], 0);
  const backed = Math.max(...all.map(({ summedMb, anonymousMb }) => summedMb - anonymousMb));
  return {
    residentMb: sum('anonymousMb') + backed,
    anonymousMb: sum('anonymousMb'),
    summedMb: sum('summedMb'),
    proportionalMb: sum('proportionalMb'),
    cpuMs: sum('cpuMs'),
  };
}

/** Process ids of the children that the first thread started. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

function figuresOfOne(pid: number): ProcessFigures {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]) / 1024;
  const [residentMb, anonymousMb] = [megabytes('Rss'), megabytes('Anonymous')];
  return { residentMb, summedMb: residentMb, anonymousMb, proportionalMb: megabytes('Pss'), cpuMs: cpuMs(pid) };
}

/** From schedstat, in nanoseconds, summed over the threads: `stat` counts in ticks of 10 ms, which is seven polls. */
function cpuMs(pid: number): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = after.split(' ').slice(11, 15).map(Number);
  const ofTicks = (ticks: number): number => (ticks / ticksPerSecond) * 1000;
  const ended = ofTicks(endedUser + endedSystem);
  try {
    return (
      ended + threadsOf(pid).reduce((sum, one) => sum + schedstatNs(`/proc/${pid}/task/${one}/schedstat`), 0) / 1e6
    );
  } catch {
    return ended + ofTicks(user + system);
  }
}

function threadsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`);
}

function schedstatNs(file: string): number {
  return Number(readFileSync(file, 'utf8').split(' ')[0]);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [upper = Number.NaN, lower = upper] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 === 0 ? (lower + upper) / 2 : upper;
}
