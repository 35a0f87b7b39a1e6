import type { Clock } from '../clock.ts';
import type { Transition } from '../lifecycle/transition.ts';

/** Since the process began. */
export interface PollCounts {
  /** Polls with any result. */
  readonly polls: number;
  /** Polls by result: `document`, `unchanged`, or the code of the failure. */
  readonly results: Readonly<Record<string, number>>;
  /** Of those, the ones without a valid document. */
  readonly failedPolls: Readonly<Record<string, number>>;
  /** Polls that ended with an internal error. */
  readonly pollFailures: number;
  /** Events that were new, and those of them that affect this VM. */
  readonly eventsSeen: number;
  readonly eventsOurs: number;
  /** When the last valid document was received; null before the first. */
  readonly lastDocument: { readonly at: Date; readonly monotonicMs: number } | null;
  /** Why the last poll failed; null if it did not. */
  readonly failing: { readonly code: string; readonly reason: string } | null;
  /** Azure's clock minus ours, at the last answer that showed it. */
  readonly clockOffsetSeconds: number | null;
}

const valid: readonly string[] = ['document', 'unchanged'];

export function createPollCounts(clock: Clock): {
  record(poll: Pick<Transition, 'pollResult' | 'appeared'>): void;
  failed(): void;
  counts(): PollCounts;
} {
  const results: Record<string, number> = {};
  let [polls, pollFailures, eventsSeen, eventsOurs] = [0, 0, 0, 0];
  let lastDocument: PollCounts['lastDocument'] = null;
  let failing: PollCounts['failing'] = null;
  let clockOffsetSeconds: number | null = null;
  return {
    record({ pollResult: seen, appeared }) {
      // Aborted because the bridge is stopping: not a poll.
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
      pollFailures += 1;
    },
    counts: () => ({
      polls,
      results: { ...results },
      failedPolls: Object.fromEntries(Object.entries(results).filter(([result]) => !valid.includes(result))),
      pollFailures,
      eventsSeen,
      eventsOurs,
      lastDocument,
      failing,
      clockOffsetSeconds,
    }),
  };
}
