import { merge } from './content.ts';
import type { DecisionContext } from './decision-context.ts';
import { describe, type Step } from './describe.ts';
import { endOf, isProvenByReboot } from './ends.ts';
import { absenceFacts, confirmAfterMs, dueState, hideMs, isGap, resetWindowMs } from './facts.ts';
import { type Booking, bookImpact, type Candidate } from './impact.ts';
import { longestBetween, type Moment, msBetween } from './moment.ts';
import type { LifecycleRecord } from './record.ts';
import { applyImpact, isForgotten, isUnchanged, rememberListed, stillListed, toForget } from './remember.ts';
import type { ScheduledEvent } from './scheduled-event.ts';
import { affects, isSampled } from './scope.ts';
import type { EventMemory } from './state.ts';
import { hasEndStatus, type Listing, stepTaken } from './steps.ts';

type Events = ReadonlyMap<string, EventMemory>;

/** The events after an observation: the same `events` object if none changed. */
export interface Decision {
  readonly events: Events;
  /** At most one per event, in the order of their lower-case EventIds. */
  readonly records: readonly LifecycleRecord[];
  /** Number of events that are new, and of those that affect this VM from now on. */
  readonly appeared: { readonly seen: number; readonly ours: number };
  /** An event explains the outage. */
  readonly isOutageBooked: boolean;
}

/** What happened to one event: its memory, undefined to forget it, and its step to record. */
type Outcome =
  | { readonly memory: EventMemory | undefined; readonly step?: never }
  | { readonly memory: EventMemory; readonly step: Step };

