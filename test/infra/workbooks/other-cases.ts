import type { Case } from './case.ts';
import { hourly, hoursOf, reboot, type Timeline, web } from './timeline.ts';

/** Four VMs of one size, of which those with Linux were paused for three, five and nine seconds, and the one with Windows was not. */
const frozenWithBoth: Timeline = {
  vms: [...web(3), { name: 'sql-1', set: '', os: 'Windows' }],
  events: [3000, 5000, 9000, 0].map((pausedMs, number) => ({
    vm: ['web_0', 'web_1', 'web_2', 'sql-1'][number] ?? '',
    event: `f${number}`,
    type: 'Freeze',
    said: 5,
    announced: '14 09:00:00',
    notBefore: '14 09:15:00',
    started: '14 09:15:00',
    pausedMs,
    ended: '14 09:20:00',
  })),
};

export const otherCases: readonly Case[] = [
  {
    name: 'positions 4 and 5 that never came are missing, also where nothing came after them',
    panel: 'gaps',
    timeline: {
      vms: web(1),
      events: [
        reboot('web_0', {
          announced: '15 08:10:00',
          notBefore: '15 08:25:00',
          started: '15 08:25:00',
          ended: '15 08:40:00',
        }),
      ],
      heartbeats: [
        { vm: 'web_0', at: '15 08:00:00', lastPosition: 0 },
        { vm: 'web_0', at: '15 10:00:00', lastPosition: 5 },
      ],
    },
    columns: ['VmName', 'Missing', 'FromPosition', 'ToPosition'],
    rows: [['web_0', 2, 4, 5]],
  },
  {
    name: 'the half day that is not over is left out',
    panel: 'heard',
    now: '15 12:30:00',
    timeline: {
      vms: web(3),
      heartbeats: ['web_0', 'web_1', 'web_2'].flatMap((vm) => [
        ...hourly(vm, '14', hoursOf(0, 23)),
        ...hourly(vm, '15', hoursOf(0, 11)),
        ...(vm === 'web_0' ? hourly(vm, '15', [12]) : []),
      ]),
    },
    columns: ['Time', 'Bridges'],
    rows: [
      ['14 00:00:00', 3],
      ['14 12:00:00', 3],
      ['00:00:00', 3],
    ],
  },
  {
    name: 'an event that we approved early has no shorter notice than documented',
    panel: 'notice',
    timeline: {
      vms: web(3),
      events: [
        reboot('web_0', {
          announced: '15 09:00:00',
          notBefore: '15 09:15:00',
          approved: '15 09:01:00',
          started: '15 09:01:30',
          noticeSeconds: 90,
          ended: '15 09:10:00',
        }),
        reboot('web_1', {
          announced: '15 09:00:00',
          notBefore: '15 09:15:00',
          started: '15 09:15:00',
          noticeSeconds: 900,
          ended: '15 09:20:00',
        }),
        reboot('web_2', {
          announced: '15 09:00:00',
          notBefore: '15 09:15:00',
          started: '15 09:10:00',
          noticeSeconds: 600,
          ended: '15 09:20:00',
        }),
      ],
    },
    columns: ['EventType', 'Shortest', 'VMs', 'Shorter', 'Approved'],
    rows: [['Reboot', 600, 2, 1, 1]],
  },
  {
    name: 'an outage since 10:30 of 15 March is not due to a reboot of 5 March',
    panel: 'was-it-announced',
    timeline: {
      vms: [{ name: 'web_20' }],
      events: [
        reboot('web_20', {
          announced: '05 09:00:00',
          notBefore: '05 09:15:00',
          started: '05 09:15:00',
          ended: '05 09:25:00',
        }),
      ],
      heartbeats: hourly('web_20', '15', [10]),
    },
    columns: ['State', 'Since', 'EventType'],
    rows: [['Unavailable', '10:30:00', null]],
  },
  {
    name: 'an outage since 10:30 is due to the reboot that started at 10:20',
    panel: 'was-it-announced',
    timeline: {
      vms: [{ name: 'web_20' }],
      events: [
        reboot('web_20', {
          announced: '05 09:00:00',
          notBefore: '05 09:15:00',
          started: '05 09:15:00',
          ended: '05 09:25:00',
        }),
        {
          ...reboot('web_20', { announced: '15 10:05:00', notBefore: '15 10:20:00', started: '15 10:20:00' }),
          event: 'the second',
        },
      ],
      heartbeats: hourly('web_20', '15', [10]),
    },
    columns: ['State', 'Since', 'EventType', 'BeganAt', 'EventId'],
    rows: [['Unavailable', '10:30:00', 'Reboot', '10:20:00', 'the second']],
  },
  {
    name: 'seconds are those that 2 of 2 VMs were down or paused, for 100 VMs, in the hour in which it began',
    panel: 'region-by-hour',
    timeline: {
      vms: web(2),
      events: [
        reboot('web_0', {
          announced: '15 02:44:00',
          notBefore: '15 02:59:00',
          started: '15 02:59:00',
          down: ['15 02:59:00', '15 03:00:30'],
          ended: '15 03:05:00',
        }),
        {
          vm: 'web_1',
          event: 'freeze',
          type: 'Freeze',
          announced: '14 23:00:00',
          notBefore: '14 23:15:00',
          started: '14 23:15:00',
          pausedMs: 10_000,
          ended: '14 23:20:00',
        },
      ],
      heartbeats: ['web_0', 'web_1'].flatMap((vm) => hourly(vm, '15', [11])),
    },
    columns: ['Location', '02', '03', '23'],
    rows: [['westeurope', 4500, 0, 500]],
  },
  {
    name: 'hours without an eviction are on the axis, and a canceled one is not counted',
    panel: 'evictions-by-hour',
    timeline: {
      vms: web(2),
      events: [
        { vm: 'web_0', event: 'e0', type: 'Preempt', announced: '14 09:59:45', notBefore: '14 10:00:15' },
        {
          vm: 'web_1',
          event: 'e1',
          type: 'Preempt',
          announced: '14 15:00:00',
          notBefore: '14 15:00:30',
          ended: '14 15:00:20',
          outcome: 'Canceled',
        },
      ],
    },
    columns: ['Hour', 'VMs'],
    rows: hoursOf(0, 23).map((hour) => [`${hour}:00`, hour === 10 ? 1 : 0]),
  },
  {
    name: 'an announced event is on its day, with the first time and the number of VMs',
    panel: 'calendar',
    timeline: {
      vms: [...web(2), { name: 'sql-1', set: '' }],
      events: [
        reboot('web_0', { announced: '15 11:45:00', notBefore: '15 14:10:00' }),
        reboot('web_1', { announced: '15 11:45:00', notBefore: '15 14:00:00' }),
        { vm: 'sql-1', event: 'f', type: 'Freeze', announced: '15 08:00:00', notBefore: '17 03:30:00' },
        { vm: 'sql-1', event: 'r', type: 'Redeploy', announced: '15 08:00:00', notBefore: '25 03:30:00' },
      ],
      heartbeats: ['web_0', 'web_1', 'sql-1'].flatMap((vm) => hourly(vm, '15', [11])),
    },
    columns: ['Name', 'Due', 'Today', 'Tomorrow', 'In2Days', 'Later'],
    rows: [
      ['web (shop, westeurope)', '', '14:00 Reboot × 2', '', '', ''],
      ['sql-1', '', '', '', '03:30 Freeze', '2026-03-25 03:30 Redeploy'],
    ],
  },
  {
    name: "the range of pauses is shown next to Azure's estimate",
    panel: 'pause-by-size',
    timeline: {
      vms: web(3),
      events: [3000, 5000, 30_000].map((pausedMs, number) => ({
        vm: `web_${number}`,
        event: `f${number}`,
        type: 'Freeze',
        said: 5,
        announced: '14 09:00:00',
        notBefore: '14 09:15:00',
        started: '14 09:15:00',
        pausedMs,
        ended: '14 09:20:00',
      })),
    },
    columns: ['Size', 'announced duration', 'median', 'longest'],
    rows: [['D4s_v5', 5, 5, 30]],
  },
  {
    name: 'the pauses of Windows VMs are not mixed with those of Linux VMs of their size',
    panel: 'pause-by-size',
    timeline: frozenWithBoth,
    columns: ['Size', 'median', 'longest'],
    rows: [
      ['D4s_v5', 5, 9],
      ['D4s_v5 Windows', 0, 0],
    ],
  },
  {
    name: 'measured durations are shown for each operating system',
    panel: 'announced-and-measured',
    timeline: frozenWithBoth,
    columns: ['EventType', 'OsType', 'Said', 'VMs', 'Longest'],
    rows: [
      ['Freeze', 'Linux', '5 s', 3, 9],
      ['Freeze', 'Windows', '5 s', 1, 0],
    ],
  },
];
