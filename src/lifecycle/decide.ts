import { merge } from './content.ts';
import { describe, type RecordContext, type Step, type Unsequenced } from './describe.ts';
import { endOf, isProvenByReboot } from './ends.ts';
import { absenceFacts, confirmAfterMs, type DocumentFacts, dueState, hideMs, isGap, resetWindowMs } from './facts.ts';
import { type Booking, bookImpact, type Candidate, type HostImpact } from './impact.ts';
import { longestBetween, type Moment, msBetween } from './moment.ts';
import { applyImpact, isForgotten, isUnchanged, rememberListed, stillListed, toForget } from './remember.ts';
import type { EventsDocument, ScheduledEvent } from './scheduled-event.ts';
import { affects, isSampled, type Scope } from './scope.ts';
import type { EventMemory } from './state.ts';
import { type Listing, saysEnded, stepTaken } from './steps.ts';

type Events = ReadonlyMap<string, EventMemory>;

/** Everything one document is decided with. */
export interface DecisionContext {
  readonly facts: DocumentFacts;
  readonly circumstances: RecordContext;
  readonly impact: HostImpact;
  readonly scope: Scope;
  readonly gapAfterMs: number;
  readonly approved: ReadonlySet<string>;
}

/** What a document made of the events: the same `events` object when it changed none. */
export interface Decision {
  readonly events: Events;
  /** One per event at most, in the order of their lower-case EventIds. */
  readonly records: readonly Unsequenced[];
  /** Events never seen before, and those of them (or joined later) that affect this VM. */
  readonly appeared: { readonly seen: number; readonly ours: number };
  /** An event explains the outage. */
  readonly isOutageBooked: boolean;
}

/** What became of one event: its memory (undefined: forget it) and the record of its step. */
interface Outcome {
  readonly memory: EventMemory | undefined;
  readonly record?: Unsequenced;
}

/** Decides a document; `null` = the one before again (304). */
export function decide(before: Events, document: EventsDocument | null, context: DecisionContext): Decision {
  const listed = new Map((document?.events ?? []).map((event) => [event.eventId.toLowerCase(), event]));
  const bookings = bookImpact(candidates(before, document && listed, context), context.impact);
  const touched = new Map([...before].map(([key, memory]) => [key, touch(memory, bookings.get(key), context)]));
  const events = new Map(touched);
  const records: Unsequenced[] = [];
  const put = (key: string, { memory, record }: Outcome): void => {
    if (memory) events.set(key, memory);
    else events.delete(key);
    if (record) records.push(record);
  };
  for (const [key, event] of listed) put(key, decideListed(touched.get(key), event, bookings.get(key), context));
  const present: Events = new Map(events);
  for (const [key, memory] of touched) {
    if (memory.open && !listed.has(key)) put(key, decideUnlisted(memory, document, present, context));
  }
  if (records.length > 0) for (const key of toForget(events, listed, context.facts.moment)) events.delete(key);
  records.sort((a, b) => (a.eventId.toLowerCase() < b.eventId.toLowerCase() ? -1 : 1));
  const isOutageBooked = [...bookings.values()].some(({ outageSeconds }) => outageSeconds !== null);
  return { events: sameOr(before, events), records, appeared: countAppeared(before, events), isOutageBooked };
}

