import { isDeepStrictEqual } from 'node:util';
import type { DecisionContext } from './decision-context.ts';
import { emptyMemory } from './empty-memory.ts';
import type { Booking } from './impact.ts';
import { longestBetween, type Moment } from './moment.ts';
import type { Pause } from './pause.ts';
import type { IsoTime } from './record.ts';
import type { EventMemory } from './state.ts';
import { hasEndStatus, heldPhase, type Listing } from './steps.ts';

/** How long an ended event is remembered, so that it is recognised when it returns. */
export const rememberEndedMs = 30 * 24 * 3_600_000;

/** Maximum number of ended events remembered. */
export const rememberEndedCount = 1000;

type Context = Pick<DecisionContext, 'at' | 'moment' | 'host'>;

/** The memory of a listed event after this document. */
export function rememberListed(listing: Listing, inScope: boolean, context: Context): EventMemory {
  const { memory } = listing;
  const now = memory?.open ? update(memory, listing, context) : begin(listing, context);
  return { ...now, inScope, ...(memory && !memory.open && keptWhenReopened(memory)) };
}

/** Listed for the first time. */
function begin(listing: Listing, { at, moment, host: { physicalHost } }: Context): EventMemory {
  const { now, affectsUs, gap } = listing;
  const phase = heldPhase(listing);
  return {
    ...emptyMemory(now.eventId, moment),
    last: now,
    phase,
    open: !hasEndStatus(listing),
    affectsUs,
    firstSeenAt: at,
    scheduledSince: now.eventStatus === 'Scheduled' ? at : null,
    presentAtFirstLook: gap,
    startedAt: phase === 'Started' ? at : null,
    startSeen: phase === 'Started' && !gap,
    started: phase === 'Started' ? moment : null,
    endedAt: hasEndStatus(listing) ? moment.azureAt : null,
    foundOnHost: physicalHost,
  };
}

/** Listed before and still listed. If this VM has joined its resources, time counts from now. */
function update(memory: EventMemory, listing: Listing, { at, moment, host: { physicalHost } }: Context): EventMemory {
  const { now, affectsUs, gap } = listing;
  const phase = heldPhase(listing);
  const starts = phase === 'Started' && memory.phase !== 'Started';
  const stops = phase === 'Scheduled' && memory.phase === 'Started';
  const joined = affectsUs && !memory.affectsUs;
  const ranMs = stops && memory.started ? Math.max(0, longestBetween(memory.started, moment)) : 0;
  return {
    ...memory,
    last: now,
    phase,
    open: !hasEndStatus(listing),
    affectsUs,
    firstSeenAt: joined ? at : memory.firstSeenAt,
    firstSeen: joined ? moment : memory.firstSeen,
    presentAtFirstLook: joined ? gap : memory.presentAtFirstLook,
    scheduledSince: now.eventStatus === 'Scheduled' ? (memory.scheduledSince ?? at) : null,
    startedAt: starts ? at : memory.startedAt,
    // Of a second start the seconds count only where the first was seen as well, and how long it lasted.
    startSeen: starts ? !gap && (memory.startedAt === null || memory.startSeen) : memory.startSeen && !(stops && gap),
    // After a start within a gap, no later start shows when the warning ended.
    started: starts && (memory.started === null || memory.startSeen) ? moment : memory.started,
    startedBeforeMs: memory.startedBeforeMs + ranMs,
    impactAt:
      stops && memory.startSeen && memory.started ? earlier(memory.impactAt, memory.started.azureAt) : memory.impactAt,
    endedAt: hasEndStatus(listing) ? moment.azureAt : null,
    ...untouched,
    foundOnHost: memory.foundOnHost ?? physicalHost,
    listedIn: null,
    hiddenSince: null,
    absent: null,
  };
}

const earlier = (a: IsoTime | null, b: IsoTime): IsoTime => (a !== null && a < b ? a : b);

