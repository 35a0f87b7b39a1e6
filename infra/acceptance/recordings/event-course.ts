import type { RecordedDocument } from '../../../src/recording/format.ts';
import { formOf, sentenceForm } from './forms.ts';

/** What a recording shows of one event, without what differs from run to run. Times are in seconds since the recording began. */
export interface EventCourse {
  readonly eventId: string;
  readonly type: string;
  readonly source: string;
  readonly resourceType: string;
  /** Values of EventStatus in their order; `gone` when it is no longer listed. */
  readonly statuses: readonly string[];
  /** By status; a value that changes within one is written as `1 → 2`. */
  readonly resources: ByStatus;
  readonly hasNotBefore: ByStatus;
  readonly duration: ByStatus;
  readonly description: ByStatus;
  /** How Resources names the recorded VM. */
  readonly ownName: string;
  /** `earlier` or `later`, for each change of NotBefore. */
  readonly moves: readonly string[];
  /** Form of each field, by name; null where it only had empty values. */
  readonly fields: ReadonlyMap<string, string | null>;
  readonly firstAt: number;
  readonly startedAt: number | null;
  readonly goneAt: number | null;
  /** From the first time it was listed to its NotBefore then; null without one, and for an event that was listed when the recording began. */
  readonly noticeSeconds: number | null;
}

export type ByStatus = ReadonlyMap<string, string>;

/** One entry of a document, and when it was first seen so. */
interface Sighting {
  readonly atSeconds: number;
  /** Null: the event is not listed. */
  readonly entry: RecordedDocument['Events'][number] | null;
}

export interface Shown {
  readonly atSeconds: number;
  readonly document: RecordedDocument;
}

/** @param vm that was recorded; null if unknown. */
export function eventCourses(
  shown: readonly Shown[],
  { begunAt, vm }: { readonly begunAt: Date; readonly vm: string | null },
): readonly EventCourse[] {
  const ids = new Set(shown.flatMap(({ document }) => document.Events.map(({ EventId }) => EventId.toLowerCase())));
  const names = namesIn(shown, vm);
  const courses = [...ids].map((id) => {
    const sightings = shown.map(({ atSeconds, document }) => ({
      atSeconds,
      entry: document.Events.find(({ EventId }) => EventId.toLowerCase() === id) ?? null,
    }));
    const first = sightings.findIndex(({ entry }) => entry !== null);
    return courseOf(sightings.slice(first), { names, vm, begunAt, isFromTheStart: first === 0 });
  });
  return courses.sort((one, other) => one.firstAt - other.firstAt || compareText(sortKey(one), sortKey(other)));
}

interface RecordedWith {
  readonly names: readonly string[];
  readonly vm: string | null;
  readonly begunAt: Date;
  readonly isFromTheStart: boolean;
}

function courseOf(sightings: readonly Sighting[], { names, vm, begunAt, isFromTheStart }: RecordedWith): EventCourse {
  const entries = sightings.flatMap(({ entry }) => entry ?? []);
  const [first = { EventId: '' }] = entries;
  const at = (isWanted: (entry: Sighting['entry']) => boolean): number | null =>
    sightings.find(({ entry }) => isWanted(entry))?.atSeconds ?? null;
  const byStatus = (write: (entry: RecordedDocument['Events'][number]) => string): ByStatus => {
    const statuses = [...new Set(entries.map(statusOf))];
    return new Map(
      statuses.map((status) => [status, chain(entries.filter((entry) => statusOf(entry) === status).map(write))]),
    );
  };
  const notBefore = Date.parse(String(first.NotBefore ?? ''));
  const firstAt = sightings[0]?.atSeconds ?? 0;
  const noticeSeconds = (notBefore - begunAt.getTime()) / 1000 - firstAt;
  return {
    eventId: first.EventId,
    type: chain(entries.map(({ EventType }) => text(EventType))),
    source: chain(entries.map(({ EventSource }) => text(EventSource))),
    resourceType: chain(entries.map(({ ResourceType }) => text(ResourceType))),
    statuses: unrepeated(sightings.map(({ entry }) => (entry === null ? 'gone' : statusOf(entry)))),
    resources: byStatus(({ Resources }) => (Array.isArray(Resources) ? String(Resources.length) : 'no list')),
    hasNotBefore: byStatus(({ NotBefore }) => (Number.isNaN(Date.parse(String(NotBefore ?? ''))) ? 'no' : 'yes')),
    duration: byStatus(({ DurationInSeconds }) => text(DurationInSeconds)),
    description: byStatus(({ Description }) =>
      typeof Description === 'string' ? `"${sentenceForm(Description, names)}"` : text(Description),
    ),
    ownName: ownNameIn(entries, vm),
    moves: movesOf(entries),
    fields: fieldsOf(entries),
    firstAt,
    startedAt: at((entry) => entry?.EventStatus === 'Started'),
    goneAt: sightings.at(-1)?.entry === null ? lastGone(sightings) : null,
    noticeSeconds: Number.isNaN(noticeSeconds) || isFromTheStart ? null : noticeSeconds,
  };
}

