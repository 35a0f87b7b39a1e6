import type { SendResult } from '../sinks/sink.ts';

/** Why a batch is to be sent again later. */
export type Cause = Extract<SendResult, { kind: 'retry' }>['cause'];

/** However long a sink fails, it is tried again after this long. */
const longestPauseMs = 5 * 60_000;

/** A destination may ask for more patience than our own backoff has, but not for an hour: the SDKs would sleep it through. */
export const longestRetryAfterMs = 15 * 60_000;

/** Never less than this, so that no jitter hammers. A wrong role takes minutes to be put right, and as long to propagate. */
const shortestPauseMs: Readonly<Record<Cause, number>> = { transient: 1_000, throttled: 10_000, configuration: 30_000 };

/**
 * How long to pause a sink after this many failures in a row. Full jitter: any time between the shortest pause of the
 * cause and a ceiling that doubles with each failure, 2 s to 5 min. `random` gives [0, 1). A longer `retryAfterMs` is
 * honoured up to 15 minutes.
 */
export function backoffMs(failures: number, cause: Cause, random: () => number, retryAfterMs = 0): number {
  const shortest = shortestPauseMs[cause];
  const ceiling = Math.min(longestPauseMs, Math.max(2 * shortest, 1_000 * 2 ** failures));
  const drawn = Math.round(shortest + random() * (ceiling - shortest));
  return Math.max(drawn, Math.min(retryAfterMs, longestRetryAfterMs));
}
