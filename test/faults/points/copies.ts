/** A crash: where, and when, in milliseconds since the epoch. */
export interface Crash {
  readonly point: string;
  readonly at: number;
}

/** One arrival at one sink, in milliseconds since the epoch. */
export interface Arrival {
  readonly recordId: string;
  readonly at: number;
}

/** A sender may still write what the bridge handed over just before it died; a bridge takes longer than this to start. */
const afterglowMs = 300;

/**
 * Which crash each copy at one sink is due to: the first one after the arrival before it, since what was sent is sent again only where a
 * crash came between its arrival and its acknowledgement.
 * @returns the copies by point; those that no crash explains under `none`.
 */
export function copiesByPoint(arrivals: readonly Arrival[], crashes: readonly Crash[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const last = new Map<string, number>();
  for (const { recordId, at } of arrivals.toSorted((a, b) => a.at - b.at)) {
    const before = last.get(recordId);
    last.set(recordId, at);
    if (before === undefined) continue;
    const point = crashes.find((crash) => crash.at >= before - afterglowMs && crash.at <= at)?.point ?? 'none';
    found.set(point, (found.get(point) ?? 0) + 1);
  }
  return found;
}
