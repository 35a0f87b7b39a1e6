import type { Clock } from '../clock.ts';
import type { Transition } from '../lifecycle/transition.ts';
import { createPollCounts, type PollCounts } from './poll-counts.ts';
import { createProgress, loopLimits, type Progress, pollLoop } from './progress.ts';
import { createSendWatch, type SendWatch } from './send-counts.ts';

/**
 * The activity of one bridge, counted where it happens and read by the local HTTP, the service manager and the heartbeat.
 * Costs a few additions per poll and hardly any memory.
 */
export interface RuntimeStats {
  readonly progress: Progress;
  /** A poll has ended with any result. */
  recordPoll(poll: Pick<Transition, 'pollResult' | 'appeared'>): void;
  /** A poll ended with an internal error; the loop continues. */
  recordPollFailure(): void;
  /** Calls back after each poll. */
  onPoll(listener: () => void): void;
  /** The relay of this sink has started another pass over its backlog. */
  relayPassed(sink: string): void;
  readonly watched: SendWatch['watched'];
  readonly sends: Omit<SendWatch, 'watched'>;
  counts(): PollCounts;
  /** How long the bridge has been up. */
  upMs(): number;
  /** Since the last poll ended with any result; since the start if none has. */
  pollAgeMs(): number;
  readonly startedAt: Date;
}

export function createRuntimeStats(options: Parameters<typeof loopLimits>[0], clock: Clock): RuntimeStats {
  const progress = createProgress(clock, loopLimits(options));
  const polls = createPollCounts(clock);
  const sends = createSendWatch(clock);
  const began = clock.monotonicMs();
  const listeners: (() => void)[] = [];
  let pollEnded = began;
  const afterPoll = (): void => {
    progress.beat(pollLoop);
    pollEnded = clock.monotonicMs();
    for (const listener of listeners) listener();
  };
  // A loop that never reaches its first poll is stuck as well.
  progress.beat(pollLoop);
  return {
    progress,
    recordPoll(poll) {
      polls.record(poll);
      afterPoll();
    },
    recordPollFailure() {
      polls.failed();
      afterPoll();
    },
    onPoll: (listener) => void listeners.push(listener),
    relayPassed: (sink) => progress.beat(sink),
    watched: sends.watched,
    sends,
    counts: polls.counts,
    upMs: () => clock.monotonicMs() - began,
    pollAgeMs: () => clock.monotonicMs() - pollEnded,
    startedAt: clock.now(),
  };
}
