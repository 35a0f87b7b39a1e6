import { expect, test } from 'vitest';
import { type HeartbeatFacts, heartbeatRow } from '../../../src/heartbeat/row.ts';
import { encodeRow, type Row } from '../../../src/sinks/log-analytics/encode.ts';
import { sampleFacts } from '../../heartbeat/facts.ts';
import { at, event, nothing, observerNamed, started } from '../../support/observations.ts';
import { ask, recordsBy, type Tables } from './query.ts';

const minute = 60;
const day = 24 * 60 * minute;
const owner = { owner: 'web-team' };

const reboot = event({ eventId: 'R', eventType: 'Reboot', notBefore: at(15 * minute) });
const announced = recordsBy('web_0', [nothing, { events: [reboot] }], { observer: { tags: owner } });
const begun = recordsBy('web_0', [nothing, { events: [reboot] }, { events: [started(reboot)], after: 15 * minute }]);
const over = recordsBy('web_0', [
  nothing,
  { events: [reboot] },
  { events: [started(reboot)], after: 15 * minute },
  { events: [], after: 8 * minute },
]);
const back = recordsBy('web_0', [
  nothing,
  { events: [reboot] },
  { events: [], after: 60 },
  { events: [reboot], after: 60 },
]);
const others = recordsBy('web_1', [nothing, { events: [reboot] }], { witnessRate: 1 });
const released = recordsBy('web_0', [
  nothing,
  { events: [reboot] },
  { events: [event({ ...reboot, resources: ['web_1'] })], after: 60 },
]);

const next = { eventId: 'R', eventType: 'Reboot', eventSource: 'Platform', notBefore: at(15 * minute) };
const beat = (minutes: number, given: Partial<HeartbeatFacts> = {}): Row =>
  heartbeatRow(
    sampleFacts({
      at: new Date(at(minutes * minute)),
      observer: observerNamed('web_0', { vmScaleSetName: 'web', tags: owner }),
      state: 'running',
      polls: { polls: 1, failedPolls: {}, eventsSeen: 0, eventsOurs: 0, clockOffsetSeconds: 0, lastDocument: null },
      next: null,
      ...given,
    }),
  );

/** A new stream that reports, this many minutes after noon, which events it observes. */
const snapshot = (minutes: number, ...inSight: readonly string[]): Row => {
  const [record] = announced;
  if (record === undefined) throw new Error('there is no record');
  const time = at(minutes * minute);
  return {
    ...encodeRow(record),
    RecordId: 'snapshot',
    EventId: 'in-sight-new',
    StreamId: 'new',
    Phase: 'Snapshot',
    ObserverAffected: false,
    EventsInSight: inSight,
    ObservedAt: time,
    TimeGenerated: time,
  };
};
const slow = (row: Row): Row => {
  const time = new Date(Date.parse(String(row.ObservedAt)) - 40 * 60_000).toISOString();
  return { ...row, ObservedAt: time, TimeGenerated: time, ClockOffsetSeconds: 40 * minute };
};

interface Case {
  readonly of: string;
  readonly tables: Tables;
  /** VmName, EventType, Phase, IsOpen, NotBefore, StartedAt, LastRecordAt, LastHeardAt, Owner. */
  readonly rows: readonly string[];
}

