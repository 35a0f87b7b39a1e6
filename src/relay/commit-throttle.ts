import type { Clock } from '../clock.ts';

/**
 * When what came back is written down. Every commit waits for the disk, and a backlog of thousands comes back in small pieces: one
 * commit for each took half of the time of a drain. What is delivered and not yet written is sent once more after a crash,
 * so nothing waits for long.
 */
export interface CommitThrottle {
  /** `unwritten`: outcomes that wait. */
  isDue(unwritten: number): boolean;
  /** Until the next write is due whatever has come back; 0 when it is. */
  dueInMs(): number;
  /** Writes, and notes how long that took. */
  write(work: () => void): void;
}

/** The disk gets a tenth of the time: after a commit that took 1 ms the next may begin 9 ms later. */
const restPerWork = 9;
const longestRestMs = 100;
/** As many as one transaction of the outbox is meant for. */
const fullTransaction = 500;

export function createCommitThrottle(clock: Pick<Clock, 'monotonicMs'>): CommitThrottle {
  let notBefore = Number.NEGATIVE_INFINITY;
  const dueInMs = (): number => Math.max(0, notBefore - clock.monotonicMs());
  return {
    isDue: (unwritten) => unwritten >= fullTransaction || dueInMs() === 0,
    dueInMs,
    write(work) {
      const began = clock.monotonicMs();
      work();
      const ended = clock.monotonicMs();
      notBefore = ended + Math.min(longestRestMs, restPerWork * (ended - began));
    },
  };
}
