import type { Moment } from './moment.ts';
import type { IsoTime } from './record.ts';
import type { ScheduledEvent } from './scheduled-event.ts';
import type { AbsenceFacts, EventMemory, Sighting } from './state.ts';

/**
 * The initial values of a memory, and the defaults of keys that a stored one does not have: values that claim nothing. A new key gets
 * its value here, and outboxes of every earlier version stay valid.
 */
export const emptyMemory = (eventId: string, moment: Moment): EventMemory => ({
  eventId,
  last: emptyEvent(eventId),
  phase: 'Scheduled',
  open: false,
  inScope: true,
  affectsUs: false,
  firstSeenAt: moment.azureAt,
  firstSeen: moment,
  scheduledSince: null,
  presentAtFirstLook: true,
  startedAt: null,
  startSeen: false,
  started: null,
  startedBeforeMs: 0,
  impactAt: null,
  endedAt: null,
  sequence: 0,
  recorded: {},
  recordedFloor: 0,
  pauseMs: null,
  pauseTotalMs: null,
  pauseSinceListedMs: 0,
  movedSinceListed: false,
  bootedSinceListed: false,
  ambiguous: false,
  outageSeconds: null,
  foundOnHost: null,
  listedIn: null,
  hiddenSince: null,
  absent: null,
});

export const emptyEvent = (eventId: string): ScheduledEvent => ({
  eventId,
  eventStatus: null,
  eventType: null,
  resourceType: null,
  resources: null,
  notBefore: null,
  description: null,
  eventSource: null,
  durationSeconds: null,
  raw: {},
});

export const emptySighting: Sighting = {
  at: null,
  moment: null,
  unreadable: 0,
  incarnation: null,
  bootId: null,
  physicalHost: null,
};

export const emptyFacts: AbsenceFacts = {
  bootChanged: false,
  bootKnownSame: false,
  hostChanged: false,
  paused: false,
  reset: false,
  exactlyOneMore: false,
  gap: true,
  notBefore: 'unknown',
  approved: false,
  superseded: false,
  rebooted: false,
  ambiguous: false,
  unreadable: false,
  settling: true,
};

/** The memory of an event that no known document listed: its id, and that it has ended. */
export const neverListed = (eventId: string, at: IsoTime): EventMemory => ({
  ...emptyMemory(eventId, { azureAt: at, monotonicMs: null, bootId: null }),
  endedAt: at,
});
