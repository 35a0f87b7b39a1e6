import { emptyEvent, emptyFacts, emptyMemory, emptySighting } from './empty-memory.ts';
import type { Moment } from './moment.ts';
import type { Observation } from './observation.ts';
import { type Absence, type EventMemory, emptyState, type LifecycleState } from './state.ts';

/**
 * State stored by an earlier version does not have later keys. They get the value of an empty state or memory, unless the keys
 * that are there say more. Keys that only a later version knows are kept.
 */
type Scalars = Omit<LifecycleState, 'events' | 'undecided' | 'approved'>;

export function withNewKeys(stored: Partial<Scalars> & Pick<Scalars, 'streamId'>): Scalars {
  const { events: _, undecided: _undecided, approved: _approved, ...empty } = emptyState(stored.streamId);
  const { clockOffsetSeconds: offset = null, lastDocumentAt = null, resetAt = null } = stored;
  return {
    ...empty,
    lastDocument: momentAt(lastDocumentAt, offset),
    unreadable: stored.hidden ? 1 : 0,
    reset: momentAt(resetAt, offset),
    // A stream that existed before snapshots has published its events one by one.
    snapshotDue: false,
    ...stored,
  };
}

export const observationWithNewKeys = (stored: Observation): Observation =>
  withDefaults<Observation>({ monotonicMs: null, previousDocument: null }, stored);

/** @param offset seconds by which Azure's clock was ahead of ours when it was stored. */
export function memoryWithNewKeys(
  stored: Partial<EventMemory> & Pick<EventMemory, 'eventId'>,
  offset: number | null,
): EventMemory {
  const { eventId, listedIn, absent } = stored;
  const unknown = { azureAt: new Date(0).toISOString(), monotonicMs: null, bootId: null };
  return {
    ...emptyMemory(eventId, momentAt(stored.firstSeenAt ?? null, offset) ?? unknown),
    started: momentAt(stored.startedAt ?? null, offset),
    ...stored,
    last: { ...emptyEvent(eventId), ...stored.last },
    listedIn: listedIn
      ? withDefaults({ ...emptySighting, moment: momentAt(listedIn.at ?? null, offset) }, listedIn)
      : null,
    absent: absent ? absenceWithNewKeys(absent, offset) : null,
  };
}

const absenceWithNewKeys = (stored: Absence, offset: number | null): Absence => {
  const facts = withDefaults(emptyFacts, stored.facts);
  const moment = momentAt(stored.since, offset) ?? undefined;
  return { ...withDefaults({ ...(moment && { moment }), clockOffsetSeconds: offset }, stored), facts };
};

const withDefaults = <T extends object>(defaults: Partial<T>, stored: T): T => ({ ...defaults, ...stored });

/**
 * Across a boot it is compared by Azure's time, which is what an older version did with its own clock. What is stored may be damaged: only
 * a string is a time.
 */
function momentAt(time: unknown, offset: unknown): Moment | null {
  const ahead = typeof offset === 'number' ? offset : 0;
  const azure = new Date(typeof time === 'string' ? Date.parse(time) + 1000 * ahead : Number.NaN);
  return Number.isNaN(azure.getTime()) ? null : { azureAt: azure.toISOString(), monotonicMs: null, bootId: null };
}
