import { expect, test } from 'vitest';
import { type HeartbeatFacts, heartbeatRow } from '../../../src/heartbeat/row.ts';
import type { Row } from '../../../src/sinks/log-analytics/encode.ts';
import { sampleFacts } from '../../heartbeat/facts.ts';
import { at, event, nothing, observerNamed, started } from '../../support/story.ts';
import { ask, type Tables, toldBy } from './ask.ts';

const minute = 60;
const hour = 60 * minute;

/** A sign of life of a running bridge of web_0, so many minutes after noon. */
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
const beats = (minutes: readonly number[]): Row[] => minutes.map((each) => beat(each));

interface Case {
  readonly of: string;
  readonly tables: Tables;
  /** VmName, State, FirstHeartbeatAt, LastHeartbeatAt, LastRecordAt, IsSilent. */
  readonly rows: readonly string[];
}

const eviction = event({ eventType: 'Preempt', notBefore: at(32) });
const evicted = toldBy('web_0', [nothing, { events: [eviction] }, { events: [started(eviction)], after: 30 }]);

const covered: readonly Case[] = [
  {
    of: 'a bridge that was heard of two and a half hours ago',
    tables: { heartbeats: beats([0, 60, 120]), now: 4.5 * hour },
    rows: ['web_0 | running | 12:00:00 | 14:00:00 | - | false'],
  },
  {
    of: 'the same a second later',
    tables: { heartbeats: beats([0, 60, 120]), now: 4.5 * hour + 1 },
    rows: ['web_0 | running | 12:00:00 | 14:00:00 | - | true'],
  },
  {
    of: 'a bridge of which every sign of life arrived twice',
    tables: { heartbeats: beats([0, 0, 0, 60, 60, 60, 120, 120, 120]), now: 4.5 * hour },
    rows: ['web_0 | running | 12:00:00 | 14:00:00 | - | false'],
  },
  {
    of: 'a bridge that is heard of once a day',
    tables: { heartbeats: beats([0, 1440, 2880, 4320]), now: 95 * hour },
    rows: ['web_0 | running | 12:00:00 | 03-04 12:00:00 | - | false'],
  },
  {
    of: 'a bridge that was heard of once: an hour is what is usual',
    tables: { heartbeats: beats([0]), now: 2.5 * hour + 1 },
    rows: ['web_0 | running | 12:00:00 | 12:00:00 | - | true'],
  },
  {
    of: 'a bridge that is to be heard of every ten minutes',
    tables: { heartbeats: beats([0, 10, 20, 30]), now: 56 * minute },
    rows: ['web_0 | running | 12:00:00 | 12:30:00 | - | true'],
  },
  {
    of: 'a bridge that is to be heard of every four hours, once late',
    tables: { heartbeats: beats([0, 240, 480, 960]), now: 24 * hour },
    rows: ['web_0 | running | 12:00:00 | 03-02 04:00:00 | - | false'],
  },
  {
    of: 'a bridge that is too new to have an interval, in a fleet that is to be heard of every four hours',
    tables: { heartbeats: [...beats([0, 240, 480]), beat(480, { vm: 'web_1', state: 'starting' })], now: 17 * hour },
    rows: ['web_0 | running | 12:00:00 | 20:00:00 | - | false', 'web_1 | starting | 20:00:00 | 20:00:00 | - | false'],
  },
  {
    of: 'a bridge that starts again and again: that is no interval',
    tables: {
      heartbeats: [0, 2, 4, 6].map((minutes) => beat(minutes, { state: 'starting' })),
      now: 2 * hour,
    },
    rows: ['web_0 | starting | 12:00:00 | 12:06:00 | - | false'],
  },
  {
    of: 'a bridge that has just started: its second sign of life comes at any moment of the first hour',
    tables: { heartbeats: [beat(0, { state: 'starting' }), beat(5)], now: 2 * hour },
    rows: ['web_0 | running | 12:00:00 | 12:05:00 | - | false'],
  },
  {
    of: 'a bridge that was stopped',
    tables: { heartbeats: [...beats([0, 60]), beat(61, { state: 'stopping', stopReason: 'asked' })], now: 24 * hour },
    rows: ['web_0 | stopping | 12:00:00 | 13:01:00 | - | false'],
  },
  {
    of: 'a bridge that gives no signs of life',
    tables: { records: toldBy('web_0', [nothing, { events: [event()] }]), now: 24 * hour },
    rows: ['web_0 | - | - | - | 12:00:02 | false'],
  },
  {
    of: 'a VM that Azure took away as announced',
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

test('a VM is in the coverage once, however its id is spelled, with what it said last', () => {
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

const polls = (count: number, failedPolls: Readonly<Record<string, number>>) => ({
  polls: { polls: count, failedPolls, eventsSeen: 0, eventsOurs: 0, clockOffsetSeconds: 0 },
});

test.each([
  { of: 'none', ...polls(3600, {}), share: '0' },
  { of: 'some for two reasons', ...polls(1000, { timeout: 200, 'http-503': 50 }), share: '0.25' },
  { of: 'before the first poll', ...polls(0, {}), share: '-' },
])('the share of polls that failed: $of', ({ polls: counted, share }) => {
  expect(ask('VmBridgeCoverage() | project PollFailureShare', { heartbeats: [beat(0, { polls: counted })] })).toEqual([
    share,
  ]);
});
