/** What a namespace takes in: each unit is 1,000 events or 1 MB a second, whichever comes first. */
export interface IngressLimit {
  readonly throughputUnits: number;
}

/** Holds what comes in to a limit. https://learn.microsoft.com/azure/event-hubs/event-hubs-scalability#throughput-units */
export interface Throttle {
  /** `null`, as in the beginning: no limit. */
  limit(limit: IngressLimit | null): void;
  /** Whether a batch may be stored now; if so, it is counted. */
  admits(events: number, bytes: number): boolean;
}

const eventsPerUnit = 1_000;
const bytesPerUnit = 1_048_576;

/**
 * A second's worth may come at once. A batch is admitted while anything of it is left, so that the largest batch gets
 * through the smallest limit; what it took too much is missing afterwards.
 */
export function createThrottle(now: () => number): Throttle {
  let allowances: { readonly events: Allowance; readonly bytes: Allowance } | null = null;
  return {
    limit(limit) {
      const allow = (perUnit: number): Allowance => createAllowance((limit?.throughputUnits ?? 0) * perUnit, now);
      allowances = limit === null ? null : { events: allow(eventsPerUnit), bytes: allow(bytesPerUnit) };
    },
    admits(events, bytes) {
      if (allowances === null) return true;
      if (allowances.events.left() <= 0 || allowances.bytes.left() <= 0) return false;
      allowances.events.take(events);
      allowances.bytes.take(bytes);
      return true;
    },
  };
}

interface Allowance {
  left(): number;
  take(amount: number): void;
}

function createAllowance(perSecond: number, now: () => number): Allowance {
  let left = perSecond;
  let countedAt = now();
  return {
    left() {
      const seconds = Math.max(0, now() - countedAt) / 1000;
      left = Math.min(perSecond, left + seconds * perSecond);
      countedAt = now();
      return left;
    },
    take(amount) {
      left -= amount;
    },
  };
}
