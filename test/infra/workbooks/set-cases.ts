import type { Case } from './case.ts';
import { hourly, hoursOf, reboot, type Timeline, web } from './timeline.ts';

/** Two fault domains of `web`, one after the other; `api` has one VM touched, which is no wave. */
export const wave: Timeline = {
  vms: [
    ...web(4).map((vm, number) => ({ ...vm, zone: '1', domain: number < 2 ? '0' : '1' })),
    { name: 'api_0', set: 'api' },
  ],
  events: [
    ...['web_0', 'web_1'].map((vm) =>
      reboot(vm, {
        announced: '15 09:45:00',
        notBefore: '15 10:00:00',
        started: '15 10:00:00',
        down: ['15 10:00:00', '15 10:01:30'],
        ended: '15 10:10:00',
      }),
    ),
    reboot('web_2', {
      announced: '15 10:15:00',
      notBefore: '15 10:30:00',
      down: ['15 10:30:00', '15 10:33:00'],
      ended: '15 10:40:00',
    }),
    reboot('web_3', { announced: '15 10:15:00', notBefore: '15 10:30:00', started: '15 10:31:00' }),
    reboot('api_0', {
      announced: '15 09:45:00',
      notBefore: '15 10:00:00',
      started: '15 10:00:00',
      ended: '15 10:10:00',
    }),
  ],
  heartbeats: ['web_0', 'web_1', 'web_2', 'web_3', 'api_0'].flatMap((vm) => hourly(vm, '15', hoursOf(9, 11))),
};

/** Sets of one name in two subscriptions, in groups of one name. */
const namesakes: Timeline = {
  vms: [
    ...web(4).map((vm) => ({ ...vm, key: `a ${vm.name}`, subscription: 'sa' })),
    ...web(2).map((vm) => ({ ...vm, key: `b ${vm.name}`, subscription: 'sb', version: '2.0.0' })),
  ],
  events: [
    ...['a web_0', 'a web_1', 'b web_0', 'b web_1'].map((vm) =>
      reboot(vm, { announced: '15 09:45:00', notBefore: '15 10:00:00', started: '15 10:00:00', ended: '15 10:10:00' }),
    ),
  ],
  heartbeats: ['a web_0', 'a web_1', 'a web_2', 'a web_3', 'b web_0', 'b web_1'].flatMap((vm) =>
    hourly(vm, '15', [11]),
  ),
};
const ofGroup = 'web (shop, westeurope)';

/** Panels that distinguish scale sets, and waves through them. */
export const setCases: readonly Case[] = [
  {
    name: 'a start at 09:59, one at 10:00:30 and one at 10:04 in two zones are three within 15 minutes',
    panel: 'at-once',
    timeline: {
      vms: [
        { name: 'web_0', zone: '1', domain: '0' },
        { name: 'web_1', zone: '2', domain: '0' },
        { name: 'web_2', zone: '2', domain: '1' },
        { name: 'web_3', zone: '2', domain: '2' },
      ],
      events: [
        ['web_0', '09:59:00'],
        ['web_1', '10:00:30'],
        ['web_2', '10:04:00'],
        ['web_3', '10:30:00'],
      ].map(([vm = '', at]) =>
        reboot(vm, { announced: '15 09:40:00', notBefore: `15 ${at}`, started: `15 ${at}`, ended: `15 11:00:00` }),
      ),
    },
    columns: ['FirstAt', 'LastAt', 'Set', 'VMs', 'Zones', 'Domains'],
    rows: [['09:59:00', '10:04:00', ofGroup, 3, '1, 2', 3]],
  },
  {
    name: 'two VMs of each of two sets of one name are never three of one',
    panel: 'at-once',
    timeline: namesakes,
    columns: ['Set', 'VMs'],
    rows: [],
  },
  {
    name: 'sets of one name are two bars, each for 100 of its own VMs',
    panel: 'by-set',
    timeline: namesakes,
    columns: ['Set', 'EventType', 'Times'],
    rows: [
      [`${ofGroup} sa`, 'Reboot', 50],
      [`${ofGroup} sb`, 'Reboot', 100],
    ],
  },
  {
    name: 'versions of sets of one name are counted apart',
    panel: 'versions',
    timeline: namesakes,
    columns: ['Set', 'BridgeVersion', 'VMs'],
    rows: [
      [`${ofGroup} sa`, '1.0.0', 4],
      [`${ofGroup} sb`, '2.0.0', 2],
    ],
  },
  {
    name: 'a wave is the VMs of one set whose events start close to each other',
    panel: 'waves',
    timeline: wave,
    columns: ['Set', 'From', 'Done', 'Now', 'ToCome', 'OfVms', 'DonePercent'],
    rows: [[ofGroup, '10:00:00', 3, 1, 0, 4, 75]],
  },
  {
    // From 09:45 to now there are 135 minutes; web_2 saw its start only when it was back, so Azure was at work from the outage on.
    name: 'each lane is as long as the wave: minutes before, notice, in progress, down, in progress, after',
    panel: 'wave',
    timeline: wave,
    columns: ['VmName', 'Domain', 'StartedAt', 'Before', 'Notice', 'Work', 'Gone', 'MoreWork', 'After'],
    rows: [
      ['web_0', '1/0', '10:00:00', 0, 15, 0, 1.5, 8.5, 110],
      ['web_1', '1/0', '10:00:00', 0, 15, 0, 1.5, 8.5, 110],
      ['web_2', '1/1', '10:33:00', 30, 15, 0, 3, 7, 80],
      ['web_3', '1/1', '10:31:00', 30, 16, 0, 0, 89, 0],
    ],
  },
  {
    name: 'VMs are counted as down for exactly the time that they measured',
    panel: 'down-at-once',
    timeline: wave,
    columns: ['Time', 'down'],
    rows: [
      ['09:59:59', 0],
      ['10:00:00', 2],
      ['10:01:29', 2],
      ['10:01:30', 0],
      ['10:29:59', 0],
      ['10:30:00', 1],
      ['10:32:59', 1],
      ['10:33:00', 0],
    ],
  },
];
