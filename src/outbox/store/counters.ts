/**
 * What became of everything that a sink was to get. At every moment
 * `accepted = delivered + pending + dead + expired + abandoned`.
 */
export interface SinkCounters {
  /** Records that were to go to this sink; again those that it gets anew after it had left the configuration. */
  readonly accepted: number;
  readonly delivered: number;
  /** Not settled now. */
  readonly pending: number;
  /** Dead letters now: refused, kept with their reason. */
  readonly dead: number;
  /** Given up for lack of room before this sink had them, or lost with a damaged file. */
  readonly expired: number;
  /** Not settled when the sink left the configuration. */
  readonly abandoned: number;
  /** Of those delivered: sent from memory, never on disk before. */
  readonly undurable: number;
}

/** By the sink's name. */
export type OutboxCounters = Readonly<Record<string, SinkCounters>>;

export const noCounters: SinkCounters = {
  accepted: 0,
  delivered: 0,
  pending: 0,
  dead: 0,
  expired: 0,
  abandoned: 0,
  undurable: 0,
};

export const counterNames = Object.keys(noCounters) as readonly (keyof SinkCounters)[];

export type Change = Partial<SinkCounters>;

export function add(counters: SinkCounters, change: Change): SinkCounters {
  const sum = { ...counters };
  for (const name of counterNames) sum[name] += change[name] ?? 0;
  return sum;
}

/** What counts as lost or gained for nobody's reason; 0 as long as the books are right. */
export const imbalance = ({ accepted, delivered, pending, dead, expired, abandoned }: SinkCounters): number =>
  accepted - (delivered + pending + dead + expired + abandoned);

/** How far a relay has come and how its sink feels. Survives a restart, so that a crash loop does not hammer a sick sink. */
export interface SinkProgress {
  /** Backoff step, 0 = healthy. */
  readonly step: number;
  /** Wall clock: a hint only. */
  readonly retryAt: string | null;
  readonly lastSuccessAt: string | null;
  readonly lastErrorAt: string | null;
  readonly lastErrorCode: string | null;
  readonly lastErrorReason: string | null;
}

export const noProgress: SinkProgress = {
  step: 0,
  retryAt: null,
  lastSuccessAt: null,
  lastErrorAt: null,
  lastErrorCode: null,
  lastErrorReason: null,
};
