/**
 * The limit of requests that one VM may make of all its metadata service: five a second.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#rate-limiting
 */
export interface RequestLimit {
  /** Counts a request of this VM. @returns whether it exceeds the limit. */
  isExceeded(vm: string, now: number): boolean;
  /** Null, as at start: none. */
  set(requestsPerSecond: number | null): void;
}

export function createRequestLimit(): RequestLimit {
  const recent = new Map<string, number[]>();
  let most: number | null = null;
  return {
    isExceeded(vm, now) {
      if (most === null) return false;
      const times = (recent.get(vm) ?? []).filter((at) => at > now - 1000);
      recent.set(vm, times);
      if (times.length >= most) return true;
      times.push(now);
      return false;
    },
    set(requestsPerSecond) {
      most = requestsPerSecond;
      recent.clear();
    },
  };
}