/** The events of this VM that are open, and those that this document lists first. `listed` null: the same document again. */
function candidates(
  before: Events,
  listed: ReadonlyMap<string, ScheduledEvent> | null,
  context: DecisionContext,
): Candidate[] {
  const { facts, circumstances, approved } = context;
  const keys = new Set([...before.keys(), ...(listed?.keys() ?? [])]);
  return [...keys].flatMap((key): Candidate[] => {
    const memory = before.get(key);
    const entry = listed?.get(key);
    const known = memory?.open && !memory.absent ? memory : undefined;
    const now = entry ? merge(known?.last, entry) : known?.last;
    if (!now || !(known?.affectsUs || affects(now.resources, circumstances.observer.vmName))) return [];
    const grownBy = facts.incarnation - ((known?.listedIn ?? facts.previous).incarnation ?? 0);
    const isSkipped = grownBy < 0 || grownBy > facts.incarnationStep;
    return [
      {
        key,
        eventType: now.eventType,
        started: known?.phase === 'Started' || now.eventStatus === 'Started',
        due: dueState(now.notBefore, facts.azureTime) === 'passed' || approved.has(key),
        listed: listed === null || entry !== undefined,
        isNew: memory === undefined || memory.absent !== null,
        // A list that may be incomplete shows no leaving.
        leftUnseen: listed !== null && !entry && isSkipped && !facts.settling,
      },
    ];
  });
}

/** What the machine measured on itself, for a known event, and the host that it is on. */
function touch(memory: EventMemory, booking: Booking | undefined, { facts, impact }: DecisionContext): EventMemory {
  const { previous } = facts;
  const touched = applyImpact(memory, impact.pause, booking);
  const learnsHost = touched.open && !touched.absent && touched.foundOnHost === null && previous.physicalHost !== null;
  return learnsHost ? { ...touched, foundOnHost: previous.physicalHost } : touched;
}

function decideListed(
  known: EventMemory | undefined,
  event: ScheduledEvent,
  booking: Booking | undefined,
  context: DecisionContext,
): Outcome {
  const { facts, circumstances, scope } = context;
  const { vmName, vmId } = circumstances.observer;
  const memory = known && !isForgotten(known, facts.moment) ? known : undefined;
  const now = merge(memory?.last, event);
  const affectsUs = affects(now.resources, vmName);
  const chosen = memory ? memory.inScope : isSampled(scope, vmId, event.eventId);
  const inScope = chosen || affectsUs;
  if (memory && memory.inScope === inScope && isUnchanged(memory, { now, affectsUs })) return { memory };
  // A known event was out of sight since it was last listed, a new one since the last document that could have shown it.
  const gap = memory?.open
    ? isGap(memory.listedIn ?? facts.previous, facts.moment, context.gapAfterMs)
    : facts.gap || facts.wasHidden || facts.settling || facts.mayHaveMoved;
  const listing: Listing = { now, memory, affectsUs, gap };
  if (!inScope && saysEnded(listing)) return { memory: undefined };
  const step = inScope ? stepTaken(listing) : null;
  if (memory && !memory.open && !step) return { memory }; // ended, and said so once more
  const at = facts.at.toISOString();
  const { moment, host } = facts;
  const listedNow = rememberListed(listing, { at, moment, inScope, physicalHost: host.physicalHost });
  const wasInSight = memory?.open && !memory.absent;
  const remembered = wasInSight ? listedNow : stillListed(applyImpact(listedNow, null, booking));
  if (!step) return { memory: remembered };
  const startedSeconds = saysEnded(listing) ? startedFor(remembered, moment, gap) : null;
  const lastListedAt = (memory?.listedIn ?? facts.previous).moment?.azureAt ?? null;
  const departure = saysEnded(listing) ? { departure: { lastListedAt, gap } } : {};
  return describe(remembered, { ...step, ...departure, incarnation: facts.incarnation, startedSeconds }, circumstances);
}

function decideUnlisted(
  memory: EventMemory,
  document: EventsDocument | null,
  present: Events,
  context: DecisionContext,
): Outcome {
  const { facts } = context;
  if (document === null && !memory.absent) return { memory: memory.listedIn ? memory : stillListed(memory) };
  const listedIn = memory.listedIn ?? facts.previous;
  // An entry whose EventId cannot be read, and that was not there beside this event, may be this very event.
  if (facts.unreadable > listedIn.unreadable) {
    const hiddenSince = memory.hiddenSince ?? facts.moment;
    if (msBetween(hiddenSince, facts.moment) < hideMs) {
      return { memory: memory.hiddenSince ? memory : { ...memory, listedIn, hiddenSince } };
    }
  }
  if (memory.absent) return decideWaiting(memory, document, context);
  const absence = absenceFacts(memory, facts, {
    gapAfterMs: context.gapAfterMs,
    approved: context.approved.has(memory.eventId.toLowerCase()),
    superseded: isSuperseded(memory, present),
  });
  const absent = {
    since: facts.at.toISOString(),
    clockOffsetSeconds: context.circumstances.clockOffsetSeconds,
    moment: facts.moment,
    incarnation: facts.incarnation,
    facts: absence,
  };
  const missed: EventMemory = { ...memory, absent, listedIn };
  return isProvenByReboot(memory, absence) ? end(missed, context) : { memory: missed };
}

