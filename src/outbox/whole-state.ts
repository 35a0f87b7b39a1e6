import type { Moment } from '../lifecycle/moment.ts';
import type { ScheduledEvent } from '../lifecycle/scheduled-event.ts';
import type { Absence, EventMemory, LifecycleState, Sighting, Unbooked } from '../lifecycle/state.ts';

/**
 * Whether what was read is what was written. SQLite has no checksums: a byte that went bad may leave JSON that is JSON,
 * with a key that nobody knows or a value of another type, and the lifecycle would end in a mistake at every document.
 */

type Check = (value: unknown) => boolean;
/** One per field, so that none is forgotten. */
type Checks<T> = { readonly [field in keyof Required<T>]: Check };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag: Check = (value) => typeof value === 'boolean';
const isTime: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const isList: Check = (value) => Array.isArray(value) && value.every(isText);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const holds =
  <T>(checks: Checks<T>) =>
  (value: unknown): value is T =>
    isObject(value) && Object.entries<Check>(checks).every(([field, check]) => check(value[field]));

const isWholeEvent = holds<ScheduledEvent>({
  eventId: isText,
  eventStatus: orNull(isText),
  eventType: orNull(isText),
  resourceType: orNull(isText),
  resources: orNull(isList),
  notBefore: orNull(isTime),
  description: orNull(isText),
  eventSource: orNull(isText),
  durationSeconds: orNull(isNumber),
  raw: isObject,
});

const isWholeMoment = holds<Moment>({
  azureAt: isTime,
  monotonicMs: orNull(isNumber),
  bootId: orNull(isText),
});

const isWholeSighting = holds<Sighting>({
  at: orNull(isTime),
  moment: orNull(isWholeMoment),
  unreadable: isCount,
  incarnation: orNull(isNumber),
  bootId: orNull(isText),
  physicalHost: orNull(isText),
});

const isWholeAbsence = holds<Absence>({
  since: isTime,
  clockOffsetSeconds: orNull(isNumber),
  moment: isWholeMoment,
  incarnation: isNumber,
  facts: holds<Absence['facts']>({
    bootChanged: isFlag,
    bootKnownSame: isFlag,
    hostChanged: isFlag,
    paused: isFlag,
    reset: isFlag,
    exactlyOneMore: isFlag,
    gap: isFlag,
    notBefore: isText,
    approved: isFlag,
    superseded: isFlag,
    rebooted: isFlag,
    ambiguous: isFlag,
    unreadable: isFlag,
    settling: isFlag,
  }),
});

const isWholeShape = holds<EventMemory>({
  eventId: isText,
  last: isWholeEvent,
  phase: (value) => value === 'Scheduled' || value === 'Started',
  open: isFlag,
  inScope: isFlag,
  affectsUs: isFlag,
  firstSeenAt: isTime,
  firstSeen: isWholeMoment,
  scheduledSince: orNull(isTime),
  presentAtFirstLook: isFlag,
  startedAt: orNull(isTime),
  startSeen: isFlag,
  started: orNull(isWholeMoment),
  startedBeforeMs: isNumber,
  impactAt: orNull(isTime),
  endedAt: orNull(isTime),
  sequence: isCount,
  recorded: (value) => isObject(value) && Object.values(value).every(isCount),
  recordedFloor: isCount,
  pauseMs: orNull(isNumber),
  pauseTotalMs: orNull(isNumber),
  pauseSinceListedMs: isNumber,
  movedSinceListed: isFlag,
  bootedSinceListed: isFlag,
  ambiguous: isFlag,
  outageSeconds: orNull(isNumber),
  foundOnHost: orNull(isText),
  listedIn: orNull(isWholeSighting),
  hiddenSince: orNull(isWholeMoment),
  absent: orNull(isWholeAbsence),
});

/** What is remembered of the event that is stored under this key. */
export const isWholeMemory = (value: unknown, eventKey: string): value is EventMemory =>
  isWholeShape(value) && value.eventId.toLowerCase() === eventKey;

/** All of the state that is a row of its own. */
export const isWholeLifecycle = holds<Omit<LifecycleState, 'events' | 'undecided' | 'approved'>>({
  streamId: isText,
  position: isCount,
  lastDocumentAt: orNull(isTime),
  lastDocument: orNull(isWholeMoment),
  incarnation: orNull(isNumber),
  incarnationStep: orNull(isNumber),
  bootId: orNull(isText),
  physicalHost: orNull(isText),
  clockOffsetSeconds: orNull(isNumber),
  imdsApiVersion: orNull(isText),
  hidden: isFlag,
  unreadable: isCount,
  resetAt: orNull(isTime),
  reset: orNull(isWholeMoment),
  enabled: orNull(isWholeMoment),
  elsewhere: orNull(isWholeMoment),
  unbooked: orNull(
    holds<Unbooked>({
      tick: orNull((tick) => isObject(tick) && isNumber(tick.longestMs) && isNumber(tick.totalMs)),
      wallStepMs: isNumber,
      pausedUntil: orNull(isWholeMoment),
      booted: orNull(isWholeMoment),
      outage: orNull((outage) => isObject(outage) && isNumber(outage.seconds) && isWholeMoment(outage.over)),
    }),
  ),
  snapshotDue: isFlag,
});
