import { expect, test } from 'vitest';
import type { PollFigures } from '../../src/health/poll-condition.ts';
import type { LoopProgress } from '../../src/health/progress.ts';
import { type Condition, liveness, readiness, richHealth, statusLine } from '../../src/health/verdict.ts';
import { noCounters, noProgress } from '../../src/outbox/outbox.ts';

const loop = (name: string, ageMs: number): LoopProgress => ({
  loop: name,
  ageMs,
  limitMs: 100_000,
  because: 'a send takes its time',
  isProgressing: ageMs <= 100_000,
});
const at = new Date('2026-03-14T09:30:00.000Z');
const poll: PollFigures = {
  intervalSeconds: 1,
  answerSeconds: 10,
  isFirstAnswer: false,
  upSeconds: 3600,
  ageSeconds: 0.5,
  documentAgeSeconds: 0.5,
  failing: null,
};
const idle = {
  name: 'event-hubs',
  configured: true,
  counters: noCounters,
  progress: noProgress,
  oldestPendingAt: null,
};
/** Has failed since `lastErrorAt`, with four records waiting since then. */
const failing = (code: string, lastErrorAt: string) => ({
  ...idle,
  counters: { ...noCounters, accepted: 4, pending: 4 },
  progress: { ...noProgress, step: 3, lastErrorAt, lastErrorCode: code, lastErrorReason: 'Why.' },
  oldestPendingAt: lastErrorAt,
});
const well: Condition = {
  at,
  loops: [loop('poll', 500), loop('event-hubs', 30_000)],
  poll,
  storage: { fault: null, undurable: 0 },
  sinks: [idle],
  holdSeconds: {},
  senders: [],
  openEvents: 0,
  version: '1.2.3',
};
const sender = (recentDeaths: number) => ({
  role: 'event-hubs' as const,
  recentDeaths,
  lastDeath: { code: 'sender-exited', reason: 'The process that sends to the event hub ended (SIGKILL).' },
});
const hangs = { code: 'timeout', reason: 'It did not answer within 10 s.' };
const full = { kind: 'full', code: 'ENOSPC', reason: 'no space left', since: 'noon' } as const;

