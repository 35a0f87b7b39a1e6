import { expect, test } from 'vitest';
import { recordApproval } from '../../../src/lifecycle/approved-record.ts';
import type { Row } from '../../../src/sinks/log-analytics/encode.ts';
import { heartbeatRows } from '../../support/fleet-rows/heartbeats.ts';
import {
  at,
  event,
  nothing,
  type ObservationSpec,
  observe,
  observerNamed,
  started,
} from '../../support/observations.ts';
import { ask, recordsBy, type Tables } from './query.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

const ofTwo = event({ resources: ['web_0', 'web_1'] });
const announced: ObservationSpec = { events: [ofTwo] };
const begun: ObservationSpec = { events: [started(ofTwo)], after: 15 * minute };
const over: ObservationSpec = { events: [], after: 5 * minute };
const whole = [nothing, announced, begun, over];

const eviction = event({ eventType: 'Preempt', resources: ['web_0'], notBefore: at(32) });
const evicted: ObservationSpec[] = [nothing, { events: [eviction] }, { events: [started(eviction)], after: 30 }];

const distant = event({ eventType: 'Redeploy', notBefore: at(7 * day) });

/** Heartbeats of a VM, once an hour from noon on. */
const alive = (vmName: string, hours: number): Row[] =>
  heartbeatRows({
    observer: observerNamed(vmName),
    records: [],
    streamId: 'stream',
    bridgeVersion: '1.0.0',
    from: new Date(at(0)),
    to: new Date(at(hours * hour)),
    everyMinutes: 60,
  });

interface Case {
  readonly of: string;
  readonly tables: Tables;
  /** VmName, SeenFrom, Witness, ScheduledAt, StartedAt, EndedAt, Outcome, Evidence, IsOpen, PresumedEnded. */
  readonly rows: readonly string[];
}

const rowsOfEvents =
  'VmEventTimeline() | sort by EventId asc, VmName asc | project VmName, SeenFrom, Witness, ScheduledAt, StartedAt, EndedAt, Outcome, Evidence, IsOpen, PresumedEnded';

