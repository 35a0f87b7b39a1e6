import { expect, test } from 'vitest';
import type { LoopProgress } from '../../src/health/progress.ts';
import { type Condition, liveness, readiness, richHealth, statusLine } from '../../src/health/verdict.ts';

const loop = (name: string, ageMs: number): LoopProgress => ({
  loop: name,
  ageMs,
  limitMs: 100_000,
  because: 'a send takes its time',
  isProgressing: ageMs <= 100_000,
});
const failingHub = {
  sink: 'event-hubs',
  state: 'failing',
  step: 3,
  retryAt: null,
  lastErrorCode: 'http-403',
  lastErrorReason: 'Grant the role.',
  inFlight: 0,
  deaths: {},
} as const;
const well: Condition = {
  loops: [loop('poll', 500), loop('event-hubs', 30_000)],
  polls: { lastDocument: { at: new Date(0), monotonicMs: 99_000 }, failing: null },
  storage: { trouble: null, undurable: 0 },
  relays: [{ ...failingHub, state: 'idle', step: 0, lastErrorCode: null, lastErrorReason: null }],
  backlog: [{ sink: 'event-hubs', pending: 0, onlyInMemory: 0 }],
  counters: { 'event-hubs': { dead: 0 } },
  openEvents: 0,
  monotonicMs: 100_000,
  version: '1.2.3',
};
const hangs = { code: 'timeout', reason: 'It did not answer within 10 s.' };

const cases: readonly { name: string; but: Partial<Condition>; live: boolean; ready: boolean; says: RegExp }[] = [
  {
    name: 'all is well',
    but: {},
    live: true,
    ready: true,
    says: /^Polling; no event under way; every sink takes records\.$/,
  },
  {
    name: 'a sink that fails is neither dead nor unready',
    but: { relays: [failingHub], backlog: [{ sink: 'event-hubs', pending: 4, onlyInMemory: 0 }], openEvents: 1 },
    live: true,
    ready: true,
    says: /^Polling; 1 event under way; event-hubs is failing \(http-403\), 4 waiting\.$/,
  },
  {
    name: 'a loop that is stuck is named, with its limit and the reason for it',
    but: { loops: [loop('poll', 500), loop('event-hubs', 100_001)] },
    live: false,
    ready: false,
    says: /^The loop event-hubs has made no turn for 100 s; it may take 100 s, since a send takes its time\. Restart/,
  },
  {
    name: 'before the first document it is not ready, and the reason is that of the last poll',
    but: { polls: { lastDocument: null, failing: hangs } },
    live: true,
    ready: false,
    says: /^No document has been seen yet\. It did not answer within 10 s\.$/,
  },
  {
    name: 'without a document for a minute it is still ready: the service is updated now and then',
    but: { polls: { lastDocument: { at: new Date(0), monotonicMs: 40_000 }, failing: hangs } },
    live: true,
    ready: true,
    says: /^Polling; /,
  },
  {
    name: 'without a document for longer it is not ready',
    but: { polls: { lastDocument: { at: new Date(0), monotonicMs: 0 }, failing: hangs } },
    live: true,
    ready: false,
    says: /^No document has been seen for 100 s\. It did not/,
  },
  {
    name: 'a disk that takes no writes makes it unready, not dead',
    but: {
      storage: { trouble: { kind: 'full', code: 'ENOSPC', reason: 'no space left', since: 'noon' }, undurable: 2 },
    },
    live: true,
    ready: false,
    says: /^The outbox cannot be written since noon \(no space left\): 2 records are only in memory/,
  },
];

test.for(cases)('$name', ({ but, live, ready, says }) => {
  const condition = { ...well, ...but };
  expect(liveness(condition).ok).toBe(live);
  expect(readiness(condition).ok).toBe(ready);
  expect(statusLine(condition)).toMatch(says);
  expect(richHealth(condition).ApplicationHealthState).toBe(ready ? 'Healthy' : 'Unhealthy');
});

test('the rich health state tells of each sink in a string of JSON, the code of its failure only while it fails', () => {
  const metrics = (condition: Condition) => JSON.parse(richHealth(condition).customMetrics);
  const sink = { state: 'idle', pending: 0, deadLetters: 0 };
  expect(metrics(well)).toEqual({ says: [], version: '1.2.3', openEvents: 0, sinks: { 'event-hubs': sink } });
  expect(metrics({ ...well, relays: [failingHub], counters: { 'event-hubs': { dead: 2 } } }).sinks).toEqual({
    'event-hubs': { state: 'failing', pending: 0, deadLetters: 2, code: 'http-403' },
  });
});
