import { isDeepStrictEqual } from 'node:util';
import { type Bench, type Decision, decide } from './decide.ts';
import type { Unplaced } from './describe.ts';
import { isGap, previousSighting, resetWindowMs } from './facts.ts';
import { pauseBetween } from './pause.ts';
import type { LifecycleRecord } from './record.ts';
import { suffer } from './remember.ts';
import type { HostEvidence, Observer, Seen, SeenDocument } from './scheduled-event.ts';
import type { Scope } from './scope.ts';
import type { LifecycleState, UndecidedDocument } from './state.ts';

/** Everything beside the document that a turn is decided with. */
export interface Given {
  readonly host: HostEvidence;
  /** Null until the observer is known: documents are then set aside and decided, in order, once it is. */
  readonly observer: Observer | null;
  readonly scope: Scope;
  /** More than this since the previous valid document is a gap. */
  readonly gapAfterMs: number;
  readonly bridgeVersion: string;
  readonly at: Date;
}

/** One turn: what was seen, what to remember and what to tell. */
export interface Turn {
  readonly seen: Seen;
  readonly state: LifecycleState;
  readonly records: readonly LifecycleRecord[];
  /** Distinct events that came in sight in this turn, and those that affect this VM. */
  readonly appeared: Decision['appeared'];
}

/** A gap: polls were missed for longer than a slow answer takes. */
export const gapAfterMs = (pollIntervalSeconds: number): number => Math.max(10_000, 3000 * pollIntervalSeconds);

/** Azure's `Date` has whole seconds: an offset that moves by less than this did not move. */
const offsetNoiseSeconds = 2;

/**
 * The whole lifecycle as one pure function: what was remembered, what was seen, and the circumstances, to what to
 * remember and what to tell. The same input gives the same records with the same ids, so a crash between two turns
 * neither loses nor doubles a step.
 */
export function transition(state: LifecycleState, seen: Seen, given: Given): Turn {
  const { observer } = given;
  if (!observer) return { seen, ...nothingToTell(setAside(state, seen, given)) };
  const known = { ...given, observer };
  const looks = state.undecided.map(lookAgain);
  const now = lookNow(state, seen, given);
  if (now) looks.push(now);
  let told = nothingToTell(state.undecided.length > 0 ? { ...state, undecided: [] } : state);
  if (!now) told = nothingToTell(pausedOnly(told.state, given.host));
  for (const look of looks) told = join(told, decideLook(told.state, look, known));
  const lastDocumentAt = now ? isoOf(given.at) : state.lastDocumentAt;
  return { seen, ...told, state: { ...told.state, lastDocumentAt } };
}

type Told = Omit<Turn, 'seen'>;

/** One valid look, of now or of before the observer was known. */
interface Look {
  readonly at: Date;
  readonly previousDocumentAt: string | null;
  /** Null: the document seen last, once more. */
  readonly document: SeenDocument | null;
  readonly imdsApiVersion: string;
  readonly azureTime: Date | null;
  readonly clockOffsetSeconds: number | null;
  readonly host: HostEvidence;
}

const isoOf = (date: Date): string => date.toISOString();

const nothingToTell = (state: LifecycleState): Told => ({ state, records: [], appeared: { seen: 0, ours: 0 } });

const join = (before: Told, after: Told): Told => ({
  state: after.state,
  records: [...before.records, ...after.records],
  appeared: {
    seen: before.appeared.seen + after.appeared.seen,
    ours: before.appeared.ours + after.appeared.ours,
  },
});

/** The present answer as a look; null where it is no observation, or repeats a document that we do not hold. */
function lookNow(state: LifecycleState, seen: Seen, { at, host }: Given): Look | null {
  if (seen.kind === 'unavailable') return null;
  const { azureTime, clockOffsetSeconds } = seen;
  const look = { at, previousDocumentAt: state.lastDocumentAt, azureTime, clockOffsetSeconds, host };
  if (seen.kind === 'document') return { ...look, document: seen.document, imdsApiVersion: seen.imdsApiVersion };
  const isHeld = state.imdsApiVersion !== null || state.undecided.length > 0;
  return isHeld ? { ...look, document: null, imdsApiVersion: state.imdsApiVersion ?? '' } : null;
}

const lookAgain = (stored: UndecidedDocument): Look => ({
  ...stored,
  at: new Date(stored.at),
  azureTime: stored.azureTime === null ? null : new Date(stored.azureTime),
});

