import type { Moment } from './moment.ts';
import type { Absence, EventMemory, LifecycleState, Sighting } from './state.ts';

/**
 * A state that an earlier build wrote lacks the keys that came later. They get values that claim nothing: an outbox is not
 * damaged by having been written before they existed.
 */
type Scalars = Omit<LifecycleState, 'events' | 'undecided' | 'approved'>;

export function withNewKeys(stored: Scalars): Scalars {
  if (typeof stored !== 'object' || stored === null) return stored;
  const { clockOffsetSeconds: offset, lastDocumentAt, resetAt } = stored;
  const added = {
    lastDocument: momentAt(lastDocumentAt, offset),
    incarnationStep: null,
    unreadable: stored.hidden ? 1 : 0,
    reset: momentAt(resetAt, offset),
    enabled: null,
    elsewhere: null,
    unbooked: null,
    // A stream that has gone on for long has told of its events one by one.
    snapshotDue: false,
  };
  return { ...added, ...stored };
}

export function memoryWithNewKeys(stored: EventMemory, offset: number | null): EventMemory {
  if (typeof stored !== 'object' || stored === null) return stored;
  const firstSeen = momentAt(stored.firstSeenAt, offset);
  const added: Partial<EventMemory> = {
    ...(firstSeen && { firstSeen }),
    started: momentAt(stored.startedAt, offset),
    startedBeforeMs: 0,
    impactAt: null,
    recordedFloor: 0,
    hiddenSince: null,
    movedSinceListed: false,
    bootedSinceListed: false,
    ambiguous: false,
  };
  const { listedIn, absent } = stored;
  return {
    ...added,
    ...stored,
    listedIn: isObject(listedIn) ? sightingWithNewKeys(listedIn, offset) : listedIn,
    absent: isObject(absent) ? absenceWithNewKeys(absent, offset) : absent,
  };
}

const sightingWithNewKeys = (stored: Sighting, offset: number | null): Sighting => ({
  ...{ moment: momentAt(stored.at, offset), unreadable: 0 },
  ...stored,
});

const absenceWithNewKeys = (stored: Absence, offset: number | null): Absence => {
  const moment = momentAt(stored.since, offset);
  const added = { rebooted: false, ambiguous: false, unreadable: false, settling: true };
  return {
    ...(moment && { moment }),
    ...{ clockOffsetSeconds: offset },
    ...stored,
    facts: { ...added, ...stored.facts },
  };
};

/** Across a boot it is compared by Azure's time, which is what an older build did with its own clock. */
function momentAt(time: string | null, offset: number | null): Moment | null {
  const azure = new Date(Date.parse(time ?? '') + 1000 * (typeof offset === 'number' ? offset : 0));
  return Number.isNaN(azure.getTime()) ? null : { azureAt: azure.toISOString(), monotonicMs: null, bootId: null };
}

const isObject = <T>(value: T | null): value is T & object => typeof value === 'object' && value !== null;
