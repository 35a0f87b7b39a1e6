import { oneLine } from '../http/one-line.ts';
import { readDate } from '../http/wire-date.ts';
import type { EventsDocument, PollResult, ScheduledEvent } from '../lifecycle/scheduled-event.ts';

/** The part of a {@link PollResult} that the body decides. */
export type ParsedDocument =
  | Pick<Extract<PollResult, { kind: 'document' }>, 'kind' | 'document'>
  | (Pick<Extract<PollResult, { kind: 'unavailable' }>, 'kind' | 'reason'> & { readonly code: NoDocument });

export type NoDocument =
  | 'empty-body'
  | 'truncated'
  | 'not-utf8'
  | 'not-json'
  | 'too-deep'
  | 'not-an-object'
  | 'no-events'
  | 'too-many-events'
  | 'no-incarnation';

/** Deeper nesting than this is no event: it would overflow the stack when it is serialised again. */
const deepestNesting = 50;

/** Deeper JSON than this is not parsed: a megabyte of brackets takes a hundred megabytes to parse. */
const deepestJson = 1_000;

// assumption: imds-document-size
/** A document is about the VMs of one placement group or availability set: a few hundred at most. */
const mostEvents = 1_000;

const excesses = {
  'too-deep': `The answer is nested deeper than ${deepestJson} levels`,
  'too-many-events': `The answer lists more than ${mostEvents} events`,
} as const;

// assumption: imds-fields
/**
 * The body of `GET /metadata/scheduledevents` in any of the seven published api-versions. Only a body that holds both
 * the list and its incarnation is a document: an error page that happens to be JSON must not look like "no events".
 * One entry that cannot be read does not affect its neighbours; one unreadable field does not affect its entry.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
 */
export function parseDocument(body: string, apiVersion: string, isUtf8 = true): ParsedDocument {
  if (!isUtf8) return noDocument('not-utf8', `The answer is not valid UTF-8: it begins with ${quote(body)}`);
  if (body.trim() === '') return noDocument('empty-body', 'The answer has an empty body');
  const excess = excessOf(body);
  if (excess !== null) return noDocument(excess, excesses[excess]);
  const json = parseJson(body);
  if (json.problem !== null) return noDocument(json.problem, describeNotJson(json.problem, body));
  if (!isObject(json.value)) {
    return noDocument('not-an-object', `The answer is JSON but not a document: it begins with ${quote(body)}`);
  }
  const { Events: entries, DocumentIncarnation: incarnation } = json.value;
  if (!Array.isArray(entries)) {
    return noDocument('no-events', `The answer is JSON but not a document: it has no list of Events (${quote(body)})`);
  }
  if (entries.length > mostEvents) return noDocument('too-many-events', excesses['too-many-events']);
  if (typeof incarnation !== 'number' || !Number.isInteger(incarnation)) {
    return noDocument('no-incarnation', `The answer has no whole number as DocumentIncarnation (${quote(body)})`);
  }
  const events = entries.flatMap((entry) => readEvent(entry, apiVersion) ?? []);
  const document = {
    incarnation: clampToSafe(incarnation),
    events: uniteSameIds(events),
    unreadable: entries.length - events.length,
    ...listedTwice(events),
  };
  return { kind: 'document', document };
}

/** Azure's are GUIDs. A longer one could neither be a partition key of Event Hubs nor be carried by every record. */
const longestEventId = 128;

/** Null when the entry has no EventId by which it could be known again. */
function readEvent(entry: unknown, apiVersion: string): ScheduledEvent | null {
  if (!isObject(entry)) return null;
  const eventId = readText(entry.EventId);
  // Half of a surrogate pair cannot be stored: it would be read back as another id.
  if (eventId === null || eventId.length > longestEventId || !eventId.isWellFormed()) return null;
  return {
    eventId,
    eventStatus: readText(entry.EventStatus),
    eventType: readText(entry.EventType),
    resourceType: readText(entry.ResourceType),
    resources: readNames(entry.Resources, apiVersion),
    notBefore: readDate(entry.NotBefore),
    description: readText(entry.Description),
    eventSource: readText(entry.EventSource),
    durationSeconds: Number.isSafeInteger(entry.DurationInSeconds) ? Number(entry.DurationInSeconds) : null,
    raw: isDeeperThan(deepestNesting, entry) ? withoutNesting(entry) : entry,
  };
}

