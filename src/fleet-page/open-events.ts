import type { EventState } from '../consumer/index.ts';
import type {
  Calendar,
  CalendarEntry,
  EventSummary,
  Limited,
  Measured,
  OpenEvent,
  OpenState,
  PastEvent,
  Tile,
} from './answers.ts';
import { isOpenAt, type Lane, overAt, silentSince } from './lane.ts';
import { dayOf, timeOf } from './time.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * As in the tab Upcoming of the workbook: due or started for half an hour is stuck. Its tab Overview also uses heartbeats, and the hub has
 * none.
 */
export function stateOf({ startedAt, notBefore }: Pick<Lane, 'startedAt' | 'notBefore'>, now: number): OpenState {
  if (startedAt !== null) return now - startedAt > 30 * minuteMs ? 'stuck' : 'in progress';
  if (notBefore === null) return 'at any moment';
  const left = notBefore - now;
  if (left < -30 * minuteMs) return 'stuck';
  if (left < 0) return 'due';
  return left < hourMs ? 'within the hour' : 'announced';
}

interface TileRule extends Omit<Tile, 'vms'> {
  readonly isCounted: (lane: Lane, state: OpenState) => boolean;
}

const isNear = (state: OpenState): boolean => state !== 'announced' && state !== 'in progress';

/** An event that is due and has not started may begin at any moment, however long it is due. */
const tiles: readonly TileRule[] = [
  {
    name: 'In the next hour',
    meaning: 'VMs that Azure may interrupt within the hour',
    isCounted: ({ startedAt }, state) => startedAt === null && isNear(state),
    urgency: 'act',
  },
  {
    name: 'Announced',
    meaning: 'VMs with an event that has not started',
    isCounted: ({ startedAt }) => startedAt === null,
    urgency: 'watch',
  },
  {
    name: 'In progress',
    meaning: 'VMs with an event that started in the last 30 minutes',
    isCounted: (_, state) => state === 'in progress',
    urgency: 'watch',
  },
  {
    name: 'Stuck',
    meaning: 'VMs with an event due or started over 30 minutes ago',
    isCounted: (_, state) => state === 'stuck',
    urgency: 'act',
  },
];

/** Open, and still reported: of an event that no VM reports any more, nothing is known to be coming. */
const isExpectedAt = (lane: Lane, now: number): boolean => isOpenAt(lane, now) && silentSince(lane, now) === null;

export function tilesOf(lanes: readonly Lane[], now: number): readonly Tile[] {
  const open = lanes.filter((lane) => isExpectedAt(lane, now)).map((lane) => ({ lane, state: stateOf(lane, now) }));
  return tiles.map(({ isCounted, urgency, name, meaning }) => {
    const counted = open.filter(({ lane, state }) => isCounted(lane, state));
    const vms = new Set(counted.map(({ lane }) => lane.vm.key)).size;
    return { name, meaning, vms, urgency: vms > 0 ? urgency : 'fine' };
  });
}

const shownNames = 3;
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort(byName);
const { compare: byName } = new Intl.Collator('en', { numeric: true });

/** `<zone>/<fault domain>`, as the workbook writes it; `?` is not known. */
export const placeOf = ({ zone, faultDomain }: Lane['vm']): string =>
  zone === null && faultDomain === null ? '' : `${zone ?? '?'}/${faultDomain ?? '?'}`;

function summaryOf(lanes: readonly Lane[]): EventSummary {
  const event = lanes[0]?.event;
  const latest = event?.latest ?? event?.end;
  return {
    eventId: event?.eventId ?? '',
    eventType: latest?.eventType ?? 'unknown',
    eventSource: latest?.eventSource ?? 'unknown',
    vms: sorted(lanes.map(({ vm }) => vm.name)).slice(0, shownNames),
    vmCount: new Set(lanes.map(({ vm }) => vm.key)).size,
    unnamedVms: event === undefined ? 0 : unnamedVms(event),
    isTest: latest?.isTest ?? false,
    sets: sorted(lanes.flatMap(({ vm }) => vm.set ?? [])),
    places: sorted(lanes.flatMap(({ vm }) => placeOf(vm) || [])),
  };
}

/** A record names no more VMs than fit into it, and says how many there are. */
const unnamedVms = ({ affectedCount, affectedLast }: EventState): number => affectedCount - affectedLast.length;

const least = (times: readonly (number | null)[]): number | null => {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
};
const greatest = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
};

const byEvent = (lanes: readonly Lane[]): readonly Lane[][] => [
  ...Map.groupBy(lanes, ({ event }) => event.eventId).values(),
];

/** The first rows of many; only those are described. */
function limited<Key extends { readonly all: readonly Lane[] }, Row>(
  keys: readonly Key[],
  most: number,
  rowOf: (key: Key) => Row,
): Limited<Row> {
  return { rows: keys.slice(0, most).map(rowOf), total: keys.length };
}

/** The first start that is known. */
function startOf(all: readonly Lane[]): Pick<Lane, 'startedAt' | 'isStartSeen'> {
  const startedAt = least(all.map((lane) => lane.startedAt));
  return { startedAt, isStartSeen: all.some((lane) => lane.startedAt === startedAt && lane.isStartSeen) };
}

/** The greatest of what VMs measured, and whether it may belong to another event. */
function greatestMeasured(all: readonly Lane[], of: (lane: Lane) => number | null): Measured | null {
  const value = greatest(all.map(of));
  return value === null ? null : { value, isAmbiguous: all.every((lane) => of(lane) !== value || lane.isAmbiguous) };
}

