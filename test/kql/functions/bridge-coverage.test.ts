import { expect, test } from 'vitest';
import { type HeartbeatFacts, heartbeatRow } from '../../../src/heartbeat/row.ts';
import type { Row } from '../../../src/sinks/log-analytics/encode.ts';
import { sampleFacts } from '../../heartbeat/facts.ts';
import { at, event, nothing, observerNamed, started } from '../../support/observations.ts';
import { ask, recordsBy, type Tables } from './query.ts';

const minute = 60;
const hour = 60 * minute;

/** A heartbeat of a running bridge of web_0, this many minutes after noon. */
const beat = (minutes: number, given: Partial<HeartbeatFacts> & { readonly vm?: string } = {}): Row => {
  const { vm = 'web_0', ...rest } = given;
  return heartbeatRow(
    sampleFacts({
      at: new Date(at(minutes * minute)),
      observer: observerNamed(vm),
      state: 'running',
      stopReason: null,
      oldestPendingAt: null,
      ...rest,
    }),
  );
};
const beats = (minutes: readonly number[], given: Partial<HeartbeatFacts> = {}): Row[] =>
  minutes.map((each) => beat(each, given));

interface Case {
  readonly of: string;
  readonly tables: Tables;
  /** VmName, State, FirstHeartbeatAt, LastHeartbeatAt, LastRecordAt, IsSilent. */
  readonly rows: readonly string[];
}

const eviction = event({ eventType: 'Preempt', notBefore: at(32) });
const evicted = recordsBy('web_0', [nothing, { events: [eviction] }, { events: [started(eviction)], after: 30 }]);

const covered: readonly Case[] = [
  {
    of: 'a bridge that was last heard from two and a half hours ago',
    tables: { heartbeats: beats([0, 60, 120]), now: 4.5 * hour },
    rows: ['web_0 | running | 12:00:00 | 14:00:00 | - | false'],
  },
  {
    of: 'the same a second later',
    tables: { heartbeats: beats([0, 60, 120]), now: 4.5 * hour + 1 },
    rows: ['web_0 | running | 12:00:00 | 14:00:00 | - | true'],
  },
  {
    of: 'a bridge of which every heartbeat arrived twice',
    tables: { heartbeats: beats([0, 0, 0, 60, 60, 60, 120, 120, 120]), now: 4.5 * hour },
    rows: ['web_0 | running | 12:00:00 | 14:00:00 | - | false'],
  },
  {
    of: 'a bridge that reports once a day',
    tables: { heartbeats: beats([0, 1440, 2880, 4320], { intervalMinutes: 1440 }), now: 95 * hour },
    rows: ['web_0 | running | 12:00:00 | 03-04 12:00:00 | - | false'],
  },
  {
    of: 'a bridge that reported once',
    tables: { heartbeats: beats([0]), now: 2.5 * hour + 1 },
    rows: ['web_0 | running | 12:00:00 | 12:00:00 | - | true'],
  },
  {
    of: 'a bridge that should report every ten minutes',
    tables: { heartbeats: beats([0, 10, 20, 30], { intervalMinutes: 10 }), now: 56 * minute },
    rows: ['web_0 | running | 12:00:00 | 12:30:00 | - | true'],
  },
  {
    of: 'a bridge that should report every four hours, once late',
    tables: { heartbeats: beats([0, 240, 480, 960], { intervalMinutes: 240 }), now: 24 * hour },
    rows: ['web_0 | running | 12:00:00 | 03-02 04:00:00 | - | false'],
  },
  {
    of: 'a bridge of a version that does not report its interval: an hour is usual',
    tables: {
      heartbeats: [
        { ...beat(0), IntervalMinutes: null },
        { ...beat(1, { vm: 'web_1' }), IntervalMinutes: null },
      ],
      now: 2.5 * hour + 1,
    },
    rows: ['web_0 | running | 12:00:00 | 12:00:00 | - | true', 'web_1 | running | 12:01:00 | 12:01:00 | - | false'],
  },
  {
    of: 'a bridge that starts again and again',
    tables: {
      heartbeats: [0, 2, 4, 6].map((minutes) => beat(minutes, { state: 'starting' })),
      now: 2 * hour,
    },
    rows: ['web_0 | starting | 12:00:00 | 12:06:00 | - | false'],
  },
  {
    of: 'a bridge that has just started: its second heartbeat comes at any moment of the first hour',
    tables: { heartbeats: [beat(0, { state: 'starting' }), beat(5)], now: 2 * hour },
    rows: ['web_0 | running | 12:00:00 | 12:05:00 | - | false'],
  },
  {
    of: 'a bridge that was stopped',
    tables: { heartbeats: [...beats([0, 60]), beat(61, { state: 'stopping', stopReason: 'asked' })], now: 24 * hour },
    rows: ['web_0 | stopping | 12:00:00 | 13:01:00 | - | false'],
  },
  {
    of: 'a bridge that sends no heartbeats',
    tables: { records: recordsBy('web_0', [nothing, { events: [event()] }]), now: 24 * hour },
    rows: ['web_0 | - | - | - | 12:00:02 | false'],
  },
  {
    of: 'a VM that Azure deleted as announced',
    tables: { records: evicted, heartbeats: beats([-60, 0]), now: 24 * hour },
    rows: ['web_0 | running | 11:00:00 | 12:00:00 | 12:00:32 | false'],
  },
  {
    of: 'a VM that came back from an eviction, and fell silent later',
    tables: { records: evicted, heartbeats: beats([-60, 0, 60, 120]), now: 24 * hour },
    rows: ['web_0 | running | 11:00:00 | 14:00:00 | 12:00:32 | true'],
  },
  {
    of: 'tests',
    tables: { heartbeats: [{ ...beat(0), IsTest: true }] },
    rows: [],
  },
];

