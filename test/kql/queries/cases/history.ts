import { made, play, seconds } from '../stage.ts';
import { approvedBy, type QueryCase } from './case.ts';

const minute = 60;
const two = { web_0: {}, web_1: {} };
const three = { ...two, web_2: {} };
const spot = { priority: 'Spot', zone: '2' };

/** A redeploy announced for a day later. */
const twoAtOnce = made(
  'two at once',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Freeze', noticeSeconds: 900, on: [0, 1] },
  { afterSeconds: 900, do: 'start', event: 'one' },
  { afterSeconds: 10, do: 'remove', event: 'one' },
);

const tomorrow = made('tomorrow', {
  afterSeconds: 0,
  do: 'schedule',
  event: 'one',
  eventType: 'Redeploy',
  noticeSeconds: 24 * 60 * minute,
});

export const historyCases: readonly QueryCase[] = [
  {
    query: 'vm-history',
    of: 'a VM that was rebooted, frozen, and spared, and another one',
    stage: {
      vms: { ...two, web_2: {} },
      plays: [
        play('reboot', 0, 'web_0'),
        play('freeze', 60, 'web_0'),
        play('canceled', 120, 'web_0'),
        play('no-impact', 180, 'web_0'),
        play('freeze', 0, 'web_1'),
      ],
      askedAt: 240,
    },
    edit: ['"web_11"', '"WEB_0"'],
    show: ['FirstSeenAt', 'StartedAt', 'EventType', 'Outcome', 'Impact', 'NoticeMinutes'],
    rows: [
      '15:00:00 | 15:15:00 | Freeze | Completed | none measured | 15',
      '14:00:00 | - | Freeze | Canceled | - | 1440',
      '13:00:00 | 13:15:00 | Freeze | Completed | paused 7.0 s | 15',
      '12:00:00 | 12:15:00 | Reboot | Completed | down 91 s | 15',
    ],
  },
  {
    query: 'vm-history',
    of: 'a VM to which nothing happened',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0')], askedAt: 60 },
    edit: ['"web_11"', '"web_1"'],
    show: ['EventType'],
    rows: [],
  },
  {
    query: 'touched-between',
    of: 'a reboot and a freeze of one set while clients complained, and events that had ended or were announced by then',
    stage: {
      vms: { ...three, web_3: {} },
      plays: [
        play('reboot', 0, 'web_0'),
        play('freeze', 3, 'web_1'),
        play('freeze', -60, 'web_2'),
        play('canceled', 10, 'web_3'),
      ],
      askedAt: 120,
    },
    edit: [
      'let From = ago(1h);\nlet Until = now();',
      'let From = datetime(2026-03-01T12:16:00Z);\nlet Until = datetime(2026-03-01T12:20:00Z);',
    ],
    show: ['EventType', 'Vms', 'Down', 'LongestDownSeconds', 'Paused', 'LongestPauseSeconds', 'FirstAt', 'Names'],
    rows: ['Reboot | 1 | 1 | 91 | 0 | 0 | 12:15:00 | web_0', 'Freeze | 1 | 0 | - | 1 | 7 | 12:18:00 | web_1'],
  },
  {
    query: 'touched-between',
    of: 'a VM that went down before it could report, two hours ago, as the answer for the last hour',
    stage: { vms: { web_0: { leavesAt: seconds(15) - 5 } }, plays: [play('reboot', 0, 'web_0')], askedAt: 140 },
    show: ['EventType', 'Vms', 'Down', 'Names'],
    rows: ['Reboot | 1 | 0 | web_0'],
  },
  {
    query: 'touched-between',
    of: 'a reboot that ended two hours before',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0')], askedAt: 150 },
    show: ['EventType'],
    rows: [],
  },
  {
    query: 'downtime-by-set',
    of: 'a reboot and a freeze in a set of two, in a day',
    stage: {
      vms: two,
      plays: [play('reboot', 0, 'web_0'), play('freeze', 0, 'web_1')],
      askedAt: 23 * 60,
    },
    show: ['VmScaleSetName', 'Vms', 'Interruptions', 'Reboots', 'DownMinutes', 'P50OutageSeconds', 'OfUserMinutes'],
    rows: ['web | 2 | 2 | 1 | 1.6 | 91 | 0'],
  },
  {
    query: 'downtime-by-set',
    of: 'a freeze without a pause, and a reboot that has not ended',
    stage: {
      vms: { web_0: {}, web_1: { leavesAt: seconds(15) + 5 } },
      plays: [play('no-impact', 0, 'web_0'), play('reboot', 0, 'web_1')],
      askedAt: 60,
    },
    show: ['VmScaleSetName'],
    rows: [],
  },
  {
    query: 'due-in-order',
    of: 'a redeploy announced a day ahead, the evening before, and a freeze that is announced as always',
    stage: { vms: two, plays: [play(tomorrow, 0, 'web_0'), play('freeze', 595, 'web_1')], askedAt: 600 },
    show: ['NotBefore', 'HoursLeft', 'AnnouncedDaysAgo', 'EventType', 'VmName'],
    rows: ['03-02 12:00:00 | 14 | 0.4 | Redeploy | web_0'],
  },
  {
    query: 'due-in-order',
    of: 'a host that will be left in seven days',
    stage: { vms: two, plays: [play('degraded-host', 0, 'web_0')], askedAt: 60 },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'support-case',
    of: 'the event that was seen last, by two VMs of which the clock of one is five seconds fast',
    stage: {
      vms: { web_0: { clockOffsetSeconds: -5 }, web_1: {} },
      plays: [play('freeze', 0, 'web_1'), play('reboot', 60, 'web_0')],
      askedAt: 120,
    },
    show: ['Phase', 'Evidence', 'VmName', 'EventType', 'ObservedOutageSeconds', 'ClockOffsetSeconds'],
    rows: [
      'Scheduled | said-by-azure | web_0 | Reboot | - | -5',
      'Started | said-by-azure | web_0 | Reboot | - | -5',
      'Completed | left-after-started, not-before-passed | web_0 | Reboot | 91 | -5',
    ],
  },
  {
    query: 'support-case',
    // Windows has no id of a boot: BootId is its time.
    of: 'an event of two VMs with Windows that started at the same time',
    stage: {
      vms: { web_0: { osType: 'Windows' }, web_1: { osType: 'Windows' } },
      plays: [play(twoAtOnce, 0, 'web_0', 'web_1')],
      askedAt: 60,
    },
    change: (tables) => ({
      ...tables,
      VmLifecycle_CL: tables.VmLifecycle_CL.map((row) => ({ ...row, BootId: 'booted-at-2026-03-01T09:00:00.000Z' })),
    }),
    show: ['Phase', 'VmName', 'OsType', 'BootId'],
    rows: ['Scheduled', 'Started', 'Completed'].flatMap((phase) =>
      ['web_0', 'web_1'].map((vm) => `${phase} | ${vm} | Windows | booted-at-2026-03-01T09:00:00.000Z`),
    ),
  },
  {
    query: 'support-case',
    of: 'an unknown event',
    stage: { vms: two, plays: [play('freeze', 0, 'web_0')], askedAt: 60 },
    edit: ['let Event = ""', 'let Event = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"'],
    show: ['Phase'],
    rows: [],
  },
  {
    query: 'wave-progress',
    of: 'a set of four of which one VM is done, one is down and one is announced',
    stage: {
      vms: { web_0: {}, web_1: { faultDomain: '1' }, web_2: {}, web_3: {} },
      plays: [play('reboot', 0, 'web_0'), play('reboot', 30, 'web_1'), play('reboot', 40, 'web_2')],
      askedAt: 46,
    },
    show: ['EventType', 'OfVms', 'Done', 'Now', 'ToCome', 'NotAnnounced', 'DonePercent', 'FaultDomains', 'NextAt'],
    rows: ['Reboot | 4 | 1 | 1 | 1 | 1 | 25 | 1 | 12:55:00'],
  },
  {
    query: 'wave-progress',
    of: 'a set of two of which one VM is back and the other has been down for 30 hours',
    stage: {
      vms: { web_0: {}, web_1: { leavesAt: seconds(15) + 5 } },
      plays: [play('reboot', 0, 'web_0'), play('reboot', 0, 'web_1')],
      askedAt: 30 * 60,
    },
    show: ['Done', 'Now', 'ToCome', 'DonePercent'],
    rows: ['1 | 1 | 0 | 50'],
  },
  {
    query: 'wave-progress',
    of: 'a single VM that is rebooted, and one whose migration was called off',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0'), play('canceled', 0, 'web_1')], askedAt: 60 },
    show: ['EventType'],
    rows: [],
  },
  {
    query: 'spot-survival',
    of: 'three Spot VMs of which one is taken after half a day; the other two live for two days',
    stage: {
      vms: { web_0: { ...spot, leavesAt: seconds(11 * 60) + 32 }, web_1: spot, web_2: spot },
      plays: [play('preempt', 11 * 60, 'web_0')],
      askedAt: 47 * 60,
    },
    show: ['VmScaleSetName', 'Zones', 'Vms', 'Evictions', 'VmDays', 'Per100VmDays'],
    rows: ['web | 2 | 3 | 1 | 4.5 | 22.2'],
  },
  {
    query: 'spot-survival',
    of: 'a set of regular VMs that are frozen',
    stage: { vms: two, plays: [play('freeze', 0, 'web_0')], askedAt: 60 },
    show: ['VmScaleSetName'],
    rows: [],
  },
  {
    query: 'approvals',
    of: 'a freeze that was approved and refused',
    stage: { vms: two, plays: [play('freeze', 0, 'web_0')], askedAt: 60 },
    change: approvedBy('web_0', 1, 'refused'),
    show: ['ApprovedAt', 'ApprovedBy', 'EventType', 'Result', 'SavedMinutes', 'BeganAt', 'Outcome'],
    rows: ['12:01:00 | web_0 | Freeze | refused | - | 12:15:00 | Completed'],
  },
  {
    query: 'approvals',
    of: 'a reboot that was approved after nineteen seconds and began a second later',
    stage: { vms: two, plays: [play('approved', 0, 'web_0')], askedAt: 60 },
    change: approvedBy('web_0', 19 / 60),
    show: ['ApprovedAt', 'ApprovedBy', 'Result', 'SavedMinutes', 'BeganAt'],
    rows: ['12:00:19 | web_0 | accepted | 14.7 | 12:00:20'],
  },
  {
    query: 'approvals',
    of: 'a reboot without an approval',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0')], askedAt: 60 },
    show: ['ApprovedBy'],
    rows: [],
  },
  {
    query: 'region-by-hour',
    of: 'a reboot and a freeze after noon, and a freeze an hour later in another region',
    stage: {
      vms: { ...two, web_2: { location: 'northeurope' } },
      plays: [play('reboot', 0, 'web_0'), play('freeze', 0, 'web_1'), play('freeze', 60, 'web_2')],
      askedAt: 120,
    },
    show: ['Location', 'Hour', 'Interruptions', 'Seconds', 'LongestSeconds'],
    rows: ['northeurope | 13 | 1 | 7 | 7', 'westeurope | 12 | 2 | 98 | 91'],
  },
  {
    query: 'region-by-hour',
    of: 'a freeze without a pause',
    stage: { vms: two, plays: [play('no-impact', 0, 'web_0')], askedAt: 60 },
    show: ['Location'],
    rows: [],
  },
];
