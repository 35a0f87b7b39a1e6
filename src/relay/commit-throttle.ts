import type { Clock } from '../clock.ts';

/** The disk gets a tenth of the time: after a commit that took 1 ms the next may begin 9 ms later. */
const restPerWork = 9;
const longestRestMs = 100;
/** As many as one transaction of the outbox is meant for. */
const fullTransaction = 500;

/**
 * When delivery updates are written. Every commit waits for the disk, and the results of a backlog of thousands come in small
 * pieces: one commit for each took half of the time of a drain. What is delivered and not yet written is sent once more after
 * a crash, so nothing waits for long.
 */
export function createCommitThrottle(clock: Pick<Clock, 'monotonicMs'>) {
  let notBefore = Number.NEGATIVE_INFINITY;
  /** Until the next write is due, however few updates there are; 0 when it is. */
  const dueInMs = (): number => Math.max(0, notBefore - clock.monotonicMs());
  return {
    dueInMs,
    /** `updates`: how many wait. */
    isDue: (updates: number): boolean => updates >= fullTransaction || dueInMs() === 0,
    /** Writes, and notes how long that took. */
    write(work: () => void): void {
      const began = clock.monotonicMs();
      work();
      const ended = clock.monotonicMs();
      notBefore = ended + Math.min(longestRestMs, restPerWork * (ended - began));
    },
  };
}