const cases: readonly Case[] = [
  {
    of: 'an event that is announced',
    tables: { records: announced },
    rows: ['web_0 | Reboot | Scheduled | true | 12:15:00 | - | 12:00:02 | 12:00:02 | web-team'],
  },
  {
    of: 'a started event of a VM that has reported since',
    tables: { records: begun, heartbeats: [beat(20)] },
    rows: ['web_0 | Reboot | Started | true | 12:15:00 | 12:15:02 | 12:15:02 | 12:20:00 | -'],
  },
  {
    of: 'an event that has ended',
    tables: { records: over },
    rows: ['web_0 | Reboot | Completed | false | 12:15:00 | 12:15:02 | 12:23:02 | 12:23:02 | -'],
  },
  {
    of: 'an event that is listed again after its end',
    tables: { records: back },
    rows: ['web_0 | Reboot | Scheduled | true | 12:15:00 | - | 12:02:02 | 12:02:02 | -'],
  },
  { of: 'an event that no longer names the VM', tables: { records: released }, rows: [] },
  { of: 'an event of another VM, seen by a neighbour', tables: { records: others }, rows: [] },
  { of: 'a test', tables: { rows: announced.map((record) => ({ ...encodeRow(record), IsTest: true })) }, rows: [] },
  {
    of: 'every record twice',
    tables: { records: [...announced, ...announced] },
    rows: ['web_0 | Reboot | Scheduled | true | 12:15:00 | - | 12:00:02 | 12:00:02 | web-team'],
  },
  {
    of: 'an event that was announced long before, from the heartbeat',
    tables: { heartbeats: [beat(-30, { next }), beat(0, { next })] },
    rows: ['web_0 | Reboot | Scheduled | true | 12:15:00 | - | - | 12:00:00 | web-team'],
  },
  {
    of: 'an event of an older heartbeat that is missing in the newest',
    tables: { heartbeats: [beat(-30, { next }), beat(0)] },
    rows: [],
  },
  {
    of: 'an event in a heartbeat, and its end in a record',
    tables: { records: over, heartbeats: [beat(5, { next })] },
    rows: ['web_0 | Reboot | Completed | false | 12:15:00 | 12:15:02 | 12:23:02 | 12:23:02 | web-team'],
  },
  {
    of: 'an event in a heartbeat, that no longer names the VM by a record',
    tables: { records: released, heartbeats: [beat(0, { next })] },
    rows: [],
  },
  {
    of: 'an event that is missing in the snapshot of a VM that lost its state',
    tables: { records: begun, rows: [snapshot(40)] },
    rows: ['web_0 | Reboot | Started | false | 12:15:00 | 12:15:02 | 12:15:02 | 12:40:00 | -'],
  },
  {
    of: 'an event that is still in the snapshot of a VM that lost its state',
    tables: { records: begun, rows: [snapshot(40, 'r')] },
    rows: ['web_0 | Reboot | Started | true | 12:15:00 | 12:15:02 | 12:15:02 | 12:40:00 | -'],
  },
  {
    of: 'a VM whose clock is 40 minutes slow',
    tables: { rows: announced.map((record) => slow(encodeRow(record))) },
    rows: ['web_0 | Reboot | Scheduled | true | 12:15:00 | - | 12:00:02 | 12:00:02 | web-team'],
  },
];

const columns = 'VmName, EventType, Phase, IsOpen, NotBefore, StartedAt, LastRecordAt, LastHeardAt, Owner';

test.each(cases)('the state of $of', ({ tables, rows }) => {
  expect(ask(`VmEventStates(ago(6h), ago(6h)) | project ${columns}`, tables)).toEqual(rows);
});

test.each([
  { of: 'that sends a heartbeat each hour', heartbeats: [beat(0, { next })], silentAt: '14:30:00' },
  {
    of: 'that sends one every ten minutes',
    heartbeats: [beat(0, { next, intervalMinutes: 10 })],
    silentAt: '12:25:00',
  },
  {
    of: 'with a later record',
    heartbeats: [beat(-30, { next })],
    records: announced,
    silentAt: '14:30:02',
  },
  { of: 'that reported its stop', heartbeats: [beat(0, { next, state: 'stopping' })], silentAt: '-' },
  { of: 'that sends no heartbeats', heartbeats: [], records: announced, silentAt: '-' },
])('a VM $of counts as silent from $silentAt on', ({ silentAt, ...tables }) => {
  expect(ask('VmEventStates(ago(6h), ago(6h)) | project SilentAt', tables)).toEqual([silentAt]);
});

test('records and heartbeats before the times that are passed in are not read', () => {
  const tables = { records: announced, heartbeats: [beat(0, { next })], now: 2 * day };
  const count = (times: string) => ask(`VmEventStates(${times}) | count`, tables);
  expect([count('ago(3d), ago(1h)'), count('ago(1h), ago(3d)'), count('ago(1h), ago(1h)')]).toEqual([
    ['1'],
    ['1'],
    ['0'],
  ]);
});
