import { agentReports, clock, made, play, seconds } from '../stage.ts';
import { adding, type QueryCase } from './case.ts';

const minute = 60;

/** A restart that is not over for hours. */
const stuck = made(
  'stuck',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Reboot', noticeSeconds: 15 * minute },
  { afterSeconds: 15 * minute, do: 'start', event: 'one' },
  { afterSeconds: 10, do: 'impact', event: 'one', kind: 'restart', seconds: 2 * minute },
);

const one = { web_0: { tags: { owner: 'web-team' } } };

export const nowCases: readonly QueryCase[] = [
  {
    query: 'upcoming',
    of: 'a freeze that was announced four minutes ago, and one that has started',
    stage: {
      vms: { ...one, web_1: {} },
      plays: [play('freeze', 0, 'web_0'), play('freeze', -14, 'web_1')],
      askedAt: 4,
    },
    show: ['VmName', 'EventType', 'NotBefore', 'MinutesLeft', 'Owner', 'SaidToTake'],
    rows: ['web_0 | Freeze | 12:15:00 | 11 | web-team | 5 s'],
  },
  {
    query: 'upcoming',
    of: 'a freeze without a duration from Azure',
    stage: { vms: one, plays: [play('unknown-duration', 0, 'web_0')], askedAt: 4 },
    show: ['VmName', 'SaidToTake'],
    rows: ['web_0 | unknown'],
  },
  {
    query: 'upcoming',
    of: 'an event of a VM that cannot report, reported by its neighbour',
    stage: {
      vms: { web_0: { joinsAt: seconds(600) }, web_1: {} },
      plays: [play('reboot', 0, 'web_0')],
      witnessRate: 1,
      askedAt: 5,
    },
    show: ['VmName', 'VmScaleSetName', 'EventType', 'MinutesLeft'],
    rows: ['web_0 | web | Reboot | 10'],
  },
  {
    query: 'upcoming',
    of: 'a migration that was called off',
    stage: { vms: one, plays: [play('canceled', 0, 'web_0')], askedAt: 9 },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'next-hour',
    of: 'two VMs of a set of three, one of them started, and a VM without a set',
    stage: {
      vms: { ...one, web_1: {}, web_2: {}, 'sql-1': { scaleSet: null, sees: 'own', tags: { owner: 'data-team' } } },
      plays: [play('reboot', -15, 'web_0'), play('freeze', 0, 'web_1'), play('freeze', 1, 'sql-1')],
      askedAt: 2,
    },
    show: ['Owner', 'Name', 'NextAt', 'Started', 'ToCome', 'OfVms', 'EventTypes', 'Vms'],
    rows: [
      'web-team | web | 12:15:00 | 1 | 1 | 3 | Freeze Reboot | web_0 web_1',
      'data-team | sql-1 | 12:16:00 | 0 | 1 | 1 | Freeze | sql-1',
    ],
  },
  {
    query: 'next-hour',
    of: 'an event of other VMs',
    stage: { vms: one, plays: [play('reboot', 0, 'web_0')], askedAt: 2 },
    edit: ['let Me = ""', 'let Me = "data-team"'],
    show: ['Name'],
    rows: [],
  },
  {
    query: 'next-hour',
    of: 'a degraded host that is left in seven days',
    stage: { vms: one, plays: [play('degraded-host', 0, 'web_0')], askedAt: 2 },
    show: ['Name'],
    rows: [],
  },
  {
    query: 'in-progress',
    of: 'a freeze that began at a quarter past, and one that is still to come',
    stage: {
      vms: { ...one, web_1: {} },
      plays: [play('freeze', 0, 'web_0'), play('freeze', 10, 'web_1')],
      askedAt: 20,
    },
    show: ['Stage', 'VmName', 'EventType', 'StartedAt', 'MinutesSinceStart', 'SaidToTake', 'SeenFrom'],
    rows: ['started | web_0 | Freeze | 12:15:00 | 5 | 5 s | itself'],
  },
  {
    query: 'in-progress',
    of: 'a reboot for which the VM went down before it could report',
    stage: { vms: { web_0: { leavesAt: seconds(15) - 5 } }, plays: [play('reboot', 0, 'web_0')], askedAt: 18 },
    show: ['Stage', 'VmName', 'NotBefore', 'StartedAt', 'SaidToTake'],
    rows: ['due | web_0 | 12:15:00 | - | unknown'],
  },
  {
    query: 'in-progress',
    of: 'a reboot that ended a quarter of an hour ago, and an eviction without an observed end',
    stage: {
      vms: { web_0: {}, web_1: { leavesAt: seconds(30) + 20 } },
      plays: [play('reboot', 0, 'web_0'), play('preempt', 30, 'web_1')],
      askedAt: 42,
    },
    show: ['Stage', 'VmName', 'EventType', 'StartedAt', 'EndedAt', 'Outcome'],
    rows: ['over | web_1 | Preempt | - | - | -', 'over | web_0 | Reboot | 12:15:00 | 12:23:10 | Completed'],
  },
  {
    query: 'in-progress',
    of: 'a freeze that ended an hour ago, and one that was canceled',
    stage: {
      vms: { ...one, web_1: {} },
      plays: [play('freeze', 0, 'web_0'), play('canceled', 50, 'web_1')],
      askedAt: 80,
    },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'stuck',
    of: 'a reboot that started 46 minutes ago, whose VM reported after that',
    stage: { vms: one, plays: [play(stuck, 0, 'web_0')], askedAt: 61 },
    show: ['Stage', 'VmName', 'StartedAt', 'MinutesSince', 'LastHeardAt', 'IsHeardSince'],
    rows: ['started | web_0 | 12:15:00 | 46 | 13:00:00 | true'],
  },
  {
    query: 'stuck',
    of: 'a reboot for which the VM went down before it could report, two hours ago',
    stage: { vms: { web_0: { leavesAt: seconds(15) - 5 } }, plays: [play('reboot', 0, 'web_0')], askedAt: 135 },
    show: ['Stage', 'VmName', 'NotBefore', 'StartedAt', 'MinutesSince', 'LastHeardAt', 'IsHeardSince'],
    rows: ['due | web_0 | 12:15:00 | - | 120 | 12:00:00 | false'],
  },
  {
    query: 'stuck',
    of: 'the same, 29 minutes after it began',
    stage: { vms: one, plays: [play(stuck, 0, 'web_0')], askedAt: 44 },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'stuck',
    of: 'an eviction without an observed end, of a deleted VM',
    stage: {
      vms: { web_0: { leavesAt: seconds(1) } },
      plays: [play('preempt', 0, 'web_0')],
      askedAt: 90,
    },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'not-back',
    of: 'a VM that went down at a quarter past and has not reported since',
    stage: {
      vms: { web_0: { leavesAt: seconds(15) + 5 } },
      plays: [play('reboot', 0, 'web_0')],
      askedAt: 40,
    },
    show: ['Reason', 'VmName', 'EventType', 'StartedAt', 'MinutesSilent', 'LastHeardAt'],
    rows: ['started | web_0 | Reboot | 12:15:00 | 25 | 12:15:00'],
  },
  {
    query: 'not-back',
    of: 'a VM that went down five seconds before it could observe the start, and one that was stopped by request then',
    stage: {
      vms: { web_0: { leavesAt: seconds(15) - 5 }, web_1: { leavesAt: seconds(15) - 5, reportsStop: true } },
      plays: [play('reboot', 0, 'web_0'), play('reboot', 0, 'web_1')],
      askedAt: 135,
    },
    show: ['Reason', 'VmName', 'SilentSince', 'MinutesSilent', 'LastHeardAt'],
    rows: [
      'down at the announced time | web_0 | 12:15:00 | 120 | 12:00:00',
      'down at the announced time | web_1 | 12:15:00 | 120 | 12:14:55',
    ],
  },
  {
    query: 'not-back',
    of: 'a VM that is silent days before its announced day, and one that a user stopped',
    stage: {
      vms: { web_0: { leavesAt: seconds(30) }, web_1: { leavesAt: seconds(30), reportsStop: true } },
      plays: [play('degraded-host', 0, 'web_0'), play('degraded-host', 0, 'web_1')],
      askedAt: 300,
    },
    show: ['Reason', 'VmName', 'SilentSince', 'NotBefore'],
    rows: ['silent before the announced time | web_0 | 12:00:00 | 03-08 12:00:00'],
  },
  {
    query: 'not-back',
    of: 'a VM whose bridge has started since, two minutes after it went down',
    stage: { vms: { web_0: { leavesAt: seconds(15) + 5 } }, plays: [play('reboot', 0, 'web_0')], askedAt: 40 },
    change: (tables) => ({
      ...tables,
      VmLifecycleBridge_CL: [
        ...tables.VmLifecycleBridge_CL,
        { ...tables.VmLifecycleBridge_CL[0], TimeGenerated: clock(17), State: 'starting' },
      ],
    }),
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'not-back',
    of: 'the same, but the Azure Monitor agent reports again',
    stage: {
      vms: { web_0: { leavesAt: seconds(15) + 5 } },
      plays: [play('reboot', 0, 'web_0')],
      askedAt: 40,
    },
    change: adding({ Heartbeat: [agentReports('web_0', 14), agentReports('web_0', 30)] }),
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'not-back',
    of: 'a VM that reported the end of its reboot',
    stage: { vms: one, plays: [play('reboot', 0, 'web_0')], askedAt: 40 },
    show: ['VmName'],
    rows: [],
  },
];