const cases: readonly {
  name: string;
  but: Partial<Condition>;
  live?: false;
  /** Of `/healthz`. */
  status: 'ok' | 'warning' | 'unready';
  message: RegExp;
}[] = [
  {
    name: 'all is well',
    but: {},
    status: 'ok',
    message: /^Polling; no open events; nothing is waiting for delivery\.$/,
  },
  {
    name: 'a delivery in flight is no problem',
    but: { sinks: [{ ...idle, counters: { ...noCounters, pending: 1 }, oldestPendingAt: '2026-03-14T09:29:50.000Z' }] },
    status: 'ok',
    message: /^Polling; no open events; 1 waiting for delivery\.$/,
  },
  {
    name: 'a sink that refuses is neither dead nor unready, and not called well',
    but: { sinks: [failing('http-403', '2026-03-14T09:29:50.000Z')], openEvents: 1 },
    status: 'warning',
    message: /^Polling; 1 open event; event-hubs is refused \(http-403\), 4 waiting\.$/,
  },
  {
    name: 'a sink that has failed for more than two minutes is reported with the time since its last delivery',
    but: { sinks: [failing('connection-refused', '2026-03-14T09:27:30.000Z')] },
    status: 'warning',
    message: /event-hubs is retrying \(connection-refused\), nothing delivered for 3 min, 4 waiting\.$/,
  },
  {
    name: 'a send that gets no answer for more than two minutes is not called well',
    but: { sinks: [{ ...idle, counters: { ...noCounters, pending: 1 }, oldestPendingAt: '2026-03-14T09:27:50.000Z' }] },
    status: 'warning',
    message: /event-hubs is delivering, nothing delivered for 2 min, 1 waiting\.$/,
  },
  {
    name: 'a record may wait for a connection for as long as is configured',
    but: {
      sinks: [{ ...idle, counters: { ...noCounters, pending: 1 }, oldestPendingAt: '2026-03-14T09:27:50.000Z' }],
      holdSeconds: { 'event-hubs': 60 },
    },
    status: 'ok',
    message: /1 waiting for delivery\.$/,
  },
  {
    name: 'two ends of a sender process within ten minutes are no problem',
    but: { senders: [sender(2)] },
    status: 'ok',
    message: /nothing is waiting for delivery\.$/,
  },
  {
    name: 'three deaths of a sender process in ten minutes are a warning, with nothing waiting',
    but: { senders: [sender(3)] },
    status: 'warning',
    message:
      /^Polling; no open events; the sender process event-hubs failed 3 times in the last 10 min \(sender-exited\)\.$/,
  },
  {
    name: 'a loop that is stuck is named, with its limit and the reason for it',
    but: { loops: [loop('poll', 500), loop('event-hubs', 100_001)] },
    live: false,
    status: 'unready',
    message: /^The loop event-hubs has been stuck for 100 s; its limit is 100 s, since a send takes its time\. Restart/,
  },
  {
    name: 'before the first document it is not ready, and the reason is that of the last poll',
    but: { poll: { ...poll, upSeconds: 4, documentAgeSeconds: null, failing: hangs } },
    status: 'unready',
    message: /^Starting: no document yet: It did not answer within 10 s\./,
  },
  {
    name: 'a poll that is late by more than three intervals is reported',
    but: { poll: { ...poll, ageSeconds: 3.1, documentAgeSeconds: 3.1 } },
    status: 'warning',
    message: /the last poll ended 3 s ago, with an interval of 1 s: the metadata service is slow to answer\.$/,
  },
  {
    name: 'without a document for nine seconds it is ready, and the failure is reported',
    but: { poll: { ...poll, documentAgeSeconds: 9.9, failing: hangs } },
    status: 'warning',
    message: /the last poll failed: It did not answer within 10 s\./,
  },
  {
    name: 'without a document for more than ten seconds it is not ready',
    but: { poll: { ...poll, documentAgeSeconds: 10.1, failing: hangs } },
    status: 'unready',
    message: /^No document from the metadata service for 10 s: It did not/,
  },
  {
    name: 'a disk that takes no writes makes it unready, not dead',
    but: { storage: { fault: full, undurable: 2 } },
    status: 'unready',
    message:
      /^The outbox cannot be written since noon \(no space left\)\. 2 records are in memory only: do not restart the service\./,
  },
];

test.for(cases)('$name', ({ but, live = true, status, message }) => {
  const condition = { ...well, ...but };
  const isReady = status !== 'unready';
  expect(liveness(condition).ok).toBe(live);
  expect(readiness(condition).ok).toBe(isReady);
  expect(statusLine(condition)).toMatch(message);
  const health = richHealth(condition);
  expect(health).toMatchObject({ ApplicationHealthState: isReady ? 'Healthy' : 'Unhealthy', status });
  expect(health.messages.length > 0).toBe(status !== 'ok');
});

test('the rich health state holds each sink in a string of JSON, the code of its failure only while it fails', () => {
  const metrics = (condition: Condition) => JSON.parse(richHealth(condition).customMetrics);
  const sink = { state: 'idle', pending: 0, deadLetters: 0 };
  expect(metrics(well)).toEqual({ messages: [], version: '1.2.3', openEvents: 0, sinks: { 'event-hubs': sink } });
  const refused = failing('http-403', '2026-03-14T09:29:50.000Z');
  expect(metrics({ ...well, sinks: [{ ...refused, counters: { ...refused.counters, dead: 2 } }] }).sinks).toEqual({
    'event-hubs': { state: 'refused', pending: 4, deadLetters: 2, code: 'http-403' },
  });
});