/**
 * An absent event is ended once another document lacks it too, or three polls of the same; around a reset, once five
 * minutes have passed and a valid document still lacks it.
 */
function decideWaiting(memory: EventMemory, document: EventsDocument | null, context: DecisionContext): Outcome {
  const { absent } = memory;
  if (!absent) return { memory };
  // A time that went backwards holds nothing open.
  const waitedMs = Math.abs(msBetween(absent.moment, context.facts.moment));
  const isOther = document !== null && document.incarnation !== absent.incarnation;
  const isConfirmed = absent.facts.settling ? waitedMs >= resetWindowMs : isOther || waitedMs >= confirmAfterMs;
  return isConfirmed ? end(memory, context) : { memory };
}

function end(memory: EventMemory, { facts, circumstances }: DecisionContext): Outcome {
  const { absent } = memory;
  if (!absent || !memory.inScope) return { memory: undefined };
  const step: Step = {
    ...endOf(memory, absent.facts),
    changes: [],
    incarnation: absent.incarnation,
    // While the list may be incomplete, nobody knows when it left.
    startedSeconds: startedFor(memory, absent.moment, absent.facts.gap || absent.facts.settling),
    departure: { lastListedAt: memory.listedIn?.moment?.azureAt ?? null, gap: absent.facts.gap },
  };
  const ended: EventMemory = {
    ...memory,
    open: false,
    endedAt: facts.moment.azureAt,
    scheduledSince: null,
    listedIn: null,
    hiddenSince: null,
    absent: null,
  };
  // Where only a confirmation was waited for, this VM saw it leave when it was absent first.
  if (absent.facts.settling) return describe(ended, step, circumstances);
  // Our clock may have been set since.
  const { clockOffsetSeconds } = absent;
  return describe(ended, step, { ...circumstances, at: new Date(absent.since), clockOffsetSeconds });
}

/** How long it was listed as Started, in seconds; null where its start or its leaving hides in a gap. */
function startedFor({ phase, started, startSeen, startedBeforeMs }: EventMemory, leftAt: Moment, gap: boolean) {
  if (started === null || !startSeen || gap) return null;
  return (startedBeforeMs + (phase === 'Started' ? Math.max(0, longestBetween(started, leftAt)) : 0)) / 1000;
}

/** Has another event of this VM started while this one, of this VM too, was in sight? */
const isSuperseded = (memory: EventMemory, present: Events): boolean =>
  memory.affectsUs &&
  [...present.values()].some(
    (other) =>
      other.eventId !== memory.eventId &&
      other.affectsUs &&
      other.started !== null &&
      msBetween(memory.firstSeen, other.started) > 0,
  );

const sameOr = (before: Events, after: Events): Events =>
  before.size === after.size && [...after].every(([key, memory]) => before.get(key) === memory) ? before : after;

function countAppeared(before: Events, after: Events): Decision['appeared'] {
  if (before === after) return { seen: 0, ours: 0 };
  const all = [...after];
  const isOurs = (key: string, memory: EventMemory): boolean => memory.affectsUs && !before.get(key)?.affectsUs;
  return {
    seen: all.filter(([key]) => !before.has(key)).length,
    ours: all.filter(([key, memory]) => isOurs(key, memory)).length,
  };
}
