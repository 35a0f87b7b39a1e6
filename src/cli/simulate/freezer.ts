import { Failure } from '../exit-codes.ts';

/** Stops a process for a while, as a host stops the VM it runs on. */
export interface Freezer {
  /** From now on; while it is stopped already, until the later end. */
  freeze(seconds: number): void;
  /** Lets the process go on. */
  close(): void;
}

/** @param lost is told, in a sentence, when the process is not there any more. @throws {Failure} when it never was, or may not be stopped. */
export function createFreezer(pid: number, lost: (sentence: string) => void): Freezer {
  refuseUnfit(pid);
  let timer: NodeJS.Timeout | undefined;
  let untilMs = 0;

  const send = (signal: NodeJS.Signals): boolean => {
    try {
      return process.kill(pid, signal);
    } catch {
      lost(`There is no process ${pid} any more: nothing is frozen.`);
      return false;
    }
  };
  const thaw = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    send('SIGCONT');
  };
  // Whatever ends this process must not leave the other one standing.
  process.on('exit', thaw);

  return {
    freeze(seconds) {
      if (timer === undefined && !send('SIGSTOP')) return;
      untilMs = Math.max(untilMs, performance.now() + 1000 * seconds);
      clearTimeout(timer);
      timer = setTimeout(thaw, untilMs - performance.now());
    },
    close() {
      thaw();
      process.off('exit', thaw);
    },
  };
}

function refuseUnfit(pid: number): void {
  if (pid === process.pid) throw new Failure('usage', `--freeze ${pid} is this process itself: give that of a bridge.`);
  try {
    process.kill(pid, 0);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EPERM';
    const why = isThere ? `process ${pid} belongs to another user` : `there is no process ${pid}`;
    throw new Failure('usage', `--freeze ${pid} is of no use, because ${why}: give the process id of a bridge.`);
  }
}
