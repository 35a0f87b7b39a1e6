import { rollingMaintenance } from '../../../../src/azure-simulator/scenarios/index.ts';
import { made, play, seconds } from '../stage.ts';
import type { QueryCase } from './case.ts';

/** VMs of the scale set `web`, each in a fault domain. */
const inDomains = (...faultDomains: readonly string[]) =>
  Object.fromEntries(faultDomains.map((faultDomain, number) => [`web_${number}`, { faultDomain, zone: '1' }]));

const four = inDomains('0', '1', '0', '1');
const all = Object.keys(four);
const spot = { vmSize: 'Standard_D8s_v5', zone: '2', priority: 'Spot' };

const minute = 60;

/** A migration that is canceled seven minutes before its time. */
const calledOff = made(
  'called off',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Freeze', noticeSeconds: 15 * minute, on: [0, 1, 2] },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
);

/** A reboot of three VMs of which one is taken out of the event before it begins. */
const leftByOne = made(
  'left by one',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Reboot', noticeSeconds: 15 * minute, on: [0, 1, 2] },
  { afterSeconds: 5 * minute, do: 'change', event: 'one', on: [0, 1] },
  { afterSeconds: 10 * minute, do: 'start', event: 'one' },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
);

/** A redeploy that is announced a week ahead. */
const weekAhead = made(
  'week ahead',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Redeploy', noticeSeconds: 7 * 24 * 60 * minute },
  { afterSeconds: 7 * 24 * 60 * minute, do: 'start', event: 'one' },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
);

/** A reboot of two VMs. */
const together = made(
  'together',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Reboot', noticeSeconds: 15 * minute, on: [0, 1] },
  { afterSeconds: 15 * minute, do: 'start', event: 'one' },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
);

