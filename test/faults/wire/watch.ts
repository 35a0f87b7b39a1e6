import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { figuresOf } from '../../bench/process-figures.ts';

/** What a bridge takes of its machine and how it polls, sampled from outside while a fault lasts. */
export interface Watch {
  /** Longest time between two polls, in seconds. */
  readonly longestPollGap: number;
  /** Most memory of the bridge and its senders together. */
  readonly mostMegabytes: number;
  stop(): void;
}

const everyMs = 50;

/** @param polls how many documents were requested so far. */
export function watch(pid: number, polls: () => number): Watch {
  let [count, at] = [polls(), performance.now()];
  let [longestMs, mostMegabytes, samples] = [0, 0, 0];
  const timer = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - at);
    if (polls() !== count) [count, at] = [polls(), now];
    samples += 1;
    // A process that ends meanwhile is no sample.
    if (samples % 4 === 0)
      mostMegabytes = Math.max(
        mostMegabytes,
        orZero(() => figuresOf(pid).residentMb),
      );
  }, everyMs);
  return {
    get longestPollGap() {
      return longestMs / 1000;
    },
    get mostMegabytes() {
      return mostMegabytes;
    },
    stop: () => clearInterval(timer),
  };
}

/** TCP connections of a process and its children, without those to be closed by the kernel alone. Linux only. */
export function tcpConnectionsOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const open = new Set(['tcp', 'tcp6'].flatMap((table) => orNone(() => connectedInodes(`/proc/net/${table}`))));
  return [pid, ...children].flatMap((one) => orNone(() => socketInodes(one))).filter((inode) => open.has(inode)).length;
}

const listening = '0A';

const connectedInodes = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state !== undefined && state !== listening)
    .map((fields) => fields[9] ?? '');

const socketInodes = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap(
    (fd) => /^socket:\[(\d+)\]$/.exec(orNone(() => [readlinkSync(`/proc/${pid}/fd/${fd}`)])[0] ?? '')?.[1] ?? [],
  );

function orNone<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function orZero(read: () => number): number {
  try {
    const figure = read();
    // Of a process that is just ending the kernel says nothing.
    return Number.isFinite(figure) ? figure : 0;
  } catch {
    return 0;
  }
}
