import type { Played, TableRow } from '../../../../infra/acceptance/events/played.ts';
import type { Scenario } from '../../../../infra/acceptance/events/scenario.ts';
import { scenarios } from '../../../../infra/acceptance/events/scenarios.ts';
import type { EnqueuedRecord } from '../../../../infra/acceptance/target.ts';
import type { LifecycleRecord, Phase } from '../../../../src/lifecycle/record.ts';
import { sampleRecord } from '../../../support/sample-record.ts';

export const scenarioNamed = (id: string): Scenario => {
  const found = scenarios.find((one) => one.id === id);
  if (found === undefined) throw new Error(`There is no scenario ${id}.`);
  return found;
};

const eventId = '602d9444-d2cd-49c7-8624-8643e7171297';
const requestedAt = new Date('2026-11-22T10:00:00.000Z');

/** Seconds after the request. */
export const at = (seconds: number): string => new Date(requestedAt.getTime() + 1000 * seconds).toISOString();

/** A record of a restart that a user requested, announced 10 s after the request with a notice of 15 minutes. */
export function recordOf(
  sequence: number,
  phase: Phase,
  seconds: number,
  more: Partial<LifecycleRecord> = {},
): EnqueuedRecord {
  const record: LifecycleRecord = {
    ...sampleRecord(),
    eventId,
    eventType: 'Reboot',
    eventSource: 'User',
    phase,
    sequence,
    recordId: `record-${sequence}`,
    streamId: 'stream-1',
    vmName: 'vm-1',
    vmId: 'vm-id-1',
    affectedResources: ['vm-1'],
    affectedResourceCount: 1,
    observerAffected: true,
    observedAt: at(seconds),
    notBefore: at(910),
    evidence: ['said-by-azure'],
    clockOffsetSeconds: 0,
    bootId: 'boot-1',
    physicalHost: 'host-1',
    previousPhysicalHost: null,
    observedPauseMs: null,
    startedAt: null,
    isTest: false,
    ...more,
  };
  return {
    record,
    enqueuedAt: new Date(Date.parse(record.observedAt) + 1000),
    partitionId: '0',
    partitionKey: eventId,
    messageId: record.recordId,
    correlationId: record.transitionId,
    contentType: 'application/json',
    properties: {},
  };
}

export const rowOf = ({ record }: EnqueuedRecord): TableRow => ({
  RecordId: record.recordId,
  StreamId: record.streamId,
  EventId: record.eventId,
  Phase: record.phase,
  Sequence: record.sequence,
  ObservedAt: record.observedAt,
  IngestedAt: new Date(Date.parse(record.observedAt) + 90_000).toISOString(),
});

const started = { startedAt: at(911) };

/** The restart without an approval, exactly as documented. */
export const waitedRestart = (): readonly [EnqueuedRecord, EnqueuedRecord, EnqueuedRecord] => [
  recordOf(1, 'Scheduled', 10),
  recordOf(2, 'Started', 911, started),
  recordOf(3, 'Completed', 1200, {
    ...started,
    bootId: 'boot-2',
    evidence: ['boot-id-changed', 'left-after-started', 'not-before-passed'],
  }),
];

export function playedWith(records: readonly EnqueuedRecord[], more: Partial<Played> = {}): Played {
  return {
    requestedAt,
    approvedAt: null,
    approvalProblem: null,
    eventId,
    records,
    rows: records.map(rowOf),
    others: [],
    recording: null,
    ...more,
  };
}
