import type { Clock } from '../clock.ts';
import { type CountedPoll, createPollCounts, type PollCounts } from './poll-counts.ts';
import { createProgress, loopLimits, type Progress, pollLoop } from './progress.ts';
import { createSendWatch, type SendWatch } from './send-counts.ts';

/**
 * The activity of one bridge, counted where they happen and read by whoever asks: the local HTTP, the service manager,
 * the heartbeat. Costs a few additions a turn, and no memory to speak of.
 */
export interface RuntimeStats {
  readonly progress: Progress;
  /** A poll has brought whatever it brought. */
  recordPoll(turn: CountedPoll): void;
  /** A turn ended in a mistake of the program: the loop goes on all the same. */
  recordPollFailure(): void;
  /** Calls back after each turn. */
  onPoll(listener: () => void): void;
  /** The relay of this sink looks at its backlog once more. */
  relayPassed(sink: string): void;
  readonly watched: SendWatch['watched'];
  readonly sends: Omit<SendWatch, 'watched'>;
  counts(): PollCounts;
  /** How long the bridge has been up. */
  upMs(): number;
  /** Since the last poll ended, whatever it brought; since the start where none has. */
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
  const afterTurn = (): void => {
    progress.beat(pollLoop);
    pollEnded = clock.monotonicMs();
    for (const listener of listeners) listener();
  };
  // A loop that never gets to its first turn is stuck as well.
  progress.beat(pollLoop);
  return {
    progress,
    recordPoll(turn) {
      polls.told(turn);
      afterTurn();
    },
    recordPollFailure() {
      polls.failed();
      afterTurn();
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
