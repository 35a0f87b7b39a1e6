import { backoffMs } from './backoff.ts';

/**
 * The failures of single events. A sink that is down fails for all of them and is paused as a whole (`Pace`);
 * an event that fails again while others get through is held for its own delay and sent by itself, so that it
 * takes neither its neighbours' batches nor their time.
 */
export interface EventBackoff {
  /** Counted only where another record got through in between: in an outage no event is at fault. */
  readonly failures: number;
  /** Monotonic milliseconds. */
  readonly heldUntil: number;
  /** Batches that had got through when it last failed. */
  readonly deliveredThen: number;
  /** Position of the record that was refused alone, while that is not yet proven to be its own fault. */
  readonly suspect: number | null;
  /** How often that record was refused, alone. */
  readonly refusals: number;
}

/** What counts when an event fails. */
interface Moment {
  readonly at: number;
  /** Batches that got through so far. */
  readonly delivered: number;
  readonly random: () => number;
}

const noFailure: EventBackoff = { failures: 0, heldUntil: 0, deliveredThen: -1, suspect: null, refusals: 0 };

/** The event's batch could not be sent. */
export function afterRetry(before = noFailure, { at, delivered, random }: Moment): EventBackoff {
  const failures = before.failures + (before.deliveredThen < delivered ? 1 : 0);
  // One failure may well have been the sink's: the event goes as soon as the sink may be tried again.
  const heldUntil = failures > 1 ? at + backoffMs(failures, 'transient', random) : at;
  return { ...before, failures, heldUntil, deliveredThen: delivered };
}

/** The event's oldest record was refused, alone. It is retried slowly, or as soon as another one got through. */
export function afterRefusal(before = noFailure, position: number, { at, delivered, random }: Moment): EventBackoff {
  const failures = before.failures + 1;
  const heldUntil = at + backoffMs(failures, 'configuration', random);
  const refusals = before.suspect === position ? before.refusals + 1 : 1;
  return { failures, heldUntil, deliveredThen: delivered, suspect: position, refusals };
}

/** Another record got through: what was refused alone can be retried, and then it is decided. */
export const released = (backoff: EventBackoff): EventBackoff =>
  backoff.suspect === null ? backoff : { ...backoff, heldUntil: Number.NEGATIVE_INFINITY };

/** Sent in separate batches: it failed more than once while others did not. */
export const isIsolated = ({ failures, suspect } = noFailure): boolean => failures > 1 || suspect !== null;

/** Whether `position` was refused alone and another record has got through since, `delivered` batches having done so. */
export const wasRefused = (backoff: EventBackoff | undefined, position: number, delivered: number): boolean =>
  backoff?.suspect === position && backoff.deliveredThen < delivered;

/** Ten refusals take about half an hour. */
const hopeless = { refusals: 10, ageMs: 24 * 3_600_000 } as const;

/**
 * Whether a record becomes a dead letter although nothing else shows whose fault it is: no other record got through since, and none
 * of another event was refused either, which would show that it is the destination. A day is time to fix that.
 */
export const isHopeless = (
  backoff: EventBackoff | undefined,
  { position, ageMs, suspects }: { readonly position: number; readonly ageMs: number; readonly suspects: number },
): boolean =>
  backoff?.suspect === position && backoff.refusals >= hopeless.refusals && ageMs >= hopeless.ageMs && suspects === 1;
