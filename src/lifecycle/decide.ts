import { merge } from './content.ts';
import { type Circumstances, describe, type StepToDescribe, secondsBetween, type Unplaced } from './describe.ts';
import { endOf, isProvenByReboot } from './ends.ts';
import { absenceFacts, type DocumentFacts, hasBooted, isGap, resetWindowMs } from './facts.ts';
import type { Pause } from './pause.ts';
import { isForgotten, isUnchanged, rememberListed, suffer, toForget } from './remember.ts';
import type { ScheduledEvent, SeenDocument } from './scheduled-event.ts';
import { affects, bearsWitness, type Scope } from './scope.ts';
import type { EventMemory } from './state.ts';
import { type Listing, saysEnded, stepTaken } from './steps.ts';

type Events = ReadonlyMap<string, EventMemory>;

/** Everything one document is decided with. */
export interface Bench {
  readonly facts: DocumentFacts;
  readonly circumstances: Circumstances;
  readonly pause: Pause | null;
  readonly scope: Scope;
  readonly gapAfterMs: number;
  readonly approved: ReadonlySet<string>;
}

/** What a document made of the events: the same `events` object when it changed none. */
export interface Decision {
  readonly events: Events;
  /** One per event at most, in the order of their lower-case EventIds. */
  readonly records: readonly Unplaced[];
  /** Events never seen before, and those of them (or joined later) that affect this VM. */
  readonly appeared: { readonly seen: number; readonly ours: number };
}

/** What became of one event: its memory (undefined: forget it) and the record of its step. */
interface Outcome {
  readonly memory: EventMemory | undefined;
  readonly record?: Unplaced;
}

/** Decides a document; `null` = the one before again (304). */
export function decide(before: Events, document: SeenDocument | null, bench: Bench): Decision {
  const suffered = new Map([...before].map(([key, memory]) => [key, feel(memory, bench)]));
  const listed = new Map((document?.events ?? []).map((event) => [event.eventId.toLowerCase(), event]));
  const events = new Map(suffered);
  const records: Unplaced[] = [];
  const put = (key: string, { memory, record }: Outcome): void => {
    if (memory) events.set(key, memory);
    else events.delete(key);
    if (record) records.push(record);
  };
  for (const [key, event] of listed) put(key, decideListed(suffered.get(key), event, bench));
  const present: Events = new Map(events);
  for (const [key, memory] of suffered) {
    if (memory.open && !listed.has(key)) put(key, decideUnlisted(memory, document, present, bench));
  }
  if (records.length > 0) for (const key of toForget(events, listed, bench.facts.at)) events.delete(key);
  records.sort((a, b) => (a.eventId.toLowerCase() < b.eventId.toLowerCase() ? -1 : 1));
  return { events: sameOr(before, events), records, appeared: countAppeared(before, events) };
}

/** What the machine measured on itself, for every open event: pauses, after a reboot the outage, and the host it is on. */
function feel(memory: EventMemory, { facts, pause }: Bench): EventMemory {
  const { previous, at } = facts;
  const outage = hasBooted(facts) && memory.affectsUs && previous.at !== null;
  const felt = suffer(memory, pause, outage ? Math.max(0, secondsBetween(previous.at, at.toISOString())) : null);
  const learnsHost = felt.open && !felt.absent && felt.foundOnHost === null && previous.physicalHost !== null;
  return learnsHost ? { ...felt, foundOnHost: previous.physicalHost } : felt;
}