const reported: readonly Case[] = [
  {
    of: 'two VMs that saw everything, each by itself',
    tables: { records: [...recordsBy('web_0', whole), ...recordsBy('web_1', whole, { from: Date.parse(at(1)) })] },
    rows: [
      'web_0 | itself | - | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
      'web_1 | itself | - | 12:00:03 | 12:15:03 | 12:20:03 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'a VM without a bridge, reported by its neighbour',
    tables: { records: recordsBy('web_0', whole) },
    rows: [
      'web_0 | itself | - | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
      'web_1 | witness | web_0 | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'VMs reported only by a witness',
    tables: { records: recordsBy('web_9', whole, { witnessRate: 1 }) },
    rows: [
      'web_0 | witness | web_9 | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
      'web_1 | witness | web_9 | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'copies in the wrong order',
    tables: { records: [...recordsBy('web_0', whole), ...recordsBy('web_0', whole)].reverse() },
    rows: [
      'web_0 | itself | - | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
      'web_1 | witness | web_0 | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'a VM that joined late: by its own sighting',
    tables: {
      records: [
        ...recordsBy('web_0', whole),
        ...recordsBy('web_1', [{ ...announced, after: 5 * minute }, { ...begun, after: 10 * minute }, over]),
      ],
    },
    rows: [
      'web_0 | itself | - | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
      'web_1 | itself | - | 12:05:00 | 12:15:00 | 12:20:00 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'an event that was canceled',
    tables: { records: recordsBy('web_0', [nothing, { events: [event()] }, nothing]) },
    rows: ['web_0 | itself | - | 12:00:02 | - | 12:00:03 | Canceled | left-before-not-before | false | false'],
  },
  {
    of: 'an end that the VM knows badly, and another well',
    tables: {
      records: [
        ...recordsBy('web_0', [nothing, announced, { events: [], after: 1000, incarnation: 9 }]),
        ...recordsBy('web_9', whole, { witnessRate: 1 }),
      ],
    },
    rows: [
      'web_0 | itself | web_9 | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
      'web_1 | witness | web_9 | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'an end of unknown cause',
    tables: {
      records: recordsBy('web_0', [nothing, { events: [event()] }, { events: [], after: 1000, incarnation: 9 }]),
    },
    rows: [
      'web_0 | itself | - | 12:00:02 | - | 12:16:42 | Ended | incarnation-gap observation-gap not-before-passed | false | false',
    ],
  },
  {
    of: 'an eviction of which a witness sees the end',
    tables: {
      records: [
        ...recordsBy('web_0', evicted),
        ...recordsBy('web_9', [...evicted, { events: [], after: 30 }], { witnessRate: 1 }),
      ],
    },
    rows: [
      'web_0 | itself | web_9 | 12:00:02 | 12:00:32 | 12:01:02 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'an eviction whose end is not observed, ten minutes after NotBefore',
    tables: { records: recordsBy('web_0', evicted), now: 32 + 10 * minute },
    rows: ['web_0 | itself | - | 12:00:02 | 12:00:32 | - | - | - | true | false'],
  },
  {
    of: 'an eviction whose end is not observed, later than that',
    tables: { records: recordsBy('web_0', evicted), now: 33 + 10 * minute },
    rows: ['web_0 | itself | - | 12:00:02 | 12:00:32 | - | - | - | false | true'],
  },
  {
    of: 'a restart that hangs, of a VM that reports',
    tables: {
      records: recordsBy('web_0', [nothing, { events: [event()] }, { events: [started(event())], after: 15 * minute }]),
      heartbeats: alive('web_0', 40),
      now: 41 * hour,
    },
    rows: ['web_0 | itself | - | 12:00:02 | 12:15:02 | - | - | - | true | false'],
  },
  {
    of: 'an open event of a VM that has been silent for a day',
    tables: {
      records: recordsBy('web_0', [nothing, { events: [event()] }, { events: [started(event())], after: 15 * minute }]),
      heartbeats: alive('web_0', 2),
      now: 2 * hour + day + 1,
    },
    rows: ['web_0 | itself | - | 12:00:02 | 12:15:02 | - | - | - | false | true'],
  },
  {
    of: 'an open event of a silent VM, of which a witness is alive',
    tables: {
      records: [
        ...recordsBy('web_0', [nothing, { events: [event()] }]),
        ...recordsBy('web_9', [nothing, { events: [event()] }], { witnessRate: 1 }),
      ],
      heartbeats: [...alive('web_0', 2), ...alive('web_9', 40)],
      now: 41 * hour,
    },
    rows: ['web_0 | itself | - | 12:00:02 | - | - | - | - | true | false'],
  },
  {
    of: 'an event a week ahead, of a bridge that sends no heartbeats',
    tables: { records: recordsBy('web_0', [nothing, { events: [distant] }]), now: 3 * day },
    rows: ['web_0 | itself | - | 12:00:02 | - | - | - | - | true | false'],
  },
  {
    of: 'a week later, of a bridge that sends no heartbeats and reported no end',
    tables: { records: recordsBy('web_0', [nothing, { events: [distant] }]), now: 8 * day + 1 },
    rows: ['web_0 | itself | - | 12:00:02 | - | - | - | - | false | true'],
  },
  {
    of: 'an event that came back: open, and not started again',
    tables: {
      records: recordsBy('web_0', [...whole, { events: [ofTwo], after: 10 }]),
    },
    rows: [
      'web_0 | itself | - | 12:20:12 | - | - | - | - | true | false',
      'web_1 | witness | web_0 | 12:20:12 | - | - | - | - | true | false',
    ],
  },
  {
    of: 'a VM that is not meant any more, as itself and another see it',
    tables: {
      records: [
        ...recordsBy('web_0', [nothing, announced, { events: [event({ resources: ['web_1'] })], after: 5 * minute }]),
        ...recordsBy('web_1', [
          nothing,
          announced,
          { events: [event({ resources: ['web_1'] })], after: 5 * minute },
          { events: [started(event({ resources: ['web_1'] }))], after: 10 * minute },
          over,
        ]),
      ],
    },
    rows: [
      'web_0 | itself | - | 12:00:02 | - | 12:05:02 | Canceled | left-resources | false | false',
      'web_1 | itself | - | 12:00:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'a VM that is meant from a later list on',
    tables: {
      records: recordsBy('web_1', [
        nothing,
        { events: [event()] },
        { events: [ofTwo], after: 5 * minute },
        { ...begun, after: 10 * minute },
        over,
      ]),
    },
    rows: [
      'web_0 | witness | web_1 | 12:05:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
      'web_1 | itself | - | 12:05:02 | 12:15:02 | 12:20:02 | Completed | left-after-started not-before-passed | false | false',
    ],
  },
  {
    of: 'a test',
    tables: { records: recordsBy('web_0', whole).map((record) => ({ ...record, isTest: true })) },
    rows: [],
  },
];

test.each(reported)('the timeline of $of', ({ tables, rows }) => {
  expect(ask(rowsOfEvents, tables)).toEqual(rows);
});

const frozen: ObservationSpec[] = [
  nothing,
  { events: [event()], physicalHost: 'AMS07' },
  { events: [started(event())], after: 15 * minute },
  { events: [started(event())], after: 5, pauseMs: 7300 },
  { events: [], after: 5 * minute, physicalHost: 'AMS09' },
];

test('a timeline shows the cost of a freeze, the migration of the VM, and the kind of impact', () => {
  const records = recordsBy('web_0', frozen, {
    observer: { zone: '2', faultDomain: '3', placementGroupId: 'group-1', tags: { owner: 'web-team' } },
  });
  const cost =
    'NoticeSeconds, StartedSeconds, ObservedPauseMs, ObservedPauseTotalMs, ObservedOutageSeconds, PreviousPhysicalHost, PhysicalHost';
  expect(ask(`VmEventTimeline() | project ${cost}`, { records })).toEqual([
    '900 | 305 | 7300 | 7300 | - | AMS07 | AMS09',
  ]);
  const vm =
    'VmScaleSetName, PlacementGroupId, Location, Zone, FaultDomain, VmSize, Tags, AffectedResourceCount, LastObservedAt';
  expect(ask(`VmEventTimeline() | project ${vm}`, { records })).toEqual([
    'web | group-1 | westeurope | 2 | 3 | Standard_D2s_v5 | {"owner":"web-team"} | 1 | 12:20:07',
  ]);
});

test('a VM reported only by a witness has no properties of the witness', () => {
  const observations = frozen.map((observation) => ({
    ...observation,
    events: observation.events.map((one) => event({ ...one, resources: ['web_4'] })),
  }));
  const records = recordsBy('web_0', observations, { witnessRate: 1, observer: { zone: '2' } });
  const own =
    'VmName, VmId, ResourceId, Zone, FaultDomain, VmSize, ObservedPauseMs, ObservedOutageSeconds, PhysicalHost, tostring(Tags)';
  expect(ask(`VmEventTimeline() | project ${own}`, { records })).toEqual(['web_4 | - | - | - | - | - | - | - | - | -']);
  const held = 'VmScaleSetName, SubscriptionId, ResourceGroup, Location, NoticeSeconds, StartedSeconds';
  expect(ask(`VmEventTimeline() | project ${held}`, { records })).toEqual(['web | s | rg | westeurope | 900 | 305']);
});

test('an approval that Azure accepted is in the timeline of every VM of the event, a refused one is not', () => {
  const { records, state } = observe([nothing, announced]);
  const approved = (outcome: 'accepted' | 'refused') =>
    recordApproval(state, {
      eventId: ofTwo.eventId,
      outcome,
      cause: 'by-hand',
      at: new Date(at(30)),
      observer: observerNamed('web_0'),
      bridgeVersion: '1.0.0',
    }).record;
  const approvals = 'VmEventTimeline() | sort by VmName asc | project VmName, ApprovedAt, IsOpen';
  expect(ask(approvals, { records: [...records, approved('accepted')] })).toEqual([
    'web_0 | 12:00:30 | true',
    'web_1 | 12:00:30 | true',
  ]);
  expect(ask(approvals, { records: [...records, approved('refused')] })).toEqual([
    'web_0 | - | true',
    'web_1 | - | true',
  ]);
});

/** It goes down with the start, which it sees two minutes later, after its reboot. */
const rebooted: ObservationSpec[] = [
  nothing,
  announced,
  { events: [ofTwo], after: 14 * minute + 57 },
  { events: [started(ofTwo)], after: 2 * minute, bootId: 'boot-2', incarnation: 7 },
  { events: [], after: 5 * minute },
];
const asReboot = (observations: readonly ObservationSpec[]): ObservationSpec[] =>
  observations.map((observation) => ({
    ...observation,
    events: observation.events.map((one) => event({ ...one, eventType: 'Reboot' })),
  }));

test.each([
  {
    of: 'a VM that saw the start after its reboot, and a witness that saw it in time',
    records: [
      ...recordsBy('web_0', asReboot(rebooted)),
      ...recordsBy('web_9', asReboot(whole), { witnessRate: 1, from: Date.parse(at(-1)) }),
    ],
    row: 'web_0 | itself | web_9 | 12:15:01 | true | 120 | 12:14:59 | 12:16:59',
  },
  {
    of: 'the same without a witness',
    records: recordsBy('web_0', asReboot(rebooted)),
    row: 'web_0 | itself | - | 12:16:59 | false | 120 | 12:14:59 | 12:16:59',
  },
  {
    of: 'a VM that saw the start, went down ten seconds later and was back after a minute and a half',
    records: recordsBy(
      'web_0',
      asReboot([
        nothing,
        announced,
        begun,
        { events: [started(ofTwo)], after: 10 },
        { events: [started(ofTwo)], after: 90, bootId: 'boot-2', incarnation: 3 },
        over,
      ]),
    ),
    row: 'web_0 | itself | - | 12:15:02 | true | 90 | 12:15:02 | 12:16:32',
  },
  {
    of: 'a VM that observed no start, since the event had ended when it was back',
    records: recordsBy(
      'web_0',
      asReboot([
        nothing,
        announced,
        { events: [ofTwo], after: 15 * minute },
        { events: [], after: 200, bootId: 'boot-2', incarnation: 9 },
      ]),
    ),
    row: 'web_0 | itself | - | - | - | 200 | 12:15:02 | 12:18:22',
  },
])('the outage of $of', ({ records, row }) => {
  const columns = 'VmName, SeenFrom, Witness, StartedAt, StartSeen, ObservedOutageSeconds, OutageFrom, OutageUntil';
  expect(ask(`VmEventTimeline() | where VmName == "web_0" | project ${columns}`, { records })).toEqual([row]);
});

test('a bridge that lost its state saw the event first when it first reported it', () => {
  const before = recordsBy('web_0', [nothing, announced]);
  const after = recordsBy('web_0', [announced, { ...begun, after: 8 * minute }], { from: Date.parse(at(7 * minute)) });
  const records = [...before, ...after.map((record) => ({ ...record, streamId: 'another stream' }))];
  const columns = 'VmName, FirstSeenAt, ScheduledAt, StartedAt, NoticeSeconds';
  expect(ask(`VmEventTimeline() | where VmName == "web_0" | project ${columns}`, { records })).toEqual([
    'web_0 | 12:00:02 | 12:00:02 | 12:15:01 | -',
  ]);
});

test('heartbeats are used when an event has no end: a bridge silent for days differs from one that never sends any', () => {
  const open = recordsBy('web_0', [nothing, { events: [distant] }]);
  const presumed = (heartbeats: Row[]): string[] =>
    ask('VmEventTimeline() | project IsOpen, PresumedEnded', { records: open, heartbeats, now: 3 * day });
  expect(presumed(alive('web_0', 4))).toEqual(['false | true']);
  expect(presumed(alive('web_0', 72))).toEqual(['true | false']);
  expect(presumed(alive('web_7', 4))).toEqual(['true | false']);
});

test('a VM of an availability set that only a VM with another operating system reports has none in its row', () => {
  const records = recordsBy('web_1', whole, { observer: { osType: 'Linux' } });
  const rows = ask('VmEventTimeline() | sort by VmName asc | project VmName, SeenFrom, OsType', { records });
  expect(rows).toEqual(['web_0 | witness | -', 'web_1 | itself | Linux']);
});
