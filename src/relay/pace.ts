/**
 * How fast a sink may be called. Healthy: everything at once. After a failure: nothing for a while, then half-open - one
 * batch of one record - and after each success twice as much, so that a destination that just came back is not buried
 * under the backlog of its own outage.
 */
export interface Pace {
  /** Failures in a row; 0 = healthy. */
  readonly step: number;
  /** Monotonic milliseconds until which nothing is sent, except what is urgent. */
  readonly pausedUntil: number;
  /** At most this many batches are in flight, with at most this many records each. */
  readonly concurrencyLimit: number;
  /**
   * Grows with each failure. Sixteen batches in flight when a destination goes down are one failure, not sixteen: what
   * was sent before the last failure proves nothing new.
   */
  readonly generation: number;
}

/** A sent batch, as far as the pace depends on it. */
export interface Sent {
  readonly generation: number;
  readonly concurrencyLimit: number;
  /** Sent although the sink was to be left alone, because it is urgent. */
  readonly outOfTurn: boolean;
}

/** The pace with which a process starts: a crash loop must not hammer a sink that was failing before. */
export const startingPace = (step: number, pausedUntil: number): Pace => ({
  step,
  pausedUntil,
  concurrencyLimit: step === 0 ? Number.POSITIVE_INFINITY : 1,
  generation: 0,
});

/** `full`: from this concurrency limit on there is nothing left to hold back. */
export function afterSuccess(pace: Pace, sent: Sent, full: number): Pace {
  if (sent.generation !== pace.generation) return pace;
  const concurrencyLimit = Math.max(pace.concurrencyLimit, sent.concurrencyLimit * 2);
  return {
    ...pace,
    step: 0,
    pausedUntil: Number.NEGATIVE_INFINITY,
    concurrencyLimit: concurrencyLimit >= full ? Number.POSITIVE_INFINITY : concurrencyLimit,
  };
}

/** Whether its failure is new: the first after a healthy time, or the result of the probe. */
export const isNewFailure = (pace: Pace, sent: Sent): boolean => sent.generation === pace.generation && !sent.outOfTurn;

/** `until`: when the sink may be asked again. A failure that is not new can still carry a Retry-After. */
export function afterFailure(pace: Pace, until: number, isNew = true): Pace {
  const pausedUntil = Math.max(pace.pausedUntil, until);
  if (!isNew) return { ...pace, pausedUntil };
  return { step: pace.step + 1, pausedUntil, concurrencyLimit: 1, generation: pace.generation + 1 };
}
