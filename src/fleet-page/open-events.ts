import type {
  Calendar,
  CalendarEntry,
  EventSummary,
  Limited,
  OpenEvent,
  OpenState,
  PastEvent,
  Tile,
} from './answers.ts';
import { isOpenAt, type Lane, overAt } from './lane.ts';
import { dayOf, timeOf } from './time.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** As in the workbook: due or started for half an hour is stuck. */
export function stateOf({ startedAt, notBefore }: Pick<Lane, 'startedAt' | 'notBefore'>, now: number): OpenState {
  if (startedAt !== null) return now - startedAt > 30 * minuteMs ? 'stuck' : 'in progress';
  if (notBefore === null) return 'at any moment';
  const left = notBefore - now;
  if (left < -30 * minuteMs) return 'stuck';
  if (left < 0) return 'due';
  return left < hourMs ? 'within the hour' : 'announced';
}

const tiles: readonly (Omit<Tile, 'vms'> & { readonly states: readonly OpenState[] })[] = [
  {
    name: 'In the next hour',
    meaning: 'VMs that Azure may interrupt within the hour',
    states: ['due', 'at any moment', 'within the hour'],
    urgency: 'act',
  },
  {
    name: 'Announced',
    meaning: 'VMs with an event that has not started',
    states: ['due', 'at any moment', 'within the hour', 'announced'],
    urgency: 'watch',
  },
  {
    name: 'In progress',
    meaning: 'VMs with an event that started in the last 30 minutes',
    states: ['in progress'],
    urgency: 'watch',
  },
  { name: 'Stuck', meaning: 'VMs with an event due or started over 30 minutes ago', states: ['stuck'], urgency: 'act' },
];

export function tilesOf(lanes: readonly Lane[], now: number): readonly Tile[] {
  const open = lanes.filter((lane) => isOpenAt(lane, now)).map((lane) => ({ lane, state: stateOf(lane, now) }));
  return tiles.map(({ states, urgency, ...tile }) => {
    const vms = new Set(open.filter(({ state }) => states.includes(state)).map(({ lane }) => lane.vm.key)).size;
    return { ...tile, vms, urgency: vms > 0 ? urgency : 'fine' };
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
    sets: sorted(lanes.flatMap(({ vm }) => vm.set ?? [])),
    places: sorted(lanes.flatMap(({ vm }) => placeOf(vm) || [])),
  };
}

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

/** A row for each event that is open, by when it began or will. */
export function openEvents(lanes: readonly Lane[], now: number, most: number): Limited<OpenEvent> {
  const keys = byEvent(lanes.filter((lane) => isOpenAt(lane, now))).map((all) => ({
    all,
    startedAt: least(all.map(({ startedAt }) => startedAt)),
    notBefore: least(all.map(({ notBefore }) => notBefore)),
  }));
  keys.sort((a, b) => (a.startedAt ?? a.notBefore ?? 0) - (b.startedAt ?? b.notBefore ?? 0));
  return limited(keys, most, ({ all, ...times }) => {
    const said = all[0]?.event.latest?.durationSeconds ?? -1;
    return { ...summaryOf(all), ...times, state: stateOf(times, now), expectedSeconds: said < 0 ? null : said };
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
    startedAt: least(all.map((lane) => lane.startedAt)),
    endedAt,
    outcome: all[0]?.event.end?.phase ?? all.find(({ outcome }) => outcome !== null)?.outcome ?? null,
    downSeconds: greatest(all.map(({ down }) => down && Math.round((down.until - down.from) / 100) / 10)),
    pausedMs: greatest(all.map(({ pausedMs }) => pausedMs)),
  }));
}

const daysShown = 7;

/** Announced events by scale set, or VM, and day (UTC). */
export function calendarOf(lanes: readonly Lane[], now: number): Calendar {
  const open = lanes.filter((lane) => isOpenAt(lane, now) && lane.startedAt === null);
  const today = Math.floor(now / dayMs);
  const named = Array.from({ length: daysShown - 2 }, (_, index) => dayOf((today + index + 2) * dayMs));
  const columns = ['Due', 'Today', 'Tomorrow', ...named, 'Later'];
  const rows = [...Map.groupBy(open, ({ vm }) => vm.setKey ?? vm.key).values()].map((all) => {
    const cells = columns.map((_, column) =>
      entriesOf(
        all.filter((lane) => columnOf(lane, now) === column),
        column === columns.length - 1,
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

/** One entry for all VMs with the same type of event at that time of the day. */
function entriesOf(lanes: readonly Lane[], isDated: boolean): readonly CalendarEntry[] {
  const typeOf = ({ event }: Lane): string => event.latest?.eventType ?? 'unknown';
  const entries = [...Map.groupBy(lanes, typeOf)].map(([eventType, all]) => {
    const [first] = [...all].sort((a, b) => (a.notBefore ?? 0) - (b.notBefore ?? 0));
    const at = first?.notBefore ?? null;
    const time = at === null ? 'any moment' : `${isDated ? `${dayOf(at)} ` : ''}${timeOf(at)}`;
    const vms = new Set(all.map(({ vm }) => vm.key)).size;
    const label = `${eventType}${vms > 1 ? ` × ${vms}` : ''}`;
    return { time, label, eventType, eventId: first?.event.eventId ?? '', at: at ?? 0 };
  });
  return entries.sort((a, b) => a.at - b.at).map(({ at: _, ...entry }) => entry);
}
