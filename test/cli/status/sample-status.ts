import type { Facts, ServiceFacts, StatusSink } from '../../../src/cli/status/facts.ts';
import type { PollFigures } from '../../../src/health/poll-condition.ts';
import { noCounters } from '../../../src/outbox/outbox.ts';

export const at = '2026-03-14T09:30:00.000Z';

/** A destination that has everything, except for the overrides. */
export const sink = (name: string, rest: Partial<StatusSink> = {}): StatusSink => ({
  name,
  state: 'idle',
  waiting: 0,
  oldestWaitingAt: null,
  oldestAgeSeconds: null,
  lateSeconds: null,
  deadLetters: 0,
  retryAt: null,
  lastSuccessAt: '2026-03-14T09:26:53.000Z',
  lastError: null,
  counters: noCounters,
  ...rest,
});

/** Successful polls, except for the overrides. */
export const poll = (rest: Partial<PollFigures> = {}): PollFigures => ({
  intervalSeconds: 1,
  answerSeconds: 10,
  isFirstAnswer: false,
  upSeconds: 3600,
  ageSeconds: 0.4,
  documentAgeSeconds: 0.4,
  failing: null,
  ...rest,
});

/** What a healthy service answers, except for the overrides. */
export const service = (rest: Partial<ServiceFacts> = {}): ServiceFacts => ({
  version: '1.2.3',
  pid: 4711,
  stopping: false,
  poll: poll(),
  stuck: [],
  inMemoryOnly: 0,
  storageTrouble: null,
  connectJitterSeconds: 0,
  senders: [],
  ...rest,
});

/** What is known of a service that does not answer. */
export const unanswered = (answer: Facts['answer'], running: boolean | null) => ({ running, service: null, answer });

/** A healthy bridge, except for the overrides. */
export const facts = ({ document, outbox, ...rest }: Overrides = {}): Facts => ({
  at,
  running: true,
  service: service(),
  answer: 'answered',
  stateDirectory: '/var/lib/scheduled-events-bridge',
  observer: { vmName: 'web_3', vmId: '02aab8a4', resourceGroup: 'web', location: 'westeurope' },
  document: {
    lastSeenAt: '2026-03-14T09:29:59.600Z',
    ageSeconds: 0,
    incarnation: 2,
    clockOffsetSeconds: 0,
    ...document,
  },
  events: [],
  sinks: [sink('event-hubs'), sink('log-analytics')],
  approvals: [],
  outbox: {
    streamId: '0b7e6c0e',
    position: 17,
    bytes: 36_000,
    maxBytes: 256 * 2 ** 20,
    freeBytes: 10e9,
    readOnlyDisk: false,
    undecidedDocuments: 0,
    recovery: null,
    ...outbox,
  },
  ...rest,
});

type Overrides = Partial<Omit<Facts, 'document' | 'outbox'>> & {
  readonly document?: Partial<Facts['document']>;
  readonly outbox?: Partial<Facts['outbox']>;
};
