import type { ChildProcess } from 'node:child_process';
import { Failure } from '../../cli/exit-codes.ts';
import { freezeProcess } from './freeze-process.ts';

/** Stops a process for a while, as a host freezes a VM. */
export interface Freezer {
  readonly pid: number;
  /** While it is stopped already, the later end counts. @returns whether it is stopped. */
  freeze(seconds: number): boolean;
  /** Resumes the process. */
  close(): void;
}

/** @throws {Failure} when there is no such process, or it may not be stopped. */
export function createFreezer(pid: number): Freezer {
  refuseUnfit(pid);
  let helper: ChildProcess | null = null;
  let untilMs = 0;

  return {
    pid,
    freeze(seconds) {
      const endMs = performance.now() + 1000 * seconds;
      if (helper !== null && endMs <= untilMs) return true;
      if (!isThere(pid)) return false;
      helper?.kill('SIGKILL');
      const own = freezeProcess(pid, seconds);
      untilMs = endMs;
      helper = own;
      own.once('exit', () => {
        if (helper === own) helper = null;
      });
      return true;
    },
    close() {
      if (helper === null) return;
      helper.kill('SIGKILL');
      helper = null;
      if (isThere(pid)) process.kill(pid, 'SIGCONT');
    },
  };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function refuseUnfit(pid: number): void {
  if (pid === process.pid) throw new Failure('usage', `--freeze ${pid} is this process itself: give that of a bridge.`);
  try {
    process.kill(pid, 0);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EPERM';
    const why = isThere ? `process ${pid} belongs to another user` : `there is no process ${pid}`;
    throw new Failure('usage', `--freeze ${pid} cannot be used, because ${why}: give the process id of a bridge.`);
  }
}
