/**
 * What a data collection rule takes in a minute; what is not given is unlimited. In Azure 12,000 requests and 2 GB.
 * https://learn.microsoft.com/azure/azure-monitor/service-limits#logs-ingestion-api
 */
export interface RuleLimit {
  readonly requestsPerMinute?: number;
  readonly bytesPerMinute?: number;
}

/** Holds what comes in to a limit. */
export interface RuleThrottle {
  /** `null`, as in the beginning: no limit. A new minute begins with the next call. */
  limit(limit: RuleLimit | null): void;
  /** Counts a call. @returns 0, or, when the minute is used up, the whole seconds to wait: then the call is not counted. */
  secondsToWait(bytes: number): number;
}

const minuteMs = 60_000;

/**
 * A minute begins with its first call. A call is taken while anything of the minute is left, so that the largest one gets
 * through the smallest limit.
 */
export function createRuleThrottle(now: () => number): RuleThrottle {
  let most: RuleLimit = {};
  let minute = { endsAt: Number.NEGATIVE_INFINITY, requests: 0, bytes: 0 };
  const begin = (endsAt: number): void => {
    minute = { endsAt, requests: 0, bytes: 0 };
  };
  return {
    limit(limit) {
      most = limit ?? {};
      begin(Number.NEGATIVE_INFINITY);
    },
    secondsToWait(bytes) {
      const at = now();
      if (at >= minute.endsAt) begin(at + minuteMs);
      const { requestsPerMinute = Number.POSITIVE_INFINITY, bytesPerMinute = Number.POSITIVE_INFINITY } = most;
      if (minute.requests >= requestsPerMinute || minute.bytes >= bytesPerMinute) {
        return Math.ceil((minute.endsAt - at) / 1000);
      }
      minute.requests += 1;
      minute.bytes += bytes;
      return 0;
    },
  };
}