export const groupCases: readonly QueryCase[] = [
  {
    query: 'blast-radius',
    of: 'maintenance that goes through a set of four, two at a time',
    stage: { vms: four, plays: [play(rollingMaintenance(4, 2), 0, ...all)], askedAt: 60 },
    show: ['BeganAt', 'EventType', 'ScaleSet', 'Vms', 'SharePercent', 'FaultDomains', 'Names'],
    rows: ['12:14:59 | Reboot | web | 2 | 50 | 0 | web_0 web_2', '12:29:59 | Reboot | web | 2 | 50 | 1 | web_1 web_3'],
  },
  {
    query: 'blast-radius',
    of: 'a migration of three VMs that was called off, and a reboot that one of three had left before it began',
    stage: {
      vms: four,
      plays: [play(calledOff, 0, 'web_0', 'web_1', 'web_2'), play(leftByOne, 60, 'web_1', 'web_2', 'web_3')],
      askedAt: 120,
    },
    show: ['EventType', 'Vms', 'OfVms', 'SharePercent', 'Names'],
    rows: ['Reboot | 2 | 4 | 50 | web_1 web_2'],
  },
  {
    query: 'blast-radius',
    of: 'two of an availability set of unknown size, and two of a set of four of which one was deleted before',
    stage: {
      vms: {
        ...four,
        web_3: { ...four.web_3, leavesAt: seconds(-30) },
        'app-0': { scaleSet: null },
        'app-1': { scaleSet: null },
      },
      plays: [play(together, 360, 'web_0', 'web_1'), play(together, 420, 'app-0', 'app-1')],
      askedAt: 480,
    },
    show: ['BeganAt', 'ScaleSet', 'Vms', 'OfVms', 'SharePercent'],
    rows: ['18:15:00 | web | 2 | 3 | 67', '19:15:00 | - | 2 | - | -'],
  },
  {
    query: 'blast-radius',
    of: 'two events of one VM each',
    stage: { vms: four, plays: [play('reboot', 0, 'web_0'), play('reboot', 0, 'web_1')], askedAt: 60 },
    show: ['Names'],
    rows: [],
  },
  {
    query: 'correlated',
    of: 'three reboots of a set, five minutes apart, and a fourth hours later',
    stage: {
      vms: four,
      plays: [0, 5, 10, 300].map((minutes, number) => play('reboot', minutes, `web_${number}`)),
      askedAt: 400,
    },
    show: ['From', 'Until', 'VmScaleSetName', 'Vms', 'MostIn15Minutes', 'FaultDomains', 'Names'],
    rows: ['12:15:00 | 12:25:00 | web | 3 | 3 | 0 1 | web_0 web_1 web_2'],
  },
  {
    query: 'correlated',
    of: 'three that are announced, the first of them in five minutes',
    stage: {
      vms: four,
      plays: [0, 2, 4].map((minutes, number) => play('freeze', minutes, `web_${number}`)),
      askedAt: 10,
    },
    show: ['From', 'Until', 'Vms'],
    rows: ['12:15:00 | 12:19:00 | 3'],
  },
  {
    query: 'correlated',
    of: 'one VM after the other, each a quarter of an hour after the one before',
    stage: {
      vms: four,
      plays: [0, 16, 32, 48].map((minutes, number) => play('reboot', minutes, `web_${number}`)),
      askedAt: 120,
    },
    show: ['From'],
    rows: [],
  },
  {
    query: 'two-fault-domains-at-once',
    of: 'two VMs in two fault domains, one minute apart, each down for a minute and a half',
    stage: { vms: inDomains('0', '1'), plays: [play('reboot', 0, 'web_0'), play('reboot', 1, 'web_1')], askedAt: 60 },
    show: ['From', 'Until', 'ScaleSet', 'FaultDomains', 'OneDomain', 'OtherDomain'],
    rows: ['12:16:00 | 12:16:31 | web | 0 and 1 | web_0 | web_1'],
  },
  {
    query: 'two-fault-domains-at-once',
    of: 'a VM that goes down two minutes after the other, which is back and listed still',
    stage: { vms: inDomains('0', '1'), plays: [play('reboot', 0, 'web_0'), play('reboot', 2, 'web_1')], askedAt: 60 },
    show: ['FaultDomains'],
    rows: [],
  },
  {
    query: 'two-fault-domains-at-once',
    of: 'both while it lasts',
    stage: { vms: inDomains('0', '1'), plays: [play('reboot', 0, 'web_0'), play('reboot', 1, 'web_1')], askedAt: 16.2 },
    show: ['From', 'Until', 'FaultDomains'],
    rows: ['12:16:00 | - | 0 and 1'],
  },
  {
    query: 'two-fault-domains-at-once',
    of: 'one fault domain after the other',
    stage: {
      vms: inDomains('0', '1', '2'),
      plays: [play('fault-domains-in-turn', 0, 'web_0', 'web_1', 'web_2')],
      askedAt: 120,
    },
    show: ['FaultDomains'],
    rows: [],
  },
  {
    query: 'two-fault-domains-at-once',
    of: 'two VMs of one fault domain',
    stage: { vms: inDomains('1', '1'), plays: [play('reboot', 0, 'web_0'), play('reboot', 2, 'web_1')], askedAt: 60 },
    show: ['FaultDomains'],
    rows: [],
  },
  {
    query: 'spot-evictions',
    of: 'two evictions after noon and one an hour later',
    stage: {
      vms: { web_0: spot, web_1: spot, web_2: spot },
      plays: [play('preempt', 0, 'web_0'), play('preempt', 30, 'web_1'), play('preempt', 60, 'web_2')],
      askedAt: 120,
    },
    show: ['VmSize', 'Zone', 'Hour', 'Evictions', 'LastAt', 'ShortestNoticeSeconds'],
    rows: ['Standard_D8s_v5 | 2 | 12 | 2 | 12:30:00 | 30', 'Standard_D8s_v5 | 2 | 13 | 1 | 13:00:00 | 30'],
  },
  {
    query: 'spot-evictions',
    of: 'a Spot VM that is frozen, and one that will be taken in half a minute',
    stage: {
      vms: { web_0: spot, web_1: spot },
      plays: [play('freeze', 0, 'web_0'), play('preempt', 59.9, 'web_1')],
      askedAt: 60,
    },
    show: ['VmSize'],
    rows: [],
  },
  {
    query: 'daily-trend',
    of: 'six freezes on one day after a month with none, and a reboot',
    stage: {
      vms: four,
      plays: [
        ...[0, 30, 60, 90, 120, 150].map((minutes) => play('freeze', minutes, 'web_0')),
        play('reboot', 0, 'web_1'),
      ],
      askedAt: 240,
    },
    show: ['EventType', 'Total', 'UsualADay', 'UnusualDays'],
    rows: ['Freeze | 6 | 0 | 2026-03-01', 'Reboot | 1 | 0 | none'],
  },
  {
    query: 'daily-trend',
    of: 'a reboot that was announced before the queried month, and started in it',
    stage: { vms: four, plays: [play(weekAhead, -30, 'web_0')], askedAt: 31.5 * 24 * 60, heartbeatMinutes: 1440 },
    show: ['EventType'],
    rows: [],
  },
  {
    query: 'daily-trend',
    of: 'a quiet fleet',
    stage: { vms: four, askedAt: 60 },
    show: ['EventType'],
    rows: [],
  },
];
