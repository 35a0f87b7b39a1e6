/** Between two attempts that ignore a sink's pause. */
const betweenAttemptsMs = 5_000;

/**
 * More events than a VM has of its own at a time. An outage of days, or a VM that reports what happens to others, can leave thousands:
 * those of other VMs, and then the older ones, wait their turn, since each takes time in every pass.
 */
const mostEvents = 100;

interface UrgentRecord {
  readonly position: number;
  /** It affects this VM. */
  readonly isOwn: boolean;
}

export type Urgency = ReturnType<typeof createUrgency>;

/**
 * Which events have something urgent to send, and whether that has been tried. A record of `Preempt` comes 30 s before the
 * end of the VM: to be first in a queue that sleeps for 5 minutes would not help.
 */
export function createUrgency() {
  /** The newest urgent record, of events with one that is not settled. */
  const newest = new Map<string, UrgentRecord>();
  const untried = new Set<string>();
  let nextAttemptAt = Number.NEGATIVE_INFINITY;

  return {
    /** An urgent record was appended, or found at the start, when newer ones may be known. */
    note(eventKey: string, record: UrgentRecord): void {
      const known = newest.get(eventKey);
      if (known && known.position >= record.position) return;
      newest.set(eventKey, record);
      untried.add(eventKey);
      if (newest.size <= mostEvents) return;
      const [least = ''] = [...newest].reduce((a, b) => (isBefore(b[1], a[1]) ? b : a));
      newest.delete(least);
      untried.delete(least);
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
      if (position < (newest.get(eventKey)?.position ?? Number.POSITIVE_INFINITY)) return;
      newest.delete(eventKey);
      untried.delete(eventKey);
    },
    forget(): void {
      newest.clear();
      untried.clear();
    },
  };
}

/** Whether `a` waits rather than `b`. */
const isBefore = (a: UrgentRecord, b: UrgentRecord): boolean =>
  a.isOwn === b.isOwn ? a.position < b.position : b.isOwn;
