import type { GivenRow } from '../../../tools/kql/index.ts';
import { agentReports, clock, play, seconds } from '../stage.ts';
import { adding, type QueryCase } from './case.ts';

type Change = NonNullable<QueryCase['change']>;

const one = { web_0: {} };
const freeze = [play('freeze', 0, 'web_0')];

const without =
  (isLost: (row: GivenRow) => boolean): Change =>
  (tables) => ({ ...tables, VmLifecycle_CL: tables.VmLifecycle_CL.filter((row) => !isLost(row)) });

/** The records of a stage arrive after these delays in seconds, in order. */
const arrivingAfter =
  (...delays: readonly number[]): Change =>
  (tables) => ({
    ...tables,
    VmLifecycle_CL: tables.VmLifecycle_CL.map((row, index) => ({
      ...row,
      'ingestion_time()': new Date(Date.parse(String(row.ObservedAt)) + 1000 * (delays[index] ?? 0)).toISOString(),
    })),
  });

const asTests: Change = (tables) => ({
  ...tables,
  VmLifecycle_CL: tables.VmLifecycle_CL.map((row) => ({ ...row, IsTest: true, 'ingestion_time()': clock(60) })),
});

const firstTwice: Change = (tables) => ({
  ...tables,
  VmLifecycle_CL: [...tables.VmLifecycle_CL, ...tables.VmLifecycle_CL.slice(0, 1)],
});

