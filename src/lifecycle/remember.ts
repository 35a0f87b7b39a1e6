import { isDeepStrictEqual } from 'node:util';
import type { Pause } from './pause.ts';
import type { IsoTime } from './record.ts';
import type { EventMemory } from './state.ts';
import { heldPhase, type Listing, saysEnded } from './steps.ts';

/** How long an ended event is remembered, so that it is recognised when it returns. */
export const rememberEndedMs = 30 * 24 * 3_600_000;

/** So many ended events are remembered at most. */
export const rememberEndedCount = 1000;

/** The memory of a listed event after this document. Answers the same object when nothing about it is new. */
export function rememberListed(
  listing: Listing,
  {
    at,
    inScope,
    physicalHost,
  }: { readonly at: IsoTime; readonly inScope: boolean; readonly physicalHost: string | null },
): EventMemory {
  const { now, memory, affectsUs, gap } = listing;
  if (memory && isUnchanged(memory, listing)) return memory;
  const joined = memory?.open === true && affectsUs && !memory.affectsUs;
  const begins = memory === undefined || joined;
  const phase = heldPhase(listing);
  const wasStarted = memory?.open === true && memory.phase === 'Started';
  const starts = phase === 'Started' && !wasStarted;
  const startedBefore = memory?.startedAt ?? null;
  return {
    eventId: now.eventId,
    last: now,
    phase,
    open: !saysEnded(listing),
    inScope,
    affectsUs,
    firstSeenAt: begins ? at : memory.firstSeenAt,
    scheduledSince: now.eventStatus === 'Scheduled' ? (memory?.open && memory.scheduledSince) || at : null,
    presentAtFirstLook: begins ? gap : memory.presentAtFirstLook,
    startedAt: phase === 'Scheduled' ? null : starts ? (startedBefore ?? at) : startedBefore,
    startSeen: starts ? !gap && startedBefore === null : (memory?.startSeen ?? false),
    endedAt: saysEnded(listing) ? at : null,
    sequence: memory?.sequence ?? 0,
    recorded: memory?.recorded ?? {},
    pauseMs: memory?.pauseMs ?? null,
    pauseTotalMs: memory?.pauseTotalMs ?? null,
    pauseSinceListedMs: 0,
    outageSeconds: memory?.outageSeconds ?? null,
    foundOnHost: memory?.foundOnHost ?? physicalHost,
    listedIn: null,
    absent: null,
  };
}

const isUnchanged = (memory: EventMemory, { now, affectsUs }: Listing): boolean =>
  memory.open &&
  memory.absent === null &&
  memory.listedIn === null &&
  memory.pauseSinceListedMs === 0 &&
  memory.affectsUs === affectsUs &&
  isDeepStrictEqual(memory.last.raw, now.raw);

/** Adds a pause and, after a reboot, the outage to an open event. Answers the same object when there is nothing to add. */
export function suffer(memory: EventMemory, pause: Pause | null, outageSeconds: number | null): EventMemory {
  if (!memory.open) return memory;
  const isNews = pause !== null && (pause.totalMs > 0 || memory.pauseMs === null);
  if (!isNews && outageSeconds === null) return memory;
  const felt = pause ?? { longestMs: 0, totalMs: 0 };
  return {
    ...memory,
    pauseMs: pause === null ? memory.pauseMs : Math.max(memory.pauseMs ?? 0, felt.longestMs),
    pauseTotalMs: pause === null ? memory.pauseTotalMs : (memory.pauseTotalMs ?? 0) + felt.totalMs,
    pauseSinceListedMs: Math.max(memory.pauseSinceListedMs, felt.longestMs),
    outageSeconds: outageSeconds ?? memory.outageSeconds,
  };
}

/** An ended event of long ago counts as never seen. */
export const isForgotten = (memory: EventMemory, at: Date): boolean =>
  memory.endedAt !== null && at.getTime() - Date.parse(memory.endedAt) > rememberEndedMs;

/** The keys of the ended events to forget: those of long ago, and the longest ended beyond the number kept. */
export function toForget(events: ReadonlyMap<string, EventMemory>, at: Date): readonly string[] {
  const ended = [...events].filter(([, memory]) => memory.endedAt !== null);
  const latestFirst = ended.sort(([, a], [, b]) => Date.parse(b.endedAt ?? '') - Date.parse(a.endedAt ?? ''));
  return latestFirst.filter(([, memory], n) => n >= rememberEndedCount || isForgotten(memory, at)).map(([key]) => key);
}
