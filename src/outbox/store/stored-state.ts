import { crc32 } from 'node:zlib';
import type { Observation } from '../../lifecycle/observation.ts';
import type { Observer } from '../../lifecycle/scheduled-event.ts';
import type { EventMemory, LifecycleState } from '../../lifecycle/state.ts';
import { memoryWithNewKeys, observationWithNewKeys, withNewKeys } from '../../lifecycle/upgrade.ts';

/**
 * Whether what was read is what was written: SQLite has no checksums, and a byte that went bad may leave JSON that is JSON. What
 * the JSON means is another matter: keys that are missing are those of a later version, and get their defaults.
 */

/** All of the state that is neither an event nor an undecided document. */
export type Scalars = Omit<LifecycleState, 'events' | 'undecided' | 'approved'>;

/** The observer, and the boot under which its name was learned: a clone has another. */
export interface StoredObserver {
  readonly observer: Observer | null;
  readonly bootId: string | null;
}

/** A row of `events`. Before format 1.1, or written by a version before it: no checksum. */
export interface EventRow {
  readonly eventKey: string;
  readonly open: number;
  readonly json: string;
  readonly crc?: number | null;
}

/** CRC-32 of the values of a row. */
export const checksum = (...parts: readonly (string | number)[]): number => crc32(parts.join('\n'));

const isAsWritten = (crc: number | null | undefined, ...parts: readonly (string | number)[]): boolean =>
  crc === null || crc === undefined || crc === checksum(...parts);

/** Null where the row is not as it was written. */
export function memoryOf({ eventKey, open, json, crc }: EventRow, offset: number | null): EventMemory | null {
  const stored = isAsWritten(crc, eventKey, open, json) ? parsed<EventMemory>(json) : null;
  if (typeof stored?.eventId !== 'string' || stored.eventId.toLowerCase() !== eventKey) return null;
  return memoryWithNewKeys(stored, offset);
}

/** Null where the row is not as it was written. */
export function observationOf({ json, crc }: Pick<EventRow, 'json' | 'crc'>): Observation | null {
  const stored = isAsWritten(crc, json) ? parsed<Observation>(json) : null;
  return stored && observationWithNewKeys(stored);
}

/** Null where the row is not as it was written. */
export function scalarsOf(json: string, crc: number | null): Scalars | null {
  const stored = isAsWritten(crc, json) ? parsed<Scalars>(json) : null;
  const isOurs = typeof stored?.streamId === 'string' && Number.isSafeInteger(stored.position);
  return isOurs ? withNewKeys(stored) : null;
}

/** Null where the row is not as it was written. */
export const observerOf = (json: string, crc: number | null): StoredObserver | null =>
  isAsWritten(crc, json) ? parsed<StoredObserver>(json) : null;

/** Null where it is no JSON object. */
function parsed<T extends object>(json: string): T | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as T) : null;
  } catch {
    return null;
  }
}
