import { crc32 } from 'node:zlib';
import type { Observation } from '../../lifecycle/observation.ts';
import type { Observer } from '../../lifecycle/scheduled-event.ts';
import type { EventMemory, LifecycleState } from '../../lifecycle/state.ts';
import { memoryWithNewKeys, observationWithNewKeys, withNewKeys } from '../../lifecycle/upgrade.ts';
import { attempt } from './files.ts';

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

/** JSON with its checksum; without one before format 1.1, and where a version before that changed it. */
export interface StoredRow {
  readonly json: string;
  readonly crc?: number | null;
}

/** A row of `events`. */
export interface EventRow extends StoredRow {
  readonly eventKey: string;
  readonly open: number;
}

/** CRC-32 of the values of a row. */
export const checksum = (...parts: readonly (string | number)[]): number => crc32(parts.join('\n'));

/** The following return null where the row is not as it was written. */

export function memoryOf({ eventKey, open, ...row }: EventRow, offset: number | null): EventMemory | null {
  const found = objectIn<EventMemory>(row, eventKey, open);
  if (typeof found?.eventId !== 'string' || found.eventId.toLowerCase() !== eventKey) return null;
  return memoryWithNewKeys(found, offset);
}

export function observationOf(row: StoredRow): Observation | null {
  const found = objectIn<Observation>(row);
  return found && observationWithNewKeys(found);
}

export function scalarsOf(row: StoredRow): Scalars | null {
  const found = objectIn<Scalars>(row);
  const isOurs = typeof found?.streamId === 'string' && Number.isSafeInteger(found.position);
  return isOurs ? withNewKeys(found) : null;
}

export const observerOf = (row: StoredRow): StoredObserver | null => objectIn<StoredObserver>(row);

function objectIn<T extends object>({ json, crc }: StoredRow, ...key: readonly (string | number)[]): T | null {
  if (typeof crc === 'number' && crc !== checksum(...key, json)) return null;
  const value: unknown = attempt(() => JSON.parse(json));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as T) : null;
}
