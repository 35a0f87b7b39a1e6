import {
  azureTime,
  type EventState,
  type FleetView,
  type LifecycleRecord,
  type StreamState,
} from '../consumer/index.ts';
import type { Choices, FleetAnswer, SwimlaneEvent, SwimlaneRow, Trace } from './answers.ts';
import { capacityOf } from './capacity.ts';
import { factsOf, type Lane, lanesOf, overAt, silentSince, type VmFacts, workOf } from './lane.ts';
import { notesOf } from './notes.ts';
import { calendarOf, openEvents, pastEvents, placeOf, tilesOf } from './open-events.ts';
import { type Query, windowOf } from './query.ts';
import { traceOf } from './trace.ts';

const shown = { open: 200, past: 100, rows: 1000, lanes: 16_000 } as const;

/** What the page shows of a fleet. Only events that changed are folded again. */
export class FleetModel {
  readonly #fleet: FleetView;
  readonly #lanesOf = new WeakMap<EventState, readonly Lane[]>();
  #known: Known | null = null;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  /** To be called when records were added to the fleet, or forgotten. */
  changed(): void {
    this.#known = null;
  }

  view(query: Query, now: number): FleetAnswer {
    this.#known ??= this.#learn();
    const { lanes, vms, choices, lastRecordAt, firstRecordAt } = this.#known;
    const span = windowOf(query, now);
    const chosen = lanes.filter((lane) => isChosen(lane, query));
    const inWindow = chosen.filter((lane) => isWithin(lane, span, now));
    const rows = rowsOf(inWindow, now);
    return {
      now,
      lastRecordAt,
      firstRecordAt,
      knownVms: vms.length,
      isFiltered: [query.type, query.set, query.tag, query.vm].some((filter) => filter !== ''),
      choices,
      tiles: tilesOf(chosen, now),
      open: openEvents(chosen, now, shown.open),
      calendar: calendarOf(chosen, now),
      swimlanes: { ...span, rows: upTo(shown.lanes, rows.slice(0, shown.rows)), totalVms: rows.length },
      capacity: capacityOf(inWindow, { vms, span, now }),
      past: pastEvents(inWindow, now, shown.past),
    };
  }

  /** Null: no such event is known. */
  trace(eventId: string, now: number): Trace | null {
    const event = this.#fleet.event(eventId);
    return event === undefined ? null : traceOf(event, now);
  }

  /** What is missing from what was read: one sentence for each kind. */
  notes(now: number): readonly string[] {
    this.#known ??= this.#learn();
    return notesOf(this.#known.streams, now);
  }

  #learn(): Known {
    const events = this.#fleet.events();
    const folded = events.flatMap((event) => {
      const lanes = this.#lanesOf.get(event) ?? lanesOf(event);
      this.#lanesOf.set(event, lanes);
      return lanes;
    });
    const facts = new Map(folded.map(({ vm }) => [vm.key, vm]));
    const reportedAt = new Map<string, number>();
    for (const { vm, last } of events.flatMap(({ views }) => views)) {
      const at = azureTime(last);
      if (at < (reportedAt.get(vm.key) ?? 0)) continue;
      reportedAt.set(vm.key, at);
      facts.set(vm.key, factsOf(vm, last));
    }
    const streams = this.#fleet.streams();
    for (const { vm } of streams) if (!facts.has(vm.key)) facts.set(vm.key, factsOf(vm, null));
    // A VM that an event names without a report of its own may have reported another event.
    const lanes = folded.map((lane) => ({ ...lane, vm: facts.get(lane.vm.key) ?? lane.vm }));
    return {
      lanes,
      vms: [...facts.values()],
      choices: choicesOf(lanes),
      streams,
      lastRecordAt: streams.at(-1)?.lastAt.getTime() ?? null,
      firstRecordAt: earliest(events.flatMap(({ steps, views }) => [...steps, ...views.map(({ last }) => last)])),
    };
  }
}

interface Known {
  readonly lanes: readonly Lane[];
  readonly vms: readonly VmFacts[];
  readonly choices: Choices;
  readonly streams: readonly StreamState[];
  readonly lastRecordAt: number | null;
  readonly firstRecordAt: number | null;
}

