import { expect, test } from 'vitest';
import { substatusesOf } from '../../src/extension/substatus.ts';
import type { Snapshot } from '../../src/health/snapshot.ts';
import { noCounters, noProgress } from '../../src/outbox/outbox.ts';

const now = new Date('2026-03-04T05:10:00Z');
type Sink = Snapshot['outbox']['sinks'][number];

const sink = (name: string, progress: Partial<Sink['progress']> = {}, pending = 0): Sink => ({
  name,
  configured: true,
  counters: { ...noCounters, pending },
  progress: { ...noProgress, ...progress },
  oldestPendingAt: pending === 0 ? null : '2026-03-04T05:00:00Z',
});

const polling: Snapshot['poll'] = {
  intervalSeconds: 1,
  answerSeconds: 10,
  isFirstAnswer: false,
  upSeconds: 60,
  ageSeconds: 0.5,
  documentAgeSeconds: 0.5,
  failing: null,
};

interface Given {
  readonly sinks?: readonly Sink[];
  readonly poll?: Partial<Snapshot['poll']>;
  readonly more?: Partial<Snapshot>;
}

const partsOf = ({ sinks = [], poll = {}, more = {} }: Given) => {
  const snapshot = {
    ...{ form: 1, version: '1.2.3', pid: 7, isStopping: false, stuck: [], connectJitterSeconds: 0, holdSeconds: {} },
    poll: { ...polling, ...poll },
    storage: { fault: null, undurable: 0 },
    senders: [],
    outbox: { sinks },
    ...more,
  } as unknown as Snapshot;
  return Object.fromEntries(
    substatusesOf({ kind: 'answered', snapshot }, now).map(({ name, status, message }) => [
      name,
      `${status}: ${message}`,
    ]),
  );
};

test('a healthy service has one substatus each for itself, the metadata service and every configured sink', () => {
  const sent = sink('event-hubs', { lastSuccessAt: '2026-03-04T05:09:00Z' });
  expect(partsOf({ sinks: [sent, sink('log-analytics'), { ...sink('http'), configured: false }] })).toEqual({
    service: 'success: Version 1.2.3 runs.',
    imds: 'success: Polling every 1 s; the last document came 1 s ago.',
    eventHubs: 'success: Event Hubs: nothing is waiting for delivery; last delivery 2026-03-04T05:09:00Z.',
    logAnalytics: 'success: Log Analytics: nothing is waiting for delivery; nothing was sent yet.',
  });
});

const failing = {
  step: 3,
  lastErrorAt: '2026-03-04T05:09:00Z',
  lastErrorReason: 'The identity may not send.',
};

const cases: readonly { name: string; given: Given; part: string; is: RegExp }[] = [
  {
    name: 'a sink that refuses',
    given: { sinks: [sink('event-hubs', { ...failing, lastErrorCode: 'unauthorized' }, 2)] },
    part: 'eventHubs',
    is: /^error: Event Hubs is refused \(unauthorized\).*2 waiting: The identity may not send\.$/,
  },
  {
    name: 'a sink that is retried',
    given: { sinks: [sink('event-hubs', { ...failing, lastErrorCode: 'timeout' }, 2)] },
    part: 'eventHubs',
    is: /^warning: Event Hubs is retrying \(timeout\)/,
  },
  {
    name: 'a sink that is late',
    given: { sinks: [sink('log-analytics', {}, 1)] },
    part: 'logAnalytics',
    is: /^warning: Log Analytics is delivering, nothing delivered for 10 min, 1 waiting\.$/,
  },
  {
    name: 'the first answer, which is awaited',
    given: { poll: { isFirstAnswer: true, documentAgeSeconds: null, upSeconds: 4, answerSeconds: 130 } },
    part: 'imds',
    is: /^transitioning: Polling; not watching yet: the first answer/,
  },
  {
    name: 'no document',
    given: { poll: { documentAgeSeconds: 60, failing: { code: 'http-500', reason: 'It failed.' } } },
    part: 'imds',
    is: /^error: No document from the metadata service for 60 s: It failed\.$/,
  },
  {
    name: 'a loop that is stuck',
    given: { more: { stuck: ['The loop poll is stuck.'] } },
    part: 'service',
    is: /^error: The loop/,
  },
  {
    name: 'a disk that is full',
    given: {
      more: { storage: { fault: { since: '', code: 'full', reason: 'the disk is full' }, undurable: 1 } as never },
    },
    part: 'service',
    is: /^error: Records cannot be written to disk: the disk is full$/,
  },
  {
    name: 'a service that stops',
    given: { more: { isStopping: true } },
    part: 'service',
    is: /^warning: Version 1\.2\.3 is stopping/,
  },
];

test.for(cases)('$name', ({ given, part, is }) => {
  expect(partsOf(given)[part]).toMatch(is);
});

test.for(['silent', 'nobody', 'denied'] as const)('a service that does not answer (%s) has one substatus', (kind) => {
  expect(substatusesOf({ kind }, now)).toEqual([
    { name: 'service', status: 'warning', message: expect.stringContaining('did not answer') },
  ]);
});