/** While the observer is unknown, every look that shows something new is kept with all it takes to decide it. */
function setAside(state: LifecycleState, seen: Seen, { at, host }: Given): LifecycleState {
  const last = state.undecided.at(-1);
  if (seen.kind === 'unavailable' || (seen.kind === 'unchanged' && !last)) return state;
  const after = { ...state, lastDocumentAt: isoOf(at) };
  const isSameHost = last?.host.bootId === host.bootId && last.host.physicalHost === host.physicalHost;
  const document = seen.kind === 'document' ? seen.document : last?.document;
  if (!document || (isSameHost && isDeepStrictEqual(last?.document, document))) return after;
  const undecided: UndecidedDocument = {
    at: isoOf(at),
    previousDocumentAt: state.lastDocumentAt,
    document,
    imdsApiVersion: seen.kind === 'document' ? seen.imdsApiVersion : (last?.imdsApiVersion ?? ''),
    azureTime: seen.azureTime && isoOf(seen.azureTime),
    clockOffsetSeconds: seen.clockOffsetSeconds,
    host,
  };
  return { ...after, undecided: withinBounds(state.undecided, undecided) };
}

/** At most so many documents, and so many bytes of JSON, wait for the observer. */
const undecidedBounds = { documents: 1000, bytes: 8 * 2 ** 20 } as const;

/**
 * When the room is used up the newest takes the place of those before it, but never of the first: how it all began is not
 * given up. What went is a gap for what comes after it.
 */
function withinBounds(waiting: readonly UndecidedDocument[], newest: UndecidedDocument): readonly UndecidedDocument[] {
  const kept = [...waiting];
  const bytes = (): number => Buffer.byteLength(JSON.stringify([...kept, newest]));
  let isCut = false;
  while (kept.length > 1 && (kept.length >= undecidedBounds.documents || bytes() > undecidedBounds.bytes)) {
    kept.pop();
    isCut = true;
  }
  return [...kept, isCut ? { ...newest, previousDocumentAt: null } : newest];
}

/** No observation: only what the machine measured on itself counts. */
function pausedOnly(state: LifecycleState, host: HostEvidence): LifecycleState {
  const pause = pauseBetween(host, { incarnationSkipped: false, azureRanAheadMs: 0 });
  if (pause === null || ![...state.events.values()].some((memory) => suffer(memory, pause, null) !== memory)) {
    return state;
  }
  return { ...state, events: new Map([...state.events].map(([key, memory]) => [key, suffer(memory, pause, null)])) };
}

function decideLook(state: LifecycleState, look: Look, given: Given & { readonly observer: Observer }): Told {
  const incarnation = look.document?.incarnation ?? state.incarnation ?? 0;
  const isReset = state.incarnation !== null && incarnation < state.incarnation;
  const resetAt = isReset ? isoOf(look.at) : state.resetAt;
  const imdsApiVersion = look.document ? look.imdsApiVersion : (state.imdsApiVersion ?? look.imdsApiVersion);
  const clockOffset = steadyOffset(state.clockOffsetSeconds, look.clockOffsetSeconds);
  const previous = previousSighting(state, look.previousDocumentAt);
  const bench: Bench = {
    facts: {
      at: look.at,
      azureTime: look.azureTime ?? look.at,
      incarnation,
      host: look.host,
      previous,
      gap: isGap(previous, look.at, look.host.bootId, given.gapAfterMs),
      hidden: state.hidden,
      reset: resetAt !== null && look.at.getTime() - Date.parse(resetAt) <= resetWindowMs,
    },
    circumstances: {
      at: look.at,
      observer: given.observer,
      host: look.host,
      streamId: state.streamId,
      imdsApiVersion,
      clockOffsetSeconds: look.clockOffsetSeconds,
      bridgeVersion: given.bridgeVersion,
    },
    pause: pauseBetween(look.host, {
      incarnationSkipped: state.incarnation !== null && incarnation > state.incarnation + 1,
      azureRanAheadMs: 1000 * Math.max(0, (clockOffset ?? 0) - (state.clockOffsetSeconds ?? clockOffset ?? 0)),
    }),
    scope: given.scope,
    gapAfterMs: given.gapAfterMs,
    approved: state.approved,
  };
  const { events, records, appeared } = decide(state.events, look.document, bench);
  const after: LifecycleState = {
    ...state,
    position: state.position + records.length,
    incarnation,
    bootId: look.host.bootId,
    physicalHost: look.host.physicalHost,
    clockOffsetSeconds: clockOffset,
    imdsApiVersion,
    hidden: look.document ? look.document.unreadable > 0 : state.hidden,
    resetAt,
    events,
  };
  return { state: after, records: records.map((record, n) => place(record, state.position + 1 + n)), appeared };
}

const place = (record: Unplaced, position: number): LifecycleRecord => ({ ...record, position });

function steadyOffset(before: number | null, now: number | null): number | null {
  if (before === null || now === null) return now ?? before;
  return Math.abs(now - before) < offsetNoiseSeconds ? before : now;
}
