import type { Facts, StatusSink } from '../../../src/cli/status/facts.ts';
import { noCounters } from '../../../src/outbox/tally.ts';

export const at = '2026-03-14T09:30:00.000Z';

/** A destination that has everything, but for what is said. */
export const sink = (name: string, rest: Partial<StatusSink> = {}): StatusSink => ({
  name,
  state: 'delivering',
  waiting: 0,
  oldestWaitingAt: null,
  oldestAgeSeconds: null,
  deadLetters: 0,
  retryAt: null,
  lastSuccessAt: '2026-03-14T09:26:53.000Z',
  lastError: null,
  counters: noCounters,
  ...rest,
});

/** A bridge that is well, but for what is said. */
export const facts = ({ document, outbox, ...rest }: Overrides = {}): Facts => ({
  at,
  running: true,
  stateDirectory: '/var/lib/scheduled-events-bridge',
  observer: { vmName: 'web_3', vmId: '02aab8a4', resourceGroup: 'web', location: 'westeurope' },
  document: {
    lastSeenAt: '2026-03-14T09:29:26.000Z',
    ageSeconds: 34,
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
    createdAgeSeconds: 90_000,
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
