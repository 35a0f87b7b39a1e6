import type { Entry, PlatformEvent, Vm, World } from './world.ts';
import { contains, entryAt, epochMs, names, statusIs } from './world.ts';

/** What the endpoint of one VM serves from a time on. */
export interface View {
  readonly atMs: number;
  readonly incarnation: number;
  /** By event id. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly hasUnreadable: boolean;
  /** The list is empty or incomplete because the endpoint has just restarted. */
  readonly isEmptyAfterReset: boolean;
  readonly body: string;
}

/** Every document that the endpoint of this VM ever serves, in order. */
export function viewsOf(world: World, vm: Vm): readonly View[] {
  const { endpoint } = vm;
  const times = new Set<number>([0]);
  for (const { listings } of world.events) for (const { atMs } of listings) times.add(atMs);
  for (const { atMs, emptyMs } of endpoint.resets) times.add(atMs).add(atMs + emptyMs);
  for (const { fromMs, toMs } of [...endpoint.mistakes, ...endpoint.unreadable]) times.add(fromMs).add(toMs);
  const views: View[] = [];
  let incarnation = endpoint.firstIncarnation;
  for (const atMs of [...times].sort((a, b) => a - b)) {
    const last = views.at(-1);
    const isEmptyAfterReset = endpoint.resets.some((reset) =>
      contains({ fromMs: reset.atMs, toMs: reset.atMs + reset.emptyMs }, atMs),
    );
    const hasUnreadable = endpoint.unreadable.some((span) => contains(span, atMs));
    const entries = isEmptyAfterReset ? new Map<string, Entry>() : listedAt(world, vm, atMs);
    const list = wireList(entries, hasUnreadable, endpoint.apiVersion);
    const reset = endpoint.resets.find((candidate) => candidate.atMs === atMs);
    if (reset) incarnation = reset.incarnation;
    else if (last && listOf(last) !== list) incarnation += endpoint.stride;
    if (last && listOf(last) === list && last.incarnation === incarnation) continue;
    const body = `{"DocumentIncarnation":${incarnation},"Events":${list}}`;
    views.push({ atMs, incarnation, entries, hasUnreadable, isEmptyAfterReset, body });
  }
  return views;
}

const listOf = ({ body }: View): string => body.slice(body.indexOf('"Events":') + 9, -1);

/** Types are listed from these versions on: https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events */
const sinceVersion: Readonly<Record<string, string>> = { Preempt: '2017-11-01', Terminate: '2019-01-01' };

function listedAt(world: World, vm: Vm, atMs: number): Map<string, Entry> {
  const isMissing = ({ id }: PlatformEvent): boolean =>
    vm.endpoint.mistakes.some((mistake) => mistake.eventId === id && contains(mistake, atMs));
  const listed = new Map<string, Entry>();
  for (const event of world.events) {
    const entry = entryAt(event, atMs);
    if (entry === null || isMissing(event)) continue;
    if (world.view === 'alone' && !names(entry.resources, vm.name)) continue;
    if (vm.endpoint.apiVersion < (sinceVersion[entry.type] ?? '')) continue;
    listed.set(event.id, entry);
  }
  return listed;
}

/** The order of the names means nothing, and differs. */
function inSomeOrder(resources: readonly string[], apiVersion: string): readonly string[] {
  if (apiVersion === '2017-03-01') return resources.map((name) => `_${name}`);
  return apiVersion < '2020-07-01' ? resources.toReversed() : resources;
}

function wireList(entries: ReadonlyMap<string, Entry>, hasUnreadable: boolean, apiVersion: string): string {
  const list: unknown[] = [...entries].map(([id, entry]) => ({
    EventId: id,
    EventStatus: entry.status,
    EventType: entry.type,
    ResourceType: 'VirtualMachine',
    Resources: inSomeOrder(entry.resources, apiVersion),
    NotBefore:
      entry.notBeforeMs === null || statusIs(entry, 'Started')
        ? ''
        : new Date(epochMs + entry.notBeforeMs).toUTCString(),
    ...(apiVersion >= '2019-04-01' ? { Description: `${entry.type} of the model` } : {}),
    ...(apiVersion >= '2019-08-01' ? { EventSource: entry.source } : {}),
    ...(apiVersion >= '2020-07-01' ? { DurationInSeconds: entry.durationSeconds } : {}),
  }));
  if (hasUnreadable) list.push({ EventStatus: 'Scheduled', EventType: 'Freeze' });
  return JSON.stringify(list);
}

/** Answers which view is served at a time; times must not go back. */
export function viewCursor(views: readonly View[]): (atMs: number) => number {
  let index = 0;
  return (atMs) => {
    while (index > 0 && (views[index] as View).atMs > atMs) index -= 1;
    while (index + 1 < views.length && (views[index + 1] as View).atMs <= atMs) index += 1;
    return index;
  };
}
