import type { StreamState } from './fleet-view.ts';
import { countOf } from './number-ranges.ts';

/** The records of one VM come by several partitions: the newest may be ahead of others. */
const underWayMs = 60_000;

/** A stream of which records are missing that can no longer be on their way. */
export interface StreamGap {
  readonly stream: StreamState;
  /** How many records. */
  readonly count: number;
}

/** The streams of which records are missing, in the given order, a minute after their last report. */
export const gapsOf = (streams: readonly StreamState[], now: Date): readonly StreamGap[] =>
  streams
    .filter(({ missing, lastAt }) => missing.length > 0 && now.getTime() - lastAt.getTime() > underWayMs)
    .map((stream) => ({ stream, count: countOf(stream.missing) }));
