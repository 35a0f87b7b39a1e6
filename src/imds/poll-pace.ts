import type { PollResult } from '../lifecycle/scheduled-event.ts';

// assumption: imds-rate-limit
/** The service allows five requests a second to all programs of a VM together; one a second is what it recommends. */
export const leastBetweenStartsMs = 1000;

/** Events between polls are lost: no answer may delay a poll by more than this. */
export const longestWaitMs = 5000;

export interface Pace {
  /** Milliseconds from the end of the last poll to the start of the next. */
  readonly waitMs: number;
  /** The requested wait, if it was too long to be honoured; else null. */
  readonly cappedMs: number | null;
}

/**
 * When the next poll starts. `tookMs`: from the start to the end of the last one. Normally one interval after the last
 * start, at once if that has passed. Where the server asked for more time it gets it, up to five seconds.
 */
export function nextPollIn(
  seen: Pick<PollResult, 'kind'> & { readonly retryAfterMs?: number | null },
  { tookMs, pollIntervalMs }: { readonly tookMs: number; readonly pollIntervalMs: number },
): Pace {
  const intervalMs = Math.max(pollIntervalMs, leastBetweenStartsMs);
  const regularWaitMs = Math.max(0, intervalMs - Math.max(0, tookMs));
  const requestedMs = seen.retryAfterMs ?? 0;
  return {
    waitMs: Math.min(longestWaitMs, Math.max(regularWaitMs, requestedMs)),
    cappedMs: requestedMs > longestWaitMs ? requestedMs : null,
  };
}
