import { isDeepStrictEqual } from 'node:util';
import type { Pause } from './pause.ts';
import type { IsoTime } from './record.ts';
import type { EventMemory } from './state.ts';
import { heldPhase, type Listing, saysEnded } from './steps.ts';

/** How long an ended event is remembered, so that it is recognised when it returns. */
export const rememberEndedMs = 30 * 24 * 3_600_000;

/** So many ended events are remembered at most. */
export const rememberEndedCount = 1000;

/** What a listed event is remembered with. */
interface Sight {
  readonly at: IsoTime;
  readonly inScope: boolean;
  readonly physicalHost: string | null;
}

/** The memory of a listed event after this document. */
export function rememberListed(listing: Listing, sight: Sight): EventMemory {
  const { memory } = listing;
  if (!memory) return begin(listing, sight);
  return memory.open ? goOn(memory, listing, sight) : comeBack(memory, listing, sight);
}

/** Seen for the first time. */
function begin(listing: Listing, { at, inScope, physicalHost }: Sight): EventMemory {
  const { now, affectsUs, gap } = listing;
  const phase = heldPhase(listing);
  return {
    eventId: now.eventId,
    last: now,
    phase,
    open: !saysEnded(listing),
    inScope,
    affectsUs,
    firstSeenAt: at,
    scheduledSince: now.eventStatus === 'Scheduled' ? at : null,
    presentAtFirstLook: gap,
    startedAt: phase === 'Started' ? at : null,
    startSeen: phase === 'Started' && !gap,
    endedAt: saysEnded(listing) ? at : null,
    sequence: 0,
    recorded: {},
    pauseMs: null,
    pauseTotalMs: null,
    pauseSinceListedMs: 0,
    outageSeconds: null,
    foundOnHost: physicalHost,
    listedIn: null,
    absent: null,
  };
}

/** Seen before and still there. For an event that our name joins, time counts from now. */
function goOn(memory: EventMemory, listing: Listing, { at, inScope, physicalHost }: Sight): EventMemory {
  const { now, affectsUs, gap } = listing;
  const phase = heldPhase(listing);
  const starts = phase === 'Started' && memory.phase !== 'Started';
  const joined = affectsUs && !memory.affectsUs;
  return {
    ...memory,
    last: now,
    phase,
    open: !saysEnded(listing),
    inScope,
    affectsUs,
    firstSeenAt: joined ? at : memory.firstSeenAt,
    presentAtFirstLook: joined ? gap : memory.presentAtFirstLook,
    scheduledSince: now.eventStatus === 'Scheduled' ? (memory.scheduledSince ?? at) : null,
    startedAt: starts ? at : memory.startedAt,
    startSeen: starts ? !gap : memory.startSeen,
    endedAt: saysEnded(listing) ? at : null,
    pauseSinceListedMs: 0,
    foundOnHost: memory.foundOnHost ?? physicalHost,
    listedIn: null,
    absent: null,
  };
}

/**
 * Ended, as we said, and listed again. Its records go on in sequence; what is measured begins anew, since everybody was
 * told to recover. It stays in scope: the end that we told has to be withdrawn.
 */
const comeBack = (memory: EventMemory, listing: Listing, sight: Sight): EventMemory => ({
  ...begin(listing, sight),
  sequence: memory.sequence,
  recorded: memory.recorded,
  startSeen: false,
});

/** Nothing about it is new: it was listed by the document before, with the same words. */
export const isUnchanged = (memory: EventMemory, { now, affectsUs }: Pick<Listing, 'now' | 'affectsUs'>): boolean =>
  memory.open &&
  memory.absent === null &&
  memory.listedIn === null &&
  memory.pauseSinceListedMs === 0 &&
  memory.affectsUs === affectsUs &&
  isDeepStrictEqual(memory.last, now);

/**
 * Adds a pause and, after a reboot, the outage to an open event. What comes after its first absence is not its own any
 * more. Answers the same object when there is nothing to add.
 */
export function suffer(memory: EventMemory, pause: Pause | null, outageSeconds: number | null): EventMemory {
  if (!memory.open || memory.absent) return memory;
  const isNews = pause !== null && (pause.totalMs > 0 || memory.pauseMs === null);
  if (!isNews && outageSeconds === null) return memory;
  const felt = pause ?? { longestMs: 0, totalMs: 0 };
  return {
    ...memory,
    pauseMs: pause === null ? memory.pauseMs : Math.max(memory.pauseMs ?? 0, felt.longestMs),
    pauseTotalMs: pause === null ? memory.pauseTotalMs : (memory.pauseTotalMs ?? 0) + felt.totalMs,
    pauseSinceListedMs: Math.max(memory.pauseSinceListedMs, felt.longestMs),
    outageSeconds: outageSeconds === null ? memory.outageSeconds : Math.max(outageSeconds, memory.outageSeconds ?? 0),
  };
}

/** An ended event of long ago counts as never seen. */
export const isForgotten = (memory: EventMemory, at: Date): boolean =>
  memory.endedAt !== null && at.getTime() - Date.parse(memory.endedAt) > rememberEndedMs;

/**
 * The keys of the ended events to forget: those of long ago, and the longest ended beyond the number kept. Never what the
 * document lists: it would be new again at the next look.
 */
export function toForget(
  events: ReadonlyMap<string, EventMemory>,
  listed: ReadonlyMap<string, unknown>,
  at: Date,
): readonly string[] {
  const ended = [...events].filter(([key, memory]) => memory.endedAt !== null && !listed.has(key));
  const latestFirst = ended.sort(([a, one], [b, other]) => timeOf(other) - timeOf(one) || (a < b ? -1 : 1));
  return latestFirst.filter(([, memory], n) => n >= rememberEndedCount || isForgotten(memory, at)).map(([key]) => key);
}

const timeOf = ({ endedAt }: EventMemory): number => Date.parse(endedAt ?? '');