const statusOf = ({ EventStatus }: RecordedDocument['Events'][number]): string => text(EventStatus);

/** A word or number of the document; what is not there, or is of another type, as words of ours. */
function text(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === '') return 'empty';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : (formOf(value) ?? 'an empty list');
}

const unrepeated = (values: readonly string[]): readonly string[] =>
  values.filter((value, index) => index === 0 || value !== values[index - 1]);

export const chain = (values: readonly string[]): string => unrepeated(values).join(' → ');

/** When it left the list for the last time. */
function lastGone(sightings: readonly Sighting[]): number | null {
  const last = sightings.findLastIndex(({ entry }) => entry !== null);
  return sightings[last + 1]?.atSeconds ?? null;
}

function movesOf(entries: readonly RecordedDocument['Events'][number][]): readonly string[] {
  const times = entries
    .map(({ NotBefore }) => Date.parse(String(NotBefore ?? '')))
    .filter((time) => !Number.isNaN(time));
  return times.flatMap((time, index) => {
    const before = times[index - 1] ?? time;
    return time === before ? [] : [time < before ? 'earlier' : 'later'];
  });
}

function fieldsOf(entries: readonly RecordedDocument['Events'][number][]): ReadonlyMap<string, string | null> {
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry)))].sort();
  return new Map(
    names.map((name) => {
      const forms = entries.flatMap((entry) => (name in entry ? (formOf(entry[name]) ?? []) : []));
      return [name, forms.length === 0 ? null : [...new Set(forms)].sort().join(' or ')];
    }),
  );
}

function ownNameIn(entries: readonly RecordedDocument['Events'][number][], vm: string | null): string {
  if (vm === null) return 'unknown';
  const all = entries.flatMap(({ Resources }) => (Array.isArray(Resources) ? Resources.map(String) : []));
  if (all.includes(vm)) return 'as compute.name';
  if (all.some((name) => name.toLowerCase() === vm.toLowerCase())) return 'as compute.name, in other letter case';
  return all.some((name) => name.replace(/^_+/, '').toLowerCase() === vm.toLowerCase())
    ? 'as compute.name, with _ in front'
    : 'not';
}

function namesIn(shown: readonly Shown[], vm: string | null): readonly string[] {
  const resources = shown.flatMap(({ document }) =>
    document.Events.flatMap(({ Resources }) => (Array.isArray(Resources) ? Resources.map(String) : [])),
  );
  const names = [...resources, ...(vm === null ? [] : [vm])].flatMap((name) => [name, name.replace(/^_+/, '')]);
  return [...new Set(names)].filter((name) => name !== '');
}

/** Of events that appear in the same document, the order of the list means nothing. */
const sortKey = ({ type, source, statuses, resources, duration }: EventCourse): string =>
  JSON.stringify([type, source, statuses, [...resources], [...duration]]);

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
