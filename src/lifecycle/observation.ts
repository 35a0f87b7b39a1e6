import { isoAfter, type Moment, monotonicBetween, offsetNoiseSeconds } from './moment.ts';
import type { EventsDocument, HostEvidence } from './scheduled-event.ts';
import type { UndecidedDocument } from './state.ts';

/** One valid look, of now or of before the observer was known. */
export interface Observation {
  readonly at: Date;
  readonly monotonicMs: number | null;
  readonly previousDocumentAt: string | null;
  readonly previousDocument: Moment | null;
  /** Null: the document seen last, once more. */
  readonly document: EventsDocument | null;
  readonly imdsApiVersion: string;
  readonly azureTime: Date | null;
  readonly clockOffsetSeconds: number | null;
  readonly host: HostEvidence;
}

export const isoOf = (date: Date): string => date.toISOString();

/**
 * The offset of this look. Where the answer tells none, our clock may have been set since the offset known last: then the
 * monotonic clock says what time it is for Azure.
 */
export function offsetOf(
  observation: Pick<Observation, 'at' | 'monotonicMs' | 'host' | 'clockOffsetSeconds' | 'previousDocument'>,
  known: number | null,
): number | null {
  const { at, monotonicMs, host, previousDocument: previous } = observation;
  if (observation.clockOffsetSeconds !== null || known === null) return observation.clockOffsetSeconds;
  const sinceMs = previous && monotonicBetween(previous, { monotonicMs, bootId: host.bootId });
  if (previous === null || sinceMs === null) return known;
  return Math.round((Date.parse(previous.azureAt) + sinceMs - at.getTime()) / 1000) + 0;
}

/**
 * Azure's time is our clock put right by the steady offset; where none is known yet, the `Date` of the answer, and without
 * one the time since the look before, since our clock may have been set.
 */
export function momentOf(
  {
    at,
    azureTime,
    monotonicMs,
    host,
    previousDocument: previous,
  }: Pick<Observation, 'at' | 'azureTime' | 'monotonicMs' | 'host' | 'previousDocument'>,
  offsetSeconds: number | null,
): Moment {
  const now = { azureAt: isoOf(azureTime ?? at), monotonicMs, bootId: host.bootId };
  if (offsetSeconds !== null) {
    const isOff = Math.abs(offsetSeconds) >= offsetNoiseSeconds;
    const ours = isOff ? new Date(at.getTime() + 1000 * offsetSeconds) : at;
    // An answer that was long under way is as old as its `Date`, which is cut to whole seconds.
    const underwayMs = azureTime ? ours.getTime() - azureTime.getTime() - 500 : 0;
    const lateMs = underwayMs >= 1000 * offsetNoiseSeconds ? underwayMs : 0;
    return {
      ...now,
      azureAt: isoAfter(isoOf(ours), -lateMs),
      monotonicMs: monotonicMs === null ? null : monotonicMs - lateMs,
    };
  }
  const sinceMs = previous && azureTime === null ? monotonicBetween(previous, now) : null;
  return previous === null || sinceMs === null ? now : { ...now, azureAt: isoAfter(previous.azureAt, sinceMs) };
}

export const observationFrom = (stored: UndecidedDocument): Observation => ({
  ...stored,
  at: new Date(stored.at),
  monotonicMs: stored.monotonicMs ?? null,
  previousDocument: stored.previousDocument ?? null,
  azureTime: stored.azureTime === null ? null : new Date(stored.azureTime),
});

/** The offset known last, unless this look tells another one than its noise. */
export function steadyOffset(before: number | null, now: number | null): number | null {
  if (before === null || now === null) return now ?? before;
  return Math.abs(now - before) < offsetNoiseSeconds ? before : now;
}