function decideListed(known: EventMemory | undefined, event: ScheduledEvent, bench: Bench): Outcome {
  const { facts, circumstances, scope } = bench;
  const { vmName, vmId } = circumstances.observer;
  const memory = known && !isForgotten(known, facts.at) ? known : undefined;
  const now = merge(memory?.last, event);
  const affectsUs = affects(now.resources, vmName);
  const chosen = memory ? memory.inScope : bearsWitness(scope, vmId, event.eventId);
  const inScope = chosen || affectsUs;
  if (memory && memory.inScope === inScope && isUnchanged(memory, { now, affectsUs })) return { memory };
  // A known event was out of sight since it was last listed, a new one since the last document that could have shown it.
  const gap = memory?.open
    ? isGap(memory.listedIn ?? facts.previous, facts.at, facts.host.bootId, bench.gapAfterMs)
    : facts.gap || facts.hidden;
  const listing: Listing = { now, memory, affectsUs, gap };
  if (!inScope && saysEnded(listing)) return { memory: undefined };
  const step = inScope ? stepTaken(listing) : null;
  if (memory && !memory.open && !step) return { memory }; // ended, and said so once more
  const at = facts.at.toISOString();
  const remembered = rememberListed(listing, { at, inScope, physicalHost: facts.host.physicalHost });
  if (!step) return { memory: remembered };
  const startedSeconds = saysEnded(listing) ? startedFor(remembered, at, gap) : null;
  return describe(remembered, { ...step, incarnation: facts.incarnation, startedSeconds }, circumstances);
}

function decideUnlisted(memory: EventMemory, document: SeenDocument | null, present: Events, bench: Bench): Outcome {
  const { facts } = bench;
  if (memory.absent) return decideWaiting(memory, document, bench);
  if (document === null) return { memory: memory.listedIn ? memory : stillListed(memory) };
  // An entry whose EventId cannot be read may be this very event.
  if (document.unreadable > 0) return { memory: { ...memory, listedIn: memory.listedIn ?? facts.previous } };
  const absence = absenceFacts(memory, facts, {
    gapAfterMs: bench.gapAfterMs,
    approved: bench.approved.has(memory.eventId.toLowerCase()),
    superseded: isSuperseded(memory, present),
  });
  const since = facts.at.toISOString();
  const absent = { since, incarnation: facts.incarnation, facts: absence };
  if (facts.reset && !isProvenByReboot(memory, absence)) {
    return { memory: { ...memory, absent, listedIn: memory.listedIn ?? facts.previous } };
  }
  return end({ ...memory, absent }, bench);
}

/** An event absent since around a reset: decided once five minutes have passed and a valid document still lacks it. */
function decideWaiting(memory: EventMemory, document: SeenDocument | null, bench: Bench): Outcome {
  const waitedMs = bench.facts.at.getTime() - Date.parse(memory.absent?.since ?? '');
  const mayBeHidden = document ? document.unreadable > 0 : bench.facts.hidden;
  if (mayBeHidden || waitedMs < resetWindowMs) return { memory };
  return end(memory, bench);
}

function end(memory: EventMemory, { facts, circumstances }: Bench): Outcome {
  const { absent } = memory;
  if (!absent || !memory.inScope) return { memory: undefined };
  const step: StepToDescribe = {
    ...endOf(memory, absent.facts),
    changes: [],
    incarnation: absent.incarnation,
    startedSeconds: startedFor(memory, absent.since, absent.facts.gap),
  };
  const ended: EventMemory = {
    ...memory,
    open: false,
    endedAt: facts.at.toISOString(),
    scheduledSince: null,
    listedIn: null,
    absent: null,
  };
  return describe(ended, step, circumstances);
}

/** How long it was listed as Started; null where its start or its leaving hides in a gap. */
const startedFor = ({ startedAt, startSeen }: EventMemory, leftAt: string, gap: boolean): number | null =>
  startedAt === null || !startSeen || gap ? null : Math.max(0, secondsBetween(startedAt, leftAt));

const stillListed = (memory: EventMemory): EventMemory =>
  memory.pauseSinceListedMs === 0 ? memory : { ...memory, pauseSinceListedMs: 0 };

/** Has another event of this VM started while this one, of this VM too, was in sight? */
const isSuperseded = (memory: EventMemory, present: Events): boolean =>
  memory.affectsUs &&
  [...present.values()].some(
    (other) =>
      other.eventId !== memory.eventId &&
      other.affectsUs &&
      other.startedAt !== null &&
      Date.parse(other.startedAt) > Date.parse(memory.firstSeenAt),
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