export const pipelineCases: readonly QueryCase[] = [
  {
    query: 'coverage',
    of: 'bridges that are not well, each in its own way, a VM without one, and one that is well',
    stage: {
      vms: {
        web_0: {},
        web_2: { leavesAt: seconds(-30) },
        web_3: { leavesAt: seconds(-30) },
        web_4: { leavesAt: seconds(-30), reportsStop: true },
        web_5: { hubBehindMinutes: 300 },
        web_6: { pollFailureShare: 0.2 },
        web_7: { deadLetters: 1 },
        web_8: { clockOffsetSeconds: -90 },
        web_9: { leavesAt: seconds(-30) },
      },
      plays: [play('freeze', 0, 'web_5')],
      askedAt: 180,
    },
    change: adding({
      Heartbeat: [
        agentReports('web_0', 179),
        agentReports('web_1', 179),
        agentReports('web_2', 179),
        agentReports('web_3', -29),
      ],
    }),
    show: ['Problem', 'VmName', 'LastHeartbeatAt', 'AgentAt'],
    rows: [
      'clock is wrong | web_8 | 15:00:00 | -',
      'dead letters | web_7 | 15:00:00 | -',
      'no bridge | web-1 | - | 14:59:00',
      'polls fail | web_6 | 15:00:00 | -',
      'records pending | web_5 | 15:00:00 | -',
      'silent | web_9 | 11:00:00 | -',
      'silent, but the VM runs | web_2 | 11:00:00 | 14:59:00',
      'silent, like the VM | web_3 | 11:00:00 | 11:31:00',
      'stopped: asked | web_4 | 11:30:00 | -',
    ],
  },
  {
    query: 'coverage',
    of: 'silent bridges on Linux and Windows, one from before heartbeats told which, and a VM with Windows without one',
    stage: {
      vms: {
        web_0: { leavesAt: seconds(-30), osType: 'Windows' },
        web_1: { leavesAt: seconds(-30) },
        web_2: { leavesAt: seconds(30), osType: 'Windows' },
      },
      plays: [play('freeze', 0, 'web_2')],
      askedAt: 240,
    },
    change: (tables) =>
      adding({ Heartbeat: [{ ...agentReports('web_9', 239), OSType: 'Windows' }] })({
        ...tables,
        VmLifecycleBridge_CL: tables.VmLifecycleBridge_CL.map((row) =>
          row.VmName === 'web_2' ? { ...row, OsType: null } : row,
        ),
      }),
    show: ['Problem', 'VmName', 'OsType'],
    rows: [
      'no bridge | web-9 | Windows',
      'silent | web_0 | Windows',
      'silent | web_1 | Linux',
      'silent | web_2 | Windows',
    ],
  },
  {
    query: 'coverage',
    of: 'a bridge without a valid document for 40 hours after a day of valid ones, and one that has discarded a record',
    stage: {
      vms: {
        web_0: { blind: { from: new Date(clock(24 * 60)), to: new Date(clock(70 * 60)) } },
        web_1: { expiredAt: [new Date(clock(60))] },
        web_2: {},
      },
      askedAt: 64 * 60,
    },
    show: ['Problem', 'VmName', 'LastDocumentAgeSeconds'],
    rows: ['no answer from the metadata service | web_0 | 144000', 'records discarded, at some time | web_1 | 0.5'],
  },
  {
    query: 'coverage',
    of: 'a VM that is well',
    stage: { vms: one, plays: freeze, askedAt: 60 },
    change: adding({ Heartbeat: [agentReports('web_0', 59)] }),
    show: ['Problem'],
    rows: [],
  },
  {
    query: 'pipeline-latency',
    of: 'an announcement that took ten seconds, a start that took twenty and an end that took ten minutes',
    stage: { vms: one, plays: freeze, askedAt: 60 },
    change: arrivingAfter(10, 20, 600),
    show: ['Location', 'Records', 'P50Seconds', 'P95Seconds', 'LongestSeconds'],
    rows: ['westeurope | 3 | 20 | 600 | 600'],
  },
  {
    query: 'pipeline-latency',
    of: 'three records that arrive after ten seconds, and again after an hour',
    stage: { vms: one, plays: freeze, askedAt: 120 },
    change: (tables) => {
      const prompt = arrivingAfter(10, 10, 10)(tables).VmLifecycle_CL;
      return { ...tables, VmLifecycle_CL: [...arrivingAfter(3600, 3600, 3600)(tables).VmLifecycle_CL, ...prompt] };
    },
    show: ['Records', 'P95Seconds', 'LongestSeconds', 'UrgentP95Seconds'],
    rows: ['3 | 10 | 10 | 10'],
  },
  {
    query: 'pipeline-latency',
    of: 'tests',
    stage: { vms: one, plays: freeze, askedAt: 60 },
    change: asTests,
    show: ['Location'],
    rows: [],
  },
  {
    query: 'pipeline-integrity',
    of: 'three records of which the second is lost and the first arrives twice',
    stage: { vms: one, plays: freeze, askedAt: 60 },
    change: (tables) => without(({ Sequence }) => Sequence === 2)(firstTwice(tables)),
    show: ['VmScaleSetName', 'Arrived', 'Records', 'Copies', 'CopiesPercent', 'MissingSteps', 'WithMissing'],
    rows: ['web | 3 | 2 | 1 | 33.3 | 1 | web_0'],
  },
  {
    query: 'pipeline-integrity',
    of: 'an event of which the first step is lost, and one of which nothing is',
    stage: { vms: { ...one, web_1: {} }, plays: [...freeze, play('reboot', 0, 'web_1')], askedAt: 60 },
    change: without(({ VmName, Sequence }) => VmName === 'web_0' && Sequence === 1),
    show: ['Arrived', 'Records', 'Copies', 'MissingSteps', 'WithMissing'],
    rows: ['5 | 5 | 0 | 1 | web_0'],
  },
  {
    query: 'pipeline-integrity',
    of: 'a bridge that was updated in the middle of an event',
    stage: { vms: one, plays: freeze, askedAt: 60 },
    change: (tables) => ({
      ...tables,
      VmLifecycle_CL: tables.VmLifecycle_CL.map((row) => ({
        ...row,
        BridgeVersion: row.Sequence === 1 ? '1.0.0' : '1.1.0',
      })),
    }),
    show: ['Arrived', 'Records', 'Copies', 'MissingSteps', 'WithMissing'],
    rows: ['3 | 3 | 0 | 0 | none'],
  },
  {
    query: 'pipeline-integrity',
    of: 'a bridge that lost its state after three steps of an event, and reported the second again as the first of another stream',
    stage: { vms: one, plays: freeze, askedAt: 60 },
    change: (tables) => ({
      ...tables,
      VmLifecycle_CL: [
        { ...tables.VmLifecycle_CL[1], StreamId: 'another stream', Sequence: 1, Position: 1 },
        ...tables.VmLifecycle_CL,
      ],
    }),
    show: ['Arrived', 'Records', 'Copies', 'MissingSteps'],
    rows: ['4 | 4 | 0 | 0'],
  },
  {
    query: 'pipeline-integrity',
    of: 'a fleet to which nothing happens',
    stage: { vms: one, askedAt: 60 },
    show: ['VmScaleSetName'],
    rows: [],
  },
  {
    query: 'position-gaps',
    of: 'the second of three records, lost, in a stream of copies',
    stage: { vms: one, plays: freeze, askedAt: 60 },
    change: (tables) => without(({ Position }) => Position === 2)(firstTwice(tables)),
    show: ['VmName', 'Missing', 'FromPosition', 'ToPosition', 'DeadLetters', 'Waiting', 'LastHeartbeatAt'],
    rows: ['web_0 | 1 | 2 | 2 | 0 | 0 | 13:00:00'],
  },
  {
    query: 'position-gaps',
    of: 'the last two of three records, known only from a heartbeat',
    stage: { vms: { web_0: { deadLetters: 2 } }, plays: freeze, askedAt: 121 },
    change: without(({ Position }) => Number(Position) >= 2),
    show: ['VmName', 'Missing', 'FromPosition', 'ToPosition', 'DeadLetters'],
    rows: ['web_0 | 2 | 2 | 3 | 2'],
  },
  {
    query: 'position-gaps',
    of: 'all of them, the first too',
    stage: { vms: one, plays: freeze, askedAt: 121 },
    change: without(() => true),
    show: ['Missing', 'FromPosition', 'ToPosition'],
    rows: ['3 | 1 | 3'],
  },
  {
    query: 'position-gaps',
    of: 'records of the last hour, which may still be on their way',
    stage: { vms: one, plays: freeze, askedAt: 61 },
    change: without(({ Position }) => Position === 3),
    show: ['Missing'],
    rows: [],
  },
  {
    query: 'position-gaps',
    of: 'a stream with copies and a test, and nothing lost',
    stage: { vms: one, plays: freeze, askedAt: 121 },
    change: (tables) => {
      const { VmLifecycle_CL, ...rest } = firstTwice(tables);
      return { ...rest, VmLifecycle_CL: VmLifecycle_CL.map((row) => ({ ...row, IsTest: row.Position === 2 })) };
    },
    show: ['Missing'],
    rows: [],
  },
  {
    query: 'versions-by-ring',
    of: 'a canary of another version, and a VM without a known ring',
    stage: {
      vms: { web_0: { tags: { ring: 'canary' }, bridgeVersion: '1.1.0' }, web_1: {} },
      plays: freeze,
      askedAt: 60,
    },
    show: ['Ring', 'BridgeVersion', 'Vms'],
    rows: ['canary | 1.1.0 | 1', 'not told | 1.0.0 | 1'],
  },
  {
    query: 'versions-by-ring',
    of: 'a ring in which no VM had an event',
    stage: { vms: { web_0: { tags: { ring: 'early' } } }, askedAt: 60 },
    show: ['Ring', 'BridgeVersion', 'Vms'],
    rows: ['early | 1.0.0 | 1'],
  },
  {
    query: 'versions-by-ring',
    of: 'a ring of which the VM with Windows stayed at the version before',
    stage: {
      vms: {
        web_0: { tags: { ring: 'canary' }, bridgeVersion: '1.1.0' },
        web_1: { tags: { ring: 'canary' }, osType: 'Windows' },
      },
      plays: [play('freeze', 0, 'web_0'), play('freeze', 0, 'web_1')],
      askedAt: 60,
    },
    show: ['Ring', 'OsType', 'BridgeVersion', 'Vms'],
    rows: ['canary | Linux | 1.1.0 | 1', 'canary | Windows | 1.0.0 | 1'],
  },
  {
    query: 'versions-by-ring',
    of: 'a bridge that was stopped',
    stage: { vms: { web_0: { leavesAt: seconds(30), reportsStop: true } }, askedAt: 60 },
    show: ['Ring'],
    rows: [],
  },
];
