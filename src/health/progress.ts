import type { Clock } from '../clock.ts';

/** How long a loop may take for one turn before it counts as stuck. */
export interface LoopLimit {
  readonly limitMs: number;
  /** Completes "A turn may take that long because …". */
  readonly because: string;
}

/** How a loop stands now. */
export interface LoopProgress extends LoopLimit {
  readonly loop: string;
  /** Since its last turn, by the clock that never goes backwards. */
  readonly ageMs: number;
  readonly isProgressing: boolean;
}

/**
 * Whether the loops go on, each judged by the age of its own last turn. A thread that answers requests says nothing about
 * a loop in it that waits for ever, and a sink that fails is no loop that is stuck: its relay goes on trying.
 */
export interface Progress {
  /** The loop has begun a turn. With its first one it begins to be judged. */
  beat(loop: string): void;
  /** In the order in which they began. */
  loops(): readonly LoopProgress[];
}

/** `limitOf` is asked once a loop, at its first beat. */
export function createProgress(clock: Clock, limitOf: (loop: string) => LoopLimit): Progress {
  const beats = new Map<string, { readonly limit: LoopLimit; at: number }>();
  return {
    beat(loop) {
      const known = beats.get(loop);
      if (known) known.at = clock.monotonicMs();
      else beats.set(loop, { limit: limitOf(loop), at: clock.monotonicMs() });
    },
    loops() {
      const now = clock.monotonicMs();
      return [...beats].map(([loop, { limit, at }]) => {
        const ageMs = now - at;
        return { loop, ...limit, ageMs, isProgressing: ageMs <= limit.limitMs };
      });
    },
  };
}

/** The name of the loop that polls; relays are named for their sinks. */
export const pollLoop = 'poll';

/** What any loop may be late by: a disk that stalls, a machine under load, a live migration. */
const leewayMs = 30_000;
/** A Retry-After of the metadata service is followed for so long. */
const pollPauseMs = 5_000;
/** The longest nap of an idle relay, and the longest that a sink's own deadlines take. */
const relayNapMs = 60_000;
const sendMs = 60_000;

/** How long each loop may take. `holdSeconds`: for how long a sink of this name may hold a record on purpose. */
export function loopLimits(options: {
  readonly imds: { readonly timeoutSeconds: number; readonly firstTimeoutSeconds: number };
  readonly holdSeconds: Readonly<Record<string, number>>;
}): (loop: string) => LoopLimit {
  const { timeoutSeconds, firstTimeoutSeconds } = options.imds;
  const answerMs = 1000 * Math.max(timeoutSeconds, firstTimeoutSeconds);
  return (loop) => {
    const holdMs = 1000 * (options.holdSeconds[loop] ?? 0);
    return loop === pollLoop
      ? {
          limitMs: answerMs + pollPauseMs + leewayMs,
          because: `the answer that turns the feature on may take ${answerMs / 1000} s`,
        }
      : {
          limitMs: relayNapMs + sendMs + holdMs + leewayMs,
          because: `an idle relay naps for ${relayNapMs / 1000} s, and a send may take ${(sendMs + holdMs) / 1000} s`,
        };
  };
}
