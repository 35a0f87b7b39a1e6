import { createHash } from 'node:crypto';
import { type HeartbeatFacts, heartbeatRow } from '../../../src/heartbeat/row.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import type { Observer } from '../../../src/lifecycle/scheduled-event.ts';
import { noCounters } from '../../../src/outbox/outbox.ts';
import type { Row } from '../../../src/sinks/log-analytics/encode.ts';

/** A bridge, as far as its heartbeats show it. */
export interface BridgeHistory {
  readonly observer: Observer;
  readonly records: readonly LifecycleRecord[];
  readonly streamId: string;
  readonly bridgeVersion: string;
  /** When it starts. */
  readonly from: Date;
  /** No heartbeat after this: it was stopped, or the VM was deleted, or this is now. */
  readonly to: Date;
  readonly everyMinutes: number;
  /** Its last heartbeat reports that it stops. Default: none does. */
  readonly reportsStop?: boolean;
  /** Share of its polls that fail. Default 0. */
  readonly pollFailureShare?: number;
  /** Records that some sink will never take. */
  readonly deadLetters?: number;
  /** Records of these last minutes wait for the event hub. Default 0: all are delivered. */
  readonly hubBehindMinutes?: number;
  readonly clockOffsetSeconds?: number;
  /** In this time the metadata service gives it no valid document. Default never. */
  readonly blind?: { readonly from: Date; readonly to: Date };
  /** Records discarded undelivered, by the moment at which each was. */
  readonly expiredAt?: readonly Date[];
  /** VMs with an equal one have the same configuration. */
  readonly configuration?: string;
}

/** The earliest reported planned impact on this VM that has not begun. */
function nextOf(sent: readonly LifecycleRecord[]): HeartbeatFacts['next'] {
  const last = new Map(sent.filter(({ phase }) => !outside.includes(phase)).map((record) => [record.eventId, record]));
  const planned = [...last.values()].filter((one) => one.observerAffected && one.startedAt === null && !isEnd(one));
  const [next] = planned.toSorted((a, b) => String(a.notBefore).localeCompare(String(b.notBefore)));
  return next?.notBefore ? { ...next, notBefore: next.notBefore } : null;
}

/** Phases that say nothing about the progress of an event. */
const outside: readonly string[] = ['Approved', 'Snapshot'];

const isEnd = ({ phase }: LifecycleRecord): boolean => ['Completed', 'Canceled', 'Ended'].includes(phase);

/** The rows of a bridge in the table of heartbeats: at its start, at a fixed interval, and perhaps a last one. By the real encoder. */
export function heartbeatRows(bridge: BridgeHistory): Row[] {
  const { from, to, everyMinutes, reportsStop = false } = bridge;
  const moments: Date[] = [];
  for (let at = from.getTime(); at <= to.getTime(); at += 60_000 * everyMinutes) moments.push(new Date(at));
  const rows = moments.map((at, index) => heartbeatRow(factsOf(bridge, at, index === 0 ? 'starting' : 'running')));
  return reportsStop ? [...rows, heartbeatRow(factsOf(bridge, to, 'stopping'))] : rows;
}

function factsOf(bridge: BridgeHistory, at: Date, state: HeartbeatFacts['state']): HeartbeatFacts {
  const { records, hubBehindMinutes = 0, deadLetters = 0, pollFailureShare = 0 } = bridge;
  const sent = records.filter(({ observedAt }) => Date.parse(observedAt) <= at.getTime());
  const behind = sent.filter(({ observedAt }) => Date.parse(observedAt) > at.getTime() - 60_000 * hubBehindMinutes);
  const open = new Set<string>();
  for (const record of sent) isEnd(record) ? open.delete(record.eventId) : open.add(record.eventId);
  const upMs = at.getTime() - bridge.from.getTime();
  const polls = Math.floor(upMs / 1000);
  const accepted = sent.length;
  const delivered = accepted - deadLetters;
  const events = new Set(sent.map(({ eventId }) => eventId)).size;
  const { from: blindFrom, to: blindTo } = bridge.blind ?? { from: at, to: at };
  const blindMs = at < blindTo ? Math.max(0, at.getTime() - blindFrom.getTime()) : 0;
  const recentSeconds = Math.min(upMs / 1000, 60 * bridge.everyMinutes);
  const recentFailed = Math.max(recentSeconds * pollFailureShare, Math.min(recentSeconds, blindMs / 1000));
  const failed = Math.round(Math.max(polls * pollFailureShare, blindMs / 1000));
  const expired = bridge.expiredAt?.filter((moment) => moment <= at).length ?? 0;
  return {
    at,
    observer: bridge.observer,
    state,
    stopReason: state === 'stopping' ? 'asked' : null,
    bridgeVersion: bridge.bridgeVersion,
    refusedVersion: null,
    upMs,
    polls: {
      polls,
      failedPolls: failed > 0 ? { timeout: failed } : {},
      eventsSeen: events,
      eventsOurs: events,
      clockOffsetSeconds: bridge.clockOffsetSeconds ?? 0,
      lastDocument: null,
    },
    streamId: bridge.streamId,
    lastPosition: sent.at(-1)?.position ?? 0,
    openEvents: open.size,
    sinks: {
      'event-hubs': {
        ...noCounters,
        accepted: accepted + expired,
        delivered: delivered - behind.length,
        pending: behind.length,
        dead: deadLetters,
        expired,
      },
      'log-analytics': { ...noCounters, accepted, delivered: accepted },
    },
    oldestPendingAt: behind[0]?.observedAt ?? null,
    imdsApiVersion: '2020-07-01',
    configHash: createHash('sha256')
      .update(bridge.configuration ?? '')
      .digest('hex')
      .slice(0, 16),
    intervalMinutes: bridge.everyMinutes,
    lastDocumentAgeMs: Math.max(500, blindMs),
    recent: { polls: Math.floor(recentSeconds), failedPolls: Math.round(recentFailed) },
    next: nextOf(sent),
  };
}
