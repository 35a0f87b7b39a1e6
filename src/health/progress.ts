import type { Clock } from '../clock.ts';

/** How long one pass of a loop may take before it counts as stuck. */
export interface LoopLimit {
  readonly limitMs: number;
  /** Completes "A pass may take that long because …". */
  readonly because: string;
}

/** The progress of a loop, as of now. */
export interface LoopProgress extends LoopLimit {
  readonly loop: string;
  /** Since its last pass, by the monotonic clock. */
  readonly ageMs: number;
  readonly isProgressing: boolean;
}

/**
 * Whether the loops progress, each judged by the age of its last pass. A thread that answers requests does not prove that its
 * loops run, and a failing sink is not a stuck loop: its relay keeps trying.
 */
export interface Progress {
  /** The loop has started a pass. It is judged from its first one on. */
  beat(loop: string): void;
  /** In the order in which they began. */
  loops(): readonly LoopProgress[];
}

/** `limitOf` is called once per loop, at its first beat. */
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

/** Any loop may be late by this much: a disk that stalls, a machine under load, a live migration. */
const leewayMs = 30_000;
/** A Retry-After of the metadata service is honoured up to this. */
const pollPauseMs = 5_000;
/** The longest sleep of an idle relay, and the longest send by a sink's own deadlines. */
const relaySleepMs = 60_000;
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
          because: `the answer that enables Scheduled Events may take ${answerMs / 1000} s`,
        }
      : {
          limitMs: relaySleepMs + sendMs + holdMs + leewayMs,
          because: `an idle relay sleeps for ${relaySleepMs / 1000} s, and a send may take ${(sendMs + holdMs) / 1000} s`,
        };
  };
}