/** An end is presumed for a VM that no record reports as over. */
function outcomeOf(all: readonly Lane[]): string | null {
  const reported = all[0]?.event.end?.phase;
  if (reported !== undefined) return reported;
  const isPresumed = all.some((lane) => lane.isPresumed || lane.endedAt === null);
  return isPresumed ? null : (all[0]?.outcome ?? null);
}

/** A row for each event that is open, by when it began or will; those that no VM reports any more are last. */
export function openEvents(lanes: readonly Lane[], now: number, most: number): Limited<OpenEvent> {
  const keys = byEvent(lanes.filter((lane) => isOpenAt(lane, now))).map((all) => ({
    all,
    ...startOf(all),
    notBefore: least(all.map(({ notBefore }) => notBefore)),
    silentSince: silentSince(all[0] as Lane, now),
  }));
  const isSilent = (key: { silentSince: number | null }): number => Number(key.silentSince !== null);
  keys.sort(
    (a, b) => isSilent(a) - isSilent(b) || (a.startedAt ?? a.notBefore ?? 0) - (b.startedAt ?? b.notBefore ?? 0),
  );
  return limited(keys, most, ({ all, ...times }) => {
    const said = all[0]?.event.latest?.durationSeconds ?? -1;
    return {
      ...summaryOf(all),
      ...times,
      state: times.silentSince === null ? stateOf(times, now) : 'nothing reported',
      expectedSeconds: said < 0 ? null : said,
    };
  });
}

/** A row for each event that ended, the latest first. */
export function pastEvents(lanes: readonly Lane[], now: number, most: number): Limited<PastEvent> {
  const keys = byEvent(lanes)
    .filter((all) => !all.some((lane) => isOpenAt(lane, now)))
    .map((all) => ({ all, endedAt: greatest(all.map((lane) => overAt(lane, now))) }));
  keys.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  return limited(keys, most, ({ all, endedAt }) => ({
    ...summaryOf(all),
    announcedAt: least(all.map((lane) => lane.announcedAt)),
    ...startOf(all),
    endedAt,
    outcome: outcomeOf(all),
    downSeconds: greatestMeasured(all, ({ down }) => down && Math.round((down.until - down.from) / 100) / 10),
    pausedMs: greatestMeasured(all, ({ pausedMs }) => pausedMs),
  }));
}

const daysShown = 7;

/** Announced events by scale set, or VM, and day (UTC). */
export function calendarOf(lanes: readonly Lane[], now: number): Calendar {
  const open = lanes.filter((lane) => isExpectedAt(lane, now) && lane.startedAt === null);
  const today = Math.floor(now / dayMs);
  const named = Array.from({ length: daysShown - 2 }, (_, index) => dayOf((today + index + 2) * dayMs));
  const columns = ['Due', 'Today', 'Tomorrow', ...named, 'Later'];
  const rows = [...Map.groupBy(open, ({ vm }) => vm.setKey ?? vm.key).values()].map((all) => {
    const cells = columns.map((_, column) =>
      entriesOf(
        all.filter((lane) => columnOf(lane, now) === column),
        now,
      ),
    );
    const first = Math.min(...all.map(({ notBefore }) => notBefore ?? 0));
    return { name: all[0]?.vm.set ?? all[0]?.vm.name ?? '', cells, first };
  });
  rows.sort((a, b) => a.first - b.first || byName(a.name, b.name));
  return { columns, rows: rows.map(({ name, cells }) => ({ name, cells })) };
}

function columnOf({ notBefore }: Lane, now: number): number {
  if (notBefore === null || notBefore < now) return 0;
  return 1 + Math.min(daysShown, Math.floor(notBefore / dayMs) - Math.floor(now / dayMs));
}

/** Of an event that is neither named by its column, nor of today, the date is part of the time. */
function calendarTime(at: number | null, now: number): string {
  if (at === null) return 'any moment';
  const days = Math.floor(at / dayMs) - Math.floor(now / dayMs);
  return days < 0 || days >= daysShown ? `${dayOf(at)} ${timeOf(at)}` : timeOf(at);
}

/** One entry for all VMs with the same type of event in the same minute. */
function entriesOf(lanes: readonly Lane[], now: number): readonly CalendarEntry[] {
  const typeOf = ({ event }: Lane): string => event.latest?.eventType ?? 'unknown';
  const minuteOf = ({ notBefore }: Lane): string =>
    notBefore === null ? '' : String(Math.floor(notBefore / minuteMs));
  const entries = [...Map.groupBy(lanes, (lane) => `${minuteOf(lane)} ${typeOf(lane)}`).values()].map((all) => {
    const eventType = typeOf(all[0] as Lane);
    const [first] = [...all].sort((a, b) => (a.notBefore ?? 0) - (b.notBefore ?? 0));
    const at = first?.notBefore ?? null;
    const time = calendarTime(at, now);
    const vms = new Set(all.map(({ vm }) => vm.key)).size;
    const label = `${eventType}${vms > 1 ? ` × ${vms}` : ''}`;
    return { time, label, eventType, eventId: first?.event.eventId ?? '', at: at ?? 0 };
  });
  return entries.sort((a, b) => a.at - b.at).map(({ at: _, ...entry }) => entry);
}
