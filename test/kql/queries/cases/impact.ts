import { play } from '../stage.ts';
import type { QueryCase } from './case.ts';

const one = { web_0: { vmSize: 'Standard_E8s_v5' } };
const two = { ...one, web_1: { vmSize: 'Standard_E8s_v5' } };

export const impactCases: readonly QueryCase[] = [
  {
    query: 'freezes',
    of: 'a freeze of seven seconds, advertised as five, and one without a pause',
    stage: { vms: two, plays: [play('freeze', 0, 'web_0'), play('no-impact', 0, 'web_1')], askedAt: 60 },
    show: ['VmSize', 'Freezes', 'NotFelt', 'AdvertisedSeconds', 'UnknownAdvertised', 'P50', 'P95', 'Longest'],
    rows: ['Standard_E8s_v5 | 2 | 1 | 5 | 0 | 0 | 7 | 7'],
  },
  {
    query: 'freezes',
    of: 'a freeze that was called off, and a reboot',
    stage: { vms: two, plays: [play('canceled', 0, 'web_0'), play('reboot', 0, 'web_1')], askedAt: 60 },
    show: ['VmSize'],
    rows: [],
  },
  {
    query: 'advertised-against-measured',
    of: 'a freeze that took longer than advertised, and a reboot of unknown duration',
    stage: { vms: two, plays: [play('freeze', 0, 'web_0'), play('reboot', 0, 'web_1')], askedAt: 60 },
    show: ['EventType', 'Advertised', 'Vms', 'NotFelt', 'Longer', 'P50Seconds', 'LongestSeconds'],
    rows: ['Freeze | 5 s | 1 | 0 | 1 | 7 | 7', 'Reboot | unknown | 1 | 0 | 0 | 91 | 91'],
  },
  {
    query: 'freezes',
    of: 'VMs of one size, of which the one with Linux was paused and the one with Windows was not',
    stage: {
      vms: { ...one, web_1: { vmSize: 'Standard_E8s_v5', osType: 'Windows' } },
      plays: [play('freeze', 0, 'web_0'), play('no-impact', 0, 'web_1')],
      askedAt: 60,
    },
    show: ['VmSize', 'OsType', 'Freezes', 'NotFelt', 'P95'],
    rows: ['Standard_E8s_v5 | Linux | 1 | 0 | 7', 'Standard_E8s_v5 | Windows | 1 | 1 | 0'],
  },
  {
    query: 'advertised-against-measured',
    of: 'a reboot of a VM with Linux, and of one with Windows',
    stage: {
      vms: { web_0: {}, web_1: { osType: 'Windows' } },
      plays: [play('reboot', 0, 'web_0'), play('reboot', 0, 'web_1')],
      askedAt: 60,
    },
    show: ['EventType', 'OsType', 'Advertised', 'Vms', 'P50Seconds'],
    rows: ['Reboot | Linux | unknown | 1 | 91', 'Reboot | Windows | unknown | 1 | 91'],
  },
  {
    query: 'advertised-against-measured',
    of: 'a freeze that is not over',
    stage: { vms: one, plays: [play('freeze', 0, 'web_0')], askedAt: 16 },
    show: ['EventType'],
    rows: [],
  },
  {
    query: 'reboots-that-were-freezes',
    of: 'a reboot in which the VM was paused for nine seconds, and a real one',
    stage: { vms: two, plays: [play('reboot-became-freeze', 0, 'web_0'), play('reboot', 0, 'web_1')], askedAt: 60 },
    show: ['VmName', 'StartedAt', 'EndedAt', 'PauseSeconds'],
    rows: ['web_0 | 12:15:00 | 12:15:05 | 9'],
  },
  {
    query: 'reboots-that-were-freezes',
    of: 'a reboot, and a freeze',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0'), play('freeze', 0, 'web_1')], askedAt: 60 },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'host-moves',
    of: 'a VM that was moved to another host, and an hour later back again',
    stage: {
      vms: one,
      plays: [play('freeze', 0, 'web_0'), play('freeze', 60, 'web_0')],
      hosts: ['host-1', 'host-2'],
      askedAt: 120,
    },
    show: ['Host', 'MovedAway', 'LastLeftAt', 'EventTypes', 'Vms', 'WentTo', 'CameBack', 'BackWith'],
    rows: [
      'host-1 | 1 | 13:15:00 | Freeze | web_0 | host-2 | 0 | -',
      'host-2 | 1 | 12:15:00 | Freeze | web_0 | host-1 | 1 | web_0',
    ],
  },
  {
    query: 'host-moves',
    of: 'a reboot on the same host, and a freeze of a VM without a known host',
    stage: {
      vms: two,
      plays: [play('reboot', 0, 'web_0'), play('freeze', 0, 'web_1')],
      askedAt: 60,
    },
    show: ['Host'],
    rows: [],
  },
  {
    query: 'noisiest-vms',
    of: 'a VM that was frozen and rebooted, and one that was frozen without feeling it',
    stage: {
      vms: two,
      plays: [play('freeze', 0, 'web_0'), play('reboot', 60, 'web_0'), play('no-impact', 0, 'web_1')],
      askedAt: 120,
    },
    show: ['VmName', 'Events', 'Felt', 'Freezes', 'PauseSeconds', 'OutageSeconds', 'LastAt'],
    rows: ['web_0 | 2 | 2 | 1 | 7 | 91 | 13:15:00', 'web_1 | 1 | 0 | 1 | 0 | 0 | 12:15:00'],
  },
  {
    query: 'noisiest-vms',
    of: 'a migration that was called off, and one that is to come',
    stage: { vms: two, plays: [play('canceled', 0, 'web_0'), play('freeze', 50, 'web_1')], askedAt: 60 },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'announced-but-never-happened',
    of: 'a migration that was canceled, and one without an observed start',
    stage: { vms: two, plays: [play('canceled', 0, 'web_0'), play('missed-started', 0, 'web_1')], askedAt: 60 },
    show: ['VmName', 'EventType', 'IsCertain', 'EndedAt', 'Evidence'],
    rows: [
      'web_1 | Freeze | false | 12:15:00 | incarnation-gap not-before-passed',
      'web_0 | Freeze | true | 12:08:00 | left-before-not-before',
    ],
  },
  {
    query: 'announced-but-never-happened',
    of: 'a freeze that came, if without effect, and one that is to come',
    stage: { vms: two, plays: [play('no-impact', 0, 'web_0'), play('freeze', 50, 'web_1')], askedAt: 60 },
    show: ['VmName'],
    rows: [],
  },
];
