import { isoAfter, type Moment, monotonicBetween, offsetNoiseSeconds } from './moment.ts';
import type { IsoTime } from './record.ts';
import type { EventsDocument, HostEvidence } from './scheduled-event.ts';

/**
 * One poll that returned a valid document, with what the machine measured. Plain JSON: until the observer is known,
 * observations are stored as they are and decided later, in order, as if at once.
 */
export interface Observation {
  readonly at: IsoTime;
  readonly monotonicMs: number | null;
  readonly previousDocumentAt: IsoTime | null;
  readonly previousDocument: Moment | null;
  /** Null: the same document as in the observation before. */
  readonly document: EventsDocument | null;
  readonly imdsApiVersion: string;
  readonly azureTime: IsoTime | null;
  readonly clockOffsetSeconds: number | null;
  readonly host: HostEvidence;
}

/**
 * The offset of Azure's clock from ours, in seconds. If the answer has none, our clock may have been set since the last known
 * offset: then Azure's time is derived from the monotonic clock.
 */
export function offsetOf(
  observation: Pick<Observation, 'at' | 'monotonicMs' | 'host' | 'clockOffsetSeconds' | 'previousDocument'>,
  known: number | null,
): number | null {
  const { at, monotonicMs, host, previousDocument: previous } = observation;
  if (observation.clockOffsetSeconds !== null || known === null) return observation.clockOffsetSeconds;
  const sinceMs = previous && monotonicBetween(previous, { monotonicMs, bootId: host.bootId });
  if (previous === null || sinceMs === null) return known;
  return Math.round((Date.parse(previous.azureAt) + sinceMs - Date.parse(at)) / 1000) + 0;
}

/**
 * Azure's time is our clock corrected by the steady offset; as long as no offset is known, the `Date` of the answer; without
 * one, the time since the observation before, since our clock may have been set.
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
  const now = { azureAt: azureTime ?? at, monotonicMs, bootId: host.bootId };
  if (offsetSeconds !== null) {
    const isOff = Math.abs(offsetSeconds) >= offsetNoiseSeconds;
    const ours = isOff ? isoAfter(at, 1000 * offsetSeconds) : at;
    // An answer that was long under way is as old as its `Date`, which is cut to whole seconds.
    const underwayMs = azureTime ? Date.parse(ours) - Date.parse(azureTime) - 500 : 0;
    const lateMs = underwayMs >= 1000 * offsetNoiseSeconds ? underwayMs : 0;
    return {
      ...now,
      azureAt: isoAfter(ours, -lateMs),
      monotonicMs: monotonicMs === null ? null : monotonicMs - lateMs,
    };
  }
  const sinceMs = previous && azureTime === null ? monotonicBetween(previous, now) : null;
  return previous === null || sinceMs === null ? now : { ...now, azureAt: isoAfter(previous.azureAt, sinceMs) };
}

/** The last known offset, unless the new one differs by more than the noise of a measurement. */
export function steadyOffset(before: number | null, now: number | null): number | null {
  if (before === null || now === null) return now ?? before;
  return Math.abs(now - before) < offsetNoiseSeconds ? before : now;
}
