/** Between two attempts that ignore a sink's pause. */
const betweenAttemptsMs = 5_000;

/**
 * Which events have something urgent to say, and whether that has been tried. A record of `Preempt` comes 30 s before the
 * end of the VM: first in a queue that sleeps for 5 minutes would be no use.
 */
export interface Urgency {
  /** An urgent record was appended. */
  note(eventKey: string, position: number): void;
  /** Events with an urgent record that is not settled: they go before the others. */
  events(): ReadonlySet<string>;
  /** The ones of these that may go now whatever the sink's pause says: each gets one attempt, one sink makes one in 5 s. */
  due(now: number): ReadonlySet<string>;
  /** When `due` will next have an answer, in monotonic milliseconds; null when everything was tried. */
  dueAt(): number | null;
  /** These events are in a batch on its way now. `ignoringPause`: the batch is the one attempt of these 5 s. */
  tried(eventKeys: Iterable<string>, now: number, ignoringPause: boolean): void;
  /** A record was delivered or put aside. */
  settled(eventKey: string, position: number): void;
  forget(): void;
}

const nothing: ReadonlySet<string> = new Set();

export function createUrgency(): Urgency {
  const newest = new Map<string, number>();
  const all = new Set<string>();
  const untried = new Set<string>();
  let nextAttemptAt = Number.NEGATIVE_INFINITY;

  return {
    note(eventKey, position) {
      newest.set(eventKey, position);
      all.add(eventKey);
      untried.add(eventKey);
    },
    events: () => all,
    due: (now) => (now >= nextAttemptAt ? untried : nothing),
    dueAt: () => (untried.size > 0 ? nextAttemptAt : null),
    tried(eventKeys, now, ignoringPause) {
      for (const eventKey of eventKeys) untried.delete(eventKey);
      if (ignoringPause) nextAttemptAt = now + betweenAttemptsMs;
    },
    settled(eventKey, position) {
      if (position < (newest.get(eventKey) ?? Number.POSITIVE_INFINITY)) return;
      newest.delete(eventKey);
      all.delete(eventKey);
      untried.delete(eventKey);
    },
    forget() {
      newest.clear();
      all.clear();
      untried.clear();
    },
  };
}
