import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** What the kernel says of a process. */
export interface ProcessFigures {
  readonly residentMb: number;
  /** Of that what is not backed by a file: heap, stacks, buffers. The rest is the Node binary's pages, which are shared. */
  readonly anonymousMb: number;
  /** Processor time used so far, user and system. */
  readonly cpuMs: number;
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * Of a process and those that it started. What files back is counted once, as much as the largest of them has: it is mostly the Node
 * binary, which they share. Linux only. Throws when the process has ended.
 */
export function figuresOf(pid: number): ProcessFigures {
  const all = [pid, ...childrenOf(pid)].map(figuresOfOne);
  const sum = (field: keyof ProcessFigures): number => all.reduce((total, one) => total + one[field], 0);
  const backed = Math.max(...all.map(({ residentMb, anonymousMb }) => residentMb - anonymousMb));
  return { residentMb: sum('anonymousMb') + backed, anonymousMb: sum('anonymousMb'), cpuMs: sum('cpuMs') };
}

/** Process ids of the children that the first thread started. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

function figuresOfOne(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { residentMb: megabytes('VmRSS'), anonymousMb: megabytes('RssAnon'), cpuMs: cpuMs(pid) };
}

/** From schedstat, in nanoseconds, summed over the threads: `stat` counts in ticks of 10 ms, which is seven polls. */
function cpuMs(pid: number): number {
  try {
    return threadsOf(pid).reduce((sum, thread) => sum + schedstatNs(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e6;
  } catch {
    const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user = 0, system = 0] = after.split(' ').slice(11, 13).map(Number);
    return ((user + system) / ticksPerSecond) * 1000;
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
