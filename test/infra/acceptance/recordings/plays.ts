import type { Play } from '../../../../infra/acceptance/recordings/play.ts';
import type { Recording } from '../../../../src/azure-simulator/recording/read-recording.ts';
import type { LifecycleRecord } from '../../../../src/lifecycle/record.ts';
import type { Change, RecordedDocument } from '../../../../src/recording/format.ts';
import { sampleRecord } from '../../../support/sample-record.ts';

/** A restart by a user as it is recorded on one VM: announced after 10 s, started at NotBefore, listed for 290 s more. */
export type Entry = RecordedDocument['Events'][number];

export const begunAt = new Date('2026-11-21T09:00:00.000Z');
export const inSeconds = (seconds: number): string => new Date(begunAt.getTime() + 1000 * seconds).toUTCString();

export const eventId = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
export const scheduled: Entry = {
  EventId: eventId,
  EventStatus: 'Scheduled',
  EventType: 'Reboot',
  ResourceType: 'VirtualMachine',
  Resources: ['orion'],
  NotBefore: inSeconds(910),
  Description: 'Virtual machine orion is going to be restarted as requested by authorized user.',
  EventSource: 'User',
  DurationInSeconds: -1,
};
export const started: Entry = { ...scheduled, EventStatus: 'Started', NotBefore: '' };

export const at = (atSeconds: number, incarnation: number, ...events: readonly Entry[]): Change => ({
  atSeconds,
  seen: { document: { DocumentIncarnation: incarnation, Events: events } },
});
export const changes: readonly Change[] = [at(0, 1), at(10, 2, scheduled), at(910, 3, started), at(1200, 4)];

export const recordingOf = (given: readonly Change[], vmName = 'orion'): Recording => ({
  header: { begunAt, endpoint: '', apiVersion: '2020-07-01', vm: { name: vmName, scaleSet: null } },
  changes: given,
});

export const step = (
  phase: LifecycleRecord['phase'],
  position: number,
  ...evidence: readonly string[]
): LifecycleRecord => ({
  ...sampleRecord(),
  eventId,
  recordId: `r${position}`,
  phase,
  evidence,
  position,
  observedAt: new Date(begunAt.getTime() + 1000 * position).toISOString(),
  isTest: false,
});
export const records = [
  step('Scheduled', 1, 'said-by-azure'),
  step('Started', 2, 'said-by-azure'),
  step('Completed', 3, 'boot-id-changed', 'left-after-started'),
];

export const play = (
  given: Partial<{ changes: readonly Change[]; records: readonly LifecycleRecord[]; vm: string }> = {},
): Play => ({
  recording: recordingOf(given.changes ?? changes, given.vm),
  records: given.records ?? records,
});

export const freeze: Entry = {
  ...scheduled,
  EventId: 'A7061BAC-AFDC-4513-B24B-AA5F13A16124',
  EventType: 'Freeze',
  EventSource: 'Platform',
};
