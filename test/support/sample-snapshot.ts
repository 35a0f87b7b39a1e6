import type { Snapshot } from '../../src/health/snapshot.ts';
import { noCounters, noProgress } from '../../src/outbox/outbox.ts';

/** An answer of a running service with something in every field. */
export const sampleSnapshot: Snapshot = {
  form: 1,
  version: '1.2.3',
  pid: 4711,
  isStopping: false,
  poll: {
    ...{ intervalSeconds: 1, answerSeconds: 5, isFirstAnswer: false, upSeconds: 90, ageSeconds: 0.5 },
    documentAgeSeconds: 0.5,
    failing: { code: 'http-503', reason: 'busy' },
  },
  stuck: ['The loop of hub is stuck.'],
  storage: {
    fault: { kind: 'full', code: 'sqlite-13', reason: 'no room', since: '2026-01-01T00:00:00.000Z' },
    undurable: 3,
  },
  connectJitterSeconds: 0,
  holdSeconds: { hub: 0 },
  senders: [],
  outbox: {
    ...{ streamId: '0b7e6c0e', position: 17, lastDocumentAt: '2026-01-01T00:00:00.000Z', incarnation: 3 },
    clockOffsetSeconds: 0,
    events: [
      {
        ...{ eventId: 'EVENT-1', eventType: 'Freeze', eventSource: 'Platform', phase: 'Scheduled' },
        ...{ notBefore: '2026-01-01T00:15:00.000Z', firstSeenAt: '2026-01-01T00:00:00.000Z', startedAt: null },
        ...{ affectsUs: true, inScope: true },
      },
    ],
    undecided: { documents: 0 },
    observer: null,
    openApprovals: [{ eventId: 'EVENT-1', cause: 'a rule', at: '2026-01-01T00:00:00.000Z' }],
    sinks: [
      {
        ...{ name: 'hub', configured: true, counters: { ...noCounters, accepted: 2, pending: 2 } },
        ...{ progress: { ...noProgress, step: 2, retryAt: '2026-01-01T00:01:00.000Z', lastErrorCode: 'x' } },
        oldestPendingAt: '2026-01-01T00:00:00.000Z',
      },
    ],
    bytes: 4096,
    recovery: {
      ...{ at: '2026-01-01T00:00:00.000Z', reason: 'a bad page', movedTo: 'corrupt-1' },
      salvaged: { stream: true, events: 1, records: 1, lost: 0 },
    },
  },
} as Snapshot;