/** Decides what every event did in one observation. */
export function decide(before: Events, context: DecisionContext): Decision {
  const { document } = context;
  const listed = new Map((document?.events ?? []).map((event) => [event.eventId.toLowerCase(), event]));
  const bookings = bookImpact(candidates(before, document && listed, context), context.impact);
  const touched = new Map([...before].map(([key, memory]) => [key, touch(memory, bookings.get(key), context)]));
  const events = new Map(touched);
  const steps = new Map<string, Extract<Outcome, { step: Step }>>();
  const put = (key: string, outcome: Outcome): void => {
    if (outcome.memory) events.set(key, outcome.memory);
    else events.delete(key);
    if (outcome.step) steps.set(key, outcome);
  };
  for (const [key, event] of listed) put(key, decideListed(touched.get(key), event, bookings.get(key), context));
  const present: Events = new Map(events);
  for (const [key, memory] of touched) {
    if (memory.open && !listed.has(key)) put(key, decideUnlisted(memory, present, context));
  }
  const records = [...steps].sort(byKey).map(([key, { memory, step }], n) => {
    const described = describe(memory, step, context, context.position + 1 + n);
    events.set(key, described.memory);
    return described.record;
  });
  if (records.length > 0) for (const key of toForget(events, listed, context.moment)) events.delete(key);
  const isOutageBooked = [...bookings.values()].some(({ outageSeconds }) => outageSeconds !== null);
  return { events: sameOr(before, events), records, appeared: countAppeared(before, events), isOutageBooked };
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** The open events of this VM, and those that this document lists first. `listed` null: the same document again. */
function candidates(
  before: Events,
  listed: ReadonlyMap<string, ScheduledEvent> | null,
  context: DecisionContext,
): Candidate[] {
  const keys = new Set([...before.keys(), ...(listed?.keys() ?? [])]);
  return [...keys].flatMap((key): Candidate[] => {
    const memory = before.get(key);
    const entry = listed?.get(key);
    const known = memory?.open && !memory.absent ? memory : undefined;
    const now = entry ? merge(known?.last, entry) : known?.last;
    if (!now || !(known?.affectsUs || affects(now.resources, context.observer.vmName))) return [];
    const grownBy = context.incarnation - ((known?.listedIn ?? context.previous).incarnation ?? 0);
    const isSkipped = grownBy < 0 || grownBy > context.incarnationStep;
    return [
      {
        key,
        eventType: now.eventType,
        started: known?.phase === 'Started' || now.eventStatus === 'Started',
        due: dueState(now.notBefore, context.azureTime) === 'passed' || context.approved.has(key),
        listed: listed === null || entry !== undefined,
        isNew: memory === undefined || memory.absent !== null,
        // A list that may be incomplete proves no departure.
        leftUnseen: listed !== null && !entry && isSkipped && !context.settling,
      },
    ];
  });
}

/** Adds to a known event what the machine measured, and the host that it is on. */
function touch(memory: EventMemory, booking: Booking | undefined, { previous, impact }: DecisionContext): EventMemory {
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
  const { scope, moment } = context;
  const { vmName, vmId } = context.observer;
  const memory = known && !isForgotten(known, context.moment) ? known : undefined;
  const now = merge(memory?.last, event);
  const affectsUs = affects(now.resources, vmName);
  const chosen = memory ? memory.inScope : isSampled(scope, vmId, event.eventId);
  const inScope = chosen || affectsUs;
  if (memory && memory.inScope === inScope && isUnchanged(memory, { now, affectsUs })) return { memory };
  // The gap of a known event counts from its last listing, that of a new one from the last document that could have listed it.
  const gap = memory?.open
    ? isGap(memory.listedIn ?? context.previous, context.moment, context.gapAfterMs)
    : context.gap || context.wasHidden || context.settling || context.mayHaveMoved;
  const listing: Listing = { now, memory, affectsUs, gap };
  if (!inScope && hasEndStatus(listing)) return { memory: undefined };
  const step = inScope ? stepTaken(listing) : null;
  if (memory && !memory.open && !step) return { memory }; // has ended, and is listed as ended again
  const listedNow = rememberListed(listing, inScope, context);
  const wasListed = memory?.open && !memory.absent;
  const remembered = wasListed ? listedNow : stillListed(applyImpact(listedNow, null, booking));
  if (!step) return { memory: remembered };
  const startedSeconds = hasEndStatus(listing) ? startedFor(remembered, moment, gap) : null;
  const lastListedAt = (memory?.listedIn ?? context.previous).moment?.azureAt ?? null;
  const departure = hasEndStatus(listing) ? { departure: { lastListedAt, gap } } : {};
  return { memory: remembered, step: { ...step, ...departure, incarnation: context.incarnation, startedSeconds } };
}

function decideUnlisted(memory: EventMemory, present: Events, context: DecisionContext): Outcome {
  const { document } = context;
  if (document === null && !memory.absent) return { memory: memory.listedIn ? memory : stillListed(memory) };
  const listedIn = memory.listedIn ?? context.previous;
  // An entry without a readable EventId that was not listed beside this event may be this event.
  if (context.unreadable > listedIn.unreadable) {
    const hiddenSince = memory.hiddenSince ?? context.moment;
    if (msBetween(hiddenSince, context.moment) < hideMs) {
      return { memory: memory.hiddenSince ? memory : { ...memory, listedIn, hiddenSince } };
    }
  }
  if (memory.absent) return decideWaiting(memory, context);
  const facts = absenceFacts(memory, context, isSuperseded(memory, present));
  const { at: since, clockOffsetSeconds, moment, incarnation } = context;
  const absent = { since, clockOffsetSeconds, moment, incarnation, facts };
  const missed: EventMemory = { ...memory, absent, listedIn };
  return isProvenByReboot(memory, facts) ? end(missed, moment) : { memory: missed };
}

/**
 * An absent event is ended once it is absent from another document too, or from three polls of the same; around a reset, once five
 * minutes have passed and it is absent from a valid document.
 */
function decideWaiting(memory: EventMemory, { document, moment }: DecisionContext): Outcome {
  const { absent } = memory;
  if (!absent) return { memory };
  // A clock that went backwards must not keep an event open.
  const waitedMs = Math.abs(msBetween(absent.moment, moment));
  const isOther = document !== null && document.incarnation !== absent.incarnation;
  const isConfirmed = absent.facts.settling ? waitedMs >= resetWindowMs : isOther || waitedMs >= confirmAfterMs;
  return isConfirmed ? end(memory, moment) : { memory };
}

/** Ends an absent event at `moment`. */
function end(memory: EventMemory, moment: Moment): Outcome {
  const { absent } = memory;
  if (!absent || !memory.inScope) return { memory: undefined };
  const step: Step = {
    ...endOf(memory, absent.facts),
    changes: [],
    incarnation: absent.incarnation,
    // While the list may be incomplete, the time of its departure is not known.
    startedSeconds: startedFor(memory, absent.moment, absent.facts.gap || absent.facts.settling),
    departure: { lastListedAt: memory.listedIn?.moment?.azureAt ?? null, gap: absent.facts.gap },
  };
  const ended: EventMemory = {
    ...memory,
    open: false,
    endedAt: moment.azureAt,
    scheduledSince: null,
    listedIn: null,
    hiddenSince: null,
    absent: null,
  };
  // The end was observed when the event was first absent; only around a reset is it not known before it is decided.
  const { since: at, clockOffsetSeconds } = absent;
  return { memory: ended, step: absent.facts.settling ? step : { ...step, observed: { at, clockOffsetSeconds } } };
}

/** How long it was listed as Started, in seconds; null when polls were missed at its start or end. */
function startedFor({ phase, started, startSeen, startedBeforeMs }: EventMemory, leftAt: Moment, gap: boolean) {
  if (started === null || !startSeen || gap) return null;
  const startedMs = startedBeforeMs + (phase === 'Started' ? Math.max(0, longestBetween(started, leftAt)) : 0);
  return Math.round(startedMs) / 1000;
}

/** Whether another event of this VM started while this one, also of this VM, was listed. */
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