/** No impact was booked for it since it was last listed. */
const untouched = { pauseSinceListedMs: 0, movedSinceListed: false, bootedSinceListed: false } as const;

const isTouched = (memory: EventMemory): boolean =>
  memory.pauseSinceListedMs > 0 || memory.movedSinceListed || memory.bootedSinceListed;

/** It is still listed: an impact booked before says nothing about a later departure. */
export const stillListed = (memory: EventMemory): EventMemory =>
  isTouched(memory) ? { ...memory, ...untouched } : memory;

/**
 * Of an event that has ended and is listed again. Its records continue in sequence; its measurements restart, since readers
 * have recovered at its end. It stays in scope, because the published end has to be revoked.
 */
const keptWhenReopened = ({ sequence, recorded, recordedFloor }: EventMemory): Partial<EventMemory> => ({
  sequence,
  recorded,
  recordedFloor,
  startSeen: false,
});

/** The previous document listed it with the same content. */
export const isUnchanged = (memory: EventMemory, { now, affectsUs }: Pick<Listing, 'now' | 'affectsUs'>): boolean =>
  memory.open &&
  memory.absent === null &&
  memory.listedIn === null &&
  !isTouched(memory) &&
  memory.affectsUs === affectsUs &&
  isDeepStrictEqual(memory.last, now);

/**
 * Adds what the machine measured to an open event of this VM: `booking` where it is this event's. What comes after its
 * first absence is not its own any more. Answers the same object when there is nothing to add.
 */
export function applyImpact(memory: EventMemory, measured: Pause | null, booking: Booking | undefined): EventMemory {
  if (!memory.open || memory.absent || !memory.affectsUs) return memory;
  const isMeasuredAtLast = measured !== null && memory.pauseMs === null;
  if (!isMeasuredAtLast && !booking) return memory;
  const pause = booking?.pause ?? { longestMs: 0, totalMs: 0 };
  const isKnown = measured !== null || memory.pauseMs !== null;
  const { outageSeconds = null, impactAt = null } = booking ?? {};
  return {
    ...memory,
    pauseMs: isKnown ? Math.max(memory.pauseMs ?? 0, pause.longestMs) : null,
    pauseTotalMs: isKnown ? (memory.pauseTotalMs ?? 0) + pause.totalMs : null,
    pauseSinceListedMs: Math.max(memory.pauseSinceListedMs, pause.longestMs),
    movedSinceListed: memory.movedSinceListed || (booking?.moved ?? false),
    bootedSinceListed: memory.bootedSinceListed || (booking?.booted ?? false),
    ambiguous: memory.ambiguous || (booking?.ambiguous ?? false),
    outageSeconds: outageSeconds === null ? memory.outageSeconds : Math.max(outageSeconds, memory.outageSeconds ?? 0),
    impactAt: impactAt === null ? memory.impactAt : earlier(memory.impactAt, impactAt),
  };
}

/** An ended event of long ago counts as never seen. */
export const isForgotten = (memory: EventMemory, { azureAt }: Moment): boolean =>
  memory.endedAt !== null && Date.parse(azureAt) - Date.parse(memory.endedAt) > rememberEndedMs;

/**
 * The keys of the ended events to forget: those of long ago, and the longest ended beyond the number kept. Never what the
 * document lists: it would be new again in the next document.
 */
export function toForget(
  events: ReadonlyMap<string, EventMemory>,
  listed: ReadonlyMap<string, unknown>,
  now: Moment,
): readonly string[] {
  const ended = [...events].filter(([key, memory]) => memory.endedAt !== null && !listed.has(key));
  const latestFirst = ended.sort(([a, one], [b, other]) => timeOf(other) - timeOf(one) || (a < b ? -1 : 1));
  return latestFirst.filter(([, memory], n) => n >= rememberEndedCount || isForgotten(memory, now)).map(([key]) => key);
}

const timeOf = ({ endedAt }: EventMemory): number => Date.parse(endedAt ?? '');
