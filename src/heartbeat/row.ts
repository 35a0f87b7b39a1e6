import type { Outbox, SinkCounters } from '../outbox/outbox.ts';
import type { NextEvent } from './next-event.ts';

export type HeartbeatState = 'starting' | 'running' | 'stopping';

/** What a heartbeat is made of, at one moment. */
export interface HeartbeatFacts {
  readonly at: Date;
  readonly observer: NonNullable<Outbox['storedObserver']>['observer'];
  readonly state: HeartbeatState;
  /** Why it stops: `asked` (SIGTERM, SIGINT, the service manager) or `failed`; null while it does not. */
  readonly stopReason: string | null;
  readonly bridgeVersion: string;
  /** The version that was to be installed last and does not run; null: the one that runs is the one wanted. */
  readonly refusedVersion: string | null;
  readonly upMs: number;
  readonly polls: HeartbeatPolls;
  readonly streamId: string;
  readonly lastPosition: number;
  readonly openEvents: number;
  readonly sinks: Readonly<Record<string, SinkCounters>>;
  /** When the oldest record that some sink has not taken was appended; null without one. */
  readonly oldestPendingAt: string | null;
  readonly imdsApiVersion: string;
  readonly configHash: string;
  /** `heartbeat.everyMinutes` of the configuration. */
  readonly intervalMinutes: number;
  /** Since the last valid document; since the start of the bridge where there never was one. */
  readonly lastDocumentAgeMs: number;
  /** Since the heartbeat before this one; since the start of the bridge for the first. */
  readonly recent: { readonly polls: number; readonly failedPolls: number };
  readonly next: NextEvent | null;
}

/** Counted since the bridge started. */
export interface HeartbeatPolls {
  readonly polls: number;
  readonly failedPolls: Readonly<Record<string, number>>;
  readonly eventsSeen: number;
  readonly eventsOurs: number;
  readonly clockOffsetSeconds: number | null;
  /** When the last valid document was seen, by the monotonic clock; null while there was none. */
  readonly lastDocument: { readonly monotonicMs: number } | null;
}

/**
 * A heartbeat distinguishes "no events" from "no bridge", and `lastPosition` shows whether records of the stream are missing. On Event Hubs as it
 * stands here, in Log Analytics as the columns of `bicep/schema/columns.json`, each the field in PascalCase.
 */
export function heartbeat(facts: HeartbeatFacts) {
  const { at, observer, polls, sinks, oldestPendingAt, recent, next } = facts;
  const sum = (name: keyof SinkCounters): number =>
    Object.values(sinks).reduce((total, counters) => total + counters[name], 0);
  return {
    timeGenerated: at.toISOString(),
    computer: observer.computer,
    vmId: observer.vmId,
    vmName: observer.vmName,
    resourceId: observer.resourceId?.toLowerCase() ?? null,
    subscriptionId: observer.subscriptionId,
    resourceGroup: observer.resourceGroup,
    vmScaleSetName: observer.vmScaleSetName,
    location: observer.location,
    state: facts.state,
    stopReason: facts.stopReason,
    bridgeVersion: facts.bridgeVersion,
    refusedVersion: facts.refusedVersion,
    streamId: facts.streamId,
    lastPosition: facts.lastPosition,
    uptimeSeconds: Math.floor(facts.upMs / 1000),
    polls: polls.polls,
    failedPolls: polls.failedPolls,
    eventsSeen: polls.eventsSeen,
    eventsOurs: polls.eventsOurs,
    openEvents: facts.openEvents,
    sinks,
    oldestPendingSeconds:
      oldestPendingAt === null ? null : Math.max(0, (at.getTime() - Date.parse(oldestPendingAt)) / 1000),
    deadLetters: sum('dead'),
    clockOffsetSeconds: polls.clockOffsetSeconds,
    imdsApiVersion: facts.imdsApiVersion,
    configHash: facts.configHash,
    isTest: false,
    intervalMinutes: facts.intervalMinutes,
    tags: observer.tags,
    lastDocumentAgeSeconds: Math.max(0, Math.round(facts.lastDocumentAgeMs) / 1000),
    recentPolls: recent.polls,
    recentFailedPolls: recent.failedPolls,
    expiredRecords: sum('expired'),
    nextNotBefore: next?.notBefore ?? null,
    nextEventId: next?.eventId ?? null,
    nextEventType: next?.eventType ?? null,
    nextEventSource: next?.eventSource ?? null,
    osType: observer.osType,
  };
}

export type Heartbeat = ReturnType<typeof heartbeat>;

/** The same as a row of the table. */
export function heartbeatRow(facts: HeartbeatFacts): Record<string, unknown> {
  const fields = Object.entries(heartbeat(facts));
  return Object.fromEntries(
    fields.map(([field, value]) => [`${field.charAt(0).toUpperCase()}${field.slice(1)}`, value]),
  );
}