const readText = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

/** A list without a single readable entry is no evidence, unlike an empty one. */
function readNames(value: unknown, apiVersion: string): string[] | null {
  if (!Array.isArray(value)) return null;
  const names = value.filter((name) => readText(name) !== null) as string[];
  if (names.length === 0 && value.length > 0) return null;
  return apiVersion === '2017-03-01' ? names.map((name) => name.replace(/^_(?=.)/, '')) : names;
}

/** Beyond 2^53 a number is not exact any more: such a counter stays usable, but no longer shows "exactly one more". */
const clampToSafe = (value: number): number =>
  Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));

/**
 * At most one entry per EventId, regardless of the order in which a document lists two: names are united, Started wins over
 * Scheduled, else the entry first in lexical order of its JSON.
 */
function uniteSameIds(events: readonly ScheduledEvent[]): ScheduledEvent[] {
  const byId = Map.groupBy(events, ({ eventId }) => eventId.toLowerCase());
  return [...byId.values()].flatMap((same) => (same.length === 1 ? same : unite(same)));
}

/** An approval of one of these is ambiguous. */
function listedTwice(events: readonly ScheduledEvent[]): Pick<EventsDocument, 'listedTwice'> {
  const keys = events.map(({ eventId }) => eventId.toLowerCase());
  const twice = new Set(keys.filter((key, n) => keys.indexOf(key) !== n));
  return twice.size === 0 ? {} : { listedTwice: [...twice] };
}

function unite(same: readonly ScheduledEvent[]): ScheduledEvent {
  const ordered = same
    .map((event) => ({ event, json: JSON.stringify(event.raw) }))
    .sort((one, other) => (one.json < other.json ? -1 : 1))
    .map(({ event }) => event);
  const first = ordered[0] as ScheduledEvent;
  const started = ordered.find(({ eventStatus }) => eventStatus === 'Started');
  const winner = first.eventStatus === 'Scheduled' ? (started ?? first) : first;
  return { ...winner, resources: uniteNames(ordered.map(({ resources }) => resources)) };
}

function uniteNames(lists: readonly (readonly string[] | null)[]): string[] | null {
  const readable = lists.filter((list) => list !== null);
  if (readable.length === 0) return null;
  const names = new Map<string, string>();
  for (const name of readable.flat()) if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  return [...names.values()];
}

type ParsedJson =
  | { readonly problem: null; readonly value: unknown }
  | { readonly problem: 'truncated' | 'not-json'; readonly value?: never };

function parseJson(body: string): ParsedJson {
  try {
    return { problem: null, value: JSON.parse(body.trim()) };
  } catch {
    return { problem: isCutOff(body) ? 'truncated' : 'not-json' };
  }
}

/** Why this text is not parsed, or null: its brackets show how much memory that would take. */
export function excessOf(body: string): 'too-deep' | 'too-many-events' | null {
  let depth = 0;
  let events = 0;
  let isInString = false;
  for (let at = 0; at < body.length; at += 1) {
    const character = body[at];
    if (isInString) {
      if (character === '\\') at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (character === '{' && depth === 3) events += 1;
      if (depth > deepestJson) return 'too-deep';
      if (events > mostEvents) return 'too-many-events';
    }
  }
  return null;
}

/** Text that begins as an object does and does not end as one. */
const isCutOff = (body: string): boolean => body.trimStart().startsWith('{') && !body.trimEnd().endsWith('}');

const describeNotJson = (problem: 'truncated' | 'not-json', body: string): string =>
  problem === 'truncated'
    ? `The JSON of the answer ends in the middle, after ${body.length} characters`
    : `The answer is not JSON: it begins with ${quote(body)}`;

const noDocument = (code: NoDocument, reason: string): ParsedDocument => ({
  kind: 'unavailable',
  code,
  reason: `${reason}; it is ignored.`,
});

/** The beginning of a body as one short line, for a message. */
export function quote(body: string): string {
  const line = oneLine(body);
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

function withoutNesting(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => !isDeeperThan(deepestNesting - 1, value)));
}