test.each(covered)('the coverage of $of', ({ tables, rows }) => {
  const asked =
    'VmBridgeCoverage() | sort by VmName asc | project VmName, State, FirstHeartbeatAt, LastHeartbeatAt, LastRecordAt, IsSilent';
  expect(ask(asked, tables)).toEqual(rows);
});

test('a VM is in the coverage once, however its id is spelled, with its last report', () => {
  const { vmId } = observerNamed('web_0');
  const newer = beat(60, { bridgeVersion: '2.0.0', lastPosition: 40, openEvents: 2, configHash: 'new' });
  const heartbeats = [newer, { ...beat(0), VmId: vmId.toUpperCase() }, beat(0, { vm: 'web_1' })];
  const asked =
    'VmBridgeCoverage() | sort by VmName asc | project VmName, BridgeVersion, LastPosition, OpenEvents, ConfigHash, ClockOffsetSeconds, DeadLetters';
  expect(ask(asked, { heartbeats })).toEqual([
    'web_0 | 2.0.0 | 40 | 2 | new | -1 | 3',
    'web_1 | 1.2.3 | 17 | 1 | 0123456789abcdef | -1 | 3',
  ]);
});

/** The bridge of one VM up for a month, at its last heartbeat. */
const month = (given: Partial<HeartbeatFacts>) =>
  beat(0, {
    polls: {
      polls: 2_592_000,
      failedPolls: {},
      eventsSeen: 0,
      eventsOurs: 0,
      clockOffsetSeconds: 0,
      lastDocument: null,
    },
    ...given,
  });
const recent = (polls: number, failedPolls: number) => ({ recent: { polls, failedPolls } });

test.each([
  { of: 'none', heartbeats: [month(recent(3600, 0))], share: '0' },
  { of: 'a quarter since the heartbeat before', heartbeats: [month(recent(3600, 900))], share: '0.25' },
  { of: 'all of the last hour, after a month without a failure', heartbeats: [month(recent(3600, 3600))], share: '1' },
  {
    of: 'all of last week, and none since',
    heartbeats: [beat(-60, recent(3600, 3600)), month(recent(3600, 0))],
    share: '0',
  },
  { of: 'before the first poll', heartbeats: [month(recent(0, 0))], share: '-' },
  {
    of: 'in a version that does not report it',
    heartbeats: [{ ...month({}), RecentPolls: null, RecentFailedPolls: null }],
    share: '-',
  },
])('the share of polls that failed: $of', ({ heartbeats, share }) => {
  expect(ask('VmBridgeCoverage() | project PollFailureShare', { heartbeats })).toEqual([share]);
});

test.each([
  { of: 'running, with a document a second ago', given: { lastDocumentAgeMs: 1000 }, blind: 'false' },
  { of: 'running, ten minutes after its last document', given: { lastDocumentAgeMs: 600_000 }, blind: 'false' },
  { of: 'running, longer than that', given: { lastDocumentAgeMs: 601_000 }, blind: 'true' },
  { of: 'blind for forty hours', given: { lastDocumentAgeMs: 40 * 3_600_000 }, blind: 'true' },
  { of: 'that has just started', given: { state: 'starting', lastDocumentAgeMs: 3_600_000 } as const, blind: 'false' },
  { of: 'that stops', given: { state: 'stopping', lastDocumentAgeMs: 3_600_000 } as const, blind: 'false' },
  { of: 'that is silent', given: { lastDocumentAgeMs: 3_600_000 }, now: 3 * hour, blind: 'false' },
])('a bridge $of is blind: $blind', ({ given, now = hour, blind }) => {
  expect(ask('VmBridgeCoverage() | project IsBlind', { heartbeats: [beat(0, given)], now })).toEqual([blind]);
});

test('a bridge of a version that does not report the age of its document is not called blind', () => {
  const heartbeats = [{ ...beat(0), LastDocumentAgeSeconds: null }];
  expect(ask('VmBridgeCoverage() | project IsBlind, LastDocumentAgeSeconds', { heartbeats })).toEqual(['false | -']);
});

test('the operating system of a VM is that of its heartbeats, or of its records where its bridge is older', () => {
  const older = beat(0, { vm: 'web_1' });
  const heartbeats = [beat(0, { observer: observerNamed('web_0', { osType: 'Windows' }) }), { ...older, OsType: null }];
  const listed = event({ eventType: 'Freeze', resources: ['web_1'] });
  const records = recordsBy('web_1', [nothing, { events: [listed] }], { observer: { osType: 'Windows' } });
  const rows = ask('VmBridgeCoverage() | sort by VmName asc | project VmName, OsType', { heartbeats, records });
  expect(rows).toEqual(['web_0 | Windows', 'web_1 | Windows']);
});
