/** Between two attempts that ignore a sink's pause. */
const betweenAttemptsMs = 5_000;

/** More events than a VM has at a time. An outage of days can leave thousands: the older ones wait their turn, since each takes time in every pass. */
const mostEvents = 100;

export type Urgency = ReturnType<typeof createUrgency>;

/**
 * Which events have something urgent to send, and whether that has been tried. A record of `Preempt` comes 30 s before the
 * end of the VM: to be first in a queue that sleeps for 5 minutes would not help.
 */
export function createUrgency() {
  /** Position of the newest urgent record, of events with one that is not settled. */
  const newest = new Map<string, number>();
  const untried = new Set<string>();
  let nextAttemptAt = Number.NEGATIVE_INFINITY;

  return {
    /** An urgent record was appended. */
    note(eventKey: string, position: number): void {
      newest.delete(eventKey);
      newest.set(eventKey, position);
      untried.add(eventKey);
      const [oldest = ''] = newest.keys();
      if (newest.size <= mostEvents) return;
      newest.delete(oldest);
      untried.delete(oldest);
    },
    /** Events with an urgent record that is not settled: they go before the others. */
    events: (): ReadonlySet<string> => new Set(newest.keys()),
    /** The ones of these that may go now despite the sink's pause: each gets one attempt, a sink one in 5 s. */
    due: (now: number): ReadonlySet<string> => (now >= nextAttemptAt ? untried : new Set()),
    /** When `due` will next return one, in monotonic milliseconds; null when everything was tried. */
    dueAt: (): number | null => (untried.size > 0 ? nextAttemptAt : null),
    /** These events are in a batch in flight now. `isOutOfTurn`: the batch is the one attempt of these 5 s. */
    tried(eventKeys: Iterable<string>, now: number, isOutOfTurn: boolean): void {
      for (const eventKey of eventKeys) untried.delete(eventKey);
      if (isOutOfTurn) nextAttemptAt = now + betweenAttemptsMs;
    },
    /** A record was delivered or became a dead letter. */
    settled(eventKey: string, position: number): void {
      if (position < (newest.get(eventKey) ?? Number.POSITIVE_INFINITY)) return;
      newest.delete(eventKey);
      untried.delete(eventKey);
    },
    forget(): void {
      newest.clear();
      untried.clear();
    },
  };
}
