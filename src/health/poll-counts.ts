import type { Clock } from '../clock.ts';

/** What a turn saw, as far as it is counted. A `Turn` of the lifecycle is one. */
export interface CountedPoll {
  readonly pollResult:
    | { readonly kind: 'document' | 'unchanged'; readonly clockOffsetSeconds: number | null }
    | { readonly kind: 'unavailable'; readonly code: string; readonly reason: string };
  readonly appeared: { readonly seen: number; readonly ours: number };
}

/** Since the process began. */
export interface PollCounts {
  /** Looks at the endpoint, with whatever outcome. */
  readonly polls: number;
  /** Looks by outcome: `document`, `unchanged`, or the code of what came instead. */
  readonly results: Readonly<Record<string, number>>;
  /** Of those, the ones without a valid document. */
  readonly failedPolls: Readonly<Record<string, number>>;
  /** Turns that ended in a mistake of the program. */
  readonly turnFailures: number;
  /** Events that came in sight, and those of them that affect this VM. */
  readonly eventsSeen: number;
  readonly eventsOurs: number;
  /** When the last valid document was seen; null while there was none. */
  readonly lastDocument: { readonly at: Date; readonly monotonicMs: number } | null;
  /** Why the last look brought no document; null when it brought one. */
  readonly failing: { readonly code: string; readonly reason: string } | null;
  /** Azure's clock minus ours, at the last answer that told. */
  readonly clockOffsetSeconds: number | null;
}

const valid: readonly string[] = ['document', 'unchanged'];

export function createPollCounts(clock: Clock): {
  told(turn: CountedPoll): void;
  failed(): void;
  counts(): PollCounts;
} {
  const results: Record<string, number> = {};
  let [polls, turnFailures, eventsSeen, eventsOurs] = [0, 0, 0, 0];
  let lastDocument: PollCounts['lastDocument'] = null;
  let failing: PollCounts['failing'] = null;
  let clockOffsetSeconds: number | null = null;
  return {
    told({ pollResult: seen, appeared }) {
      // Given up because the bridge stops: no look at all.
      if (seen.kind === 'unavailable' && seen.code === 'aborted') return;
      polls += 1;
      const result = seen.kind === 'unavailable' ? seen.code : seen.kind;
      results[result] = (results[result] ?? 0) + 1;
      eventsSeen += appeared.seen;
      eventsOurs += appeared.ours;
      if (seen.kind === 'unavailable') failing = { code: seen.code, reason: seen.reason };
      else {
        failing = null;
        lastDocument = { at: clock.now(), monotonicMs: clock.monotonicMs() };
        clockOffsetSeconds = seen.clockOffsetSeconds ?? clockOffsetSeconds;
      }
    },
    failed() {
      polls += 1;
      turnFailures += 1;
    },
    counts: () => ({
      polls,
      results: { ...results },
      failedPolls: Object.fromEntries(Object.entries(results).filter(([result]) => !valid.includes(result))),
      turnFailures,
      eventsSeen,
      eventsOurs,
      lastDocument,
      failing,
      clockOffsetSeconds,
    }),
  };
}
