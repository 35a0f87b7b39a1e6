import type { HeartbeatFacts } from '../../src/heartbeat/row.ts';
import { noCounters } from '../../src/outbox/outbox.ts';
import { observerNamed } from '../support/observations.ts';

/** Everything a heartbeat is made of; every column holds something. */
export function sampleFacts(overrides: Partial<HeartbeatFacts> = {}): HeartbeatFacts {
  return {
    at: new Date('2026-03-14T10:00:00.000Z'),
    observer: observerNamed('web_0', {
      resourceId: '/SUBSCRIPTIONS/s/VM',
      vmScaleSetName: 'web',
      tags: { owner: 'web-team' },
    }),
    state: 'stopping',
    stopReason: 'asked',
    bridgeVersion: '1.2.3',
    refusedVersion: '1.3.0',
    upMs: 3_600_999,
    polls: {
      polls: 3600,
      failedPolls: { timeout: 2 },
      eventsSeen: 3,
      eventsOurs: 1,
      clockOffsetSeconds: -1,
      lastDocument: null,
    },
    streamId: '0b7e6c0e-52d1-4f0c-93b1-6ab1a7b1d0a4',
    lastPosition: 17,
    openEvents: 1,
    sinks: {
      'event-hubs': { ...noCounters, accepted: 17, delivered: 15, pending: 1, dead: 1 },
      'log-analytics': { ...noCounters, accepted: 17, delivered: 15, dead: 2 },
    },
    oldestPendingAt: '2026-03-14T09:59:47.500Z',
    imdsApiVersion: '2020-07-01',
    configHash: '0123456789abcdef',
    intervalMinutes: 60,
    lastDocumentAgeMs: 1250,
    recent: { polls: 3600, failedPolls: 2 },
    next: {
      eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      eventType: 'Redeploy',
      eventSource: 'Platform',
      notBefore: '2026-03-16T10:00:00.000Z',
    },
    ...overrides,
  };
}