function earliest(records: readonly LifecycleRecord[]): number | null {
  let first = Number.POSITIVE_INFINITY;
  for (const record of records) first = Math.min(first, azureTime(record));
  return first === Number.POSITIVE_INFINITY ? null : first;
}

const { compare: byName } = new Intl.Collator('en', { numeric: true });
const setOf = ({ resourceGroup, set }: VmFacts): string => (set === null ? '' : `${resourceGroup ?? ''}/${set}`);
const tagsOf = ({ tags }: VmFacts): string[] => Object.entries(tags).map(([name, value]) => `${name}:${value}`);
const typeOf = ({ event }: Lane): string => (event.latest ?? event.end)?.eventType ?? 'unknown';

function choicesOf(lanes: readonly Lane[]): Choices {
  const sorted = (values: Iterable<string>): string[] =>
    [...new Set(values)].filter((value) => value !== '').sort(byName);
  const vms = new Set(lanes.map(({ vm }) => vm));
  return {
    types: sorted(lanes.map(typeOf)),
    sets: sorted([...vms].map(setOf)),
    tags: sorted([...vms].flatMap(tagsOf)),
  };
}

function isChosen(lane: Lane, { type, set, tag, vm }: Query): boolean {
  return (
    (type === '' || typeOf(lane) === type) &&
    (set === '' || setOf(lane.vm).toLowerCase() === set.toLowerCase()) &&
    (vm === '' || lane.vm.name.toLowerCase().includes(vm.toLowerCase())) &&
    (tag === '' || tagsOf(lane.vm).includes(tag))
  );
}

function isWithin(lane: Lane, { from, to }: { readonly from: number; readonly to: number }, now: number): boolean {
  const begin = lane.announcedAt ?? lane.startedAt ?? lane.notBefore ?? lane.endedAt ?? now;
  return begin < to && (overAt(lane, now) ?? silentSince(lane, now) ?? Math.max(now, lane.notBefore ?? now)) >= from;
}

/** Within this time, VMs begin together. */
const beginMs = 300_000;

/** By scale set, zone and fault domain, so that a wave is a flight of stairs; then by when it begins. */
function rowsOf(lanes: readonly Lane[], now: number): readonly SwimlaneRow[] {
  const rows = [...Map.groupBy(lanes, ({ vm }) => vm.key).values()].map((all) => ({
    all,
    vm: (all[0] as Lane).vm,
    begin: Math.min(...all.map((lane) => workOf(lane, now)?.from ?? lane.notBefore ?? now)),
  }));
  rows.sort(
    (a, b) =>
      Number(a.vm.set === null) - Number(b.vm.set === null) ||
      byName(setOf(a.vm), setOf(b.vm)) ||
      byName(placeOf(a.vm), placeOf(b.vm)) ||
      Math.round(a.begin / beginMs) - Math.round(b.begin / beginMs) ||
      byName(a.vm.name, b.vm.name),
  );
  return rows.map(({ all, vm }) => ({
    name: vm.name,
    set: setOf(vm) || null,
    place: placeOf(vm),
    lanes: all.map((lane) => swimlaneEvent(lane, now)).sort((a, b) => (a.announcedAt ?? 0) - (b.announcedAt ?? 0)),
  }));
}

function swimlaneEvent(lane: Lane, now: number): SwimlaneEvent {
  const { announcedAt, notBefore, startedAt, isStartSeen, outcome, down, pausedMs, isAmbiguous, isOwn } = lane;
  return {
    eventId: lane.event.eventId,
    eventType: typeOf(lane),
    announcedAt,
    notBefore,
    startedAt,
    isStartSeen,
    overAt: overAt(lane, now),
    silentSince: silentSince(lane, now),
    outcome,
    down: down && [down.from, down.until],
    pausedMs,
    isAmbiguous,
    isOwn,
  };
}

/** Whole rows, as long as they hold no more lanes. */
function upTo(most: number, rows: readonly SwimlaneRow[]): readonly SwimlaneRow[] {
  let lanes = 0;
  const end = rows.findIndex((row) => {
    lanes += row.lanes.length;
    return lanes > most;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
