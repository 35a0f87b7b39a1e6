import { made, play, seconds } from '../stage.ts';
import { approvedBy, type QueryCase } from './case.ts';

const minute = 60;

/** A reboot that is announced five minutes ahead, where Azure documents fifteen. */
const short = made(
  'short',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Reboot', noticeSeconds: 5 * minute },
  { afterSeconds: 5 * minute, do: 'start', event: 'one' },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
);

/** A reboot of one VM that takes a second one with it when it has begun. */
const spreads = made(
  'spreads',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Reboot', noticeSeconds: 15 * minute, on: [0] },
  { afterSeconds: 15 * minute, do: 'start', event: 'one' },
  { afterSeconds: minute, do: 'change', event: 'one', on: [0, 1] },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
);

/** A host that fails half an hour after a redeploy was announced for two days later. */
const early = made(
  'early',
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Redeploy', noticeSeconds: 2 * 24 * 60 * minute },
  { afterSeconds: 30 * minute, do: 'start', event: 'one' },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
);

export const noticeCases: readonly QueryCase[] = [
  {
    query: 'notice-given',
    of: 'a freeze with a quarter of an hour, a reboot with five minutes, and one during a gap',
    stage: {
      vms: { web_0: {}, web_1: {}, web_2: {} },
      plays: [play('freeze', 0, 'web_0'), play(short, 0, 'web_1'), play('hardware-failure', 0, 'web_2')],
      askedAt: 60,
    },
    show: [
      'EventType',
      'EventSource',
      'MinimumSeconds',
      'Vms',
      'NotMeasured',
      'BelowMinimum',
      'P05Seconds',
      'P50Seconds',
    ],
    rows: ['Freeze | Platform | 900 | 1 | 0 | 0 | 900 | 900', 'Reboot | Platform | 900 | 2 | 1 | 1 | 300 | 300'],
  },
  {
    query: 'notice-given',
    of: 'a freeze that has not started',
    stage: { vms: { web_0: {} }, plays: [play('freeze', 0, 'web_0')], askedAt: 10 },
    show: ['EventType'],
    rows: [],
  },
  {
    query: 'notice-below-minimum',
    of: 'a reboot that was announced late, and one that was approved',
    stage: {
      vms: { web_0: {}, web_1: {} },
      plays: [play(short, 0, 'web_0'), play('approved', 30, 'web_1')],
      askedAt: 60,
    },
    show: ['VmName', 'EventType', 'NoticeSeconds', 'MinimumSeconds', 'EarlySeconds', 'Because'],
    rows: [
      'web_1 | Reboot | 20 | 900 | 880 | began before NotBefore: the host failed, or someone approved it',
      'web_0 | Reboot | 300 | 900 | - | announced late',
    ],
  },
  {
    query: 'notice-below-minimum',
    of: 'a redeploy that began two days before its announced time, with half an hour of warning',
    stage: { vms: { web_0: {} }, plays: [play(early, 0, 'web_0')], askedAt: 60 },
    show: ['VmName', 'NoticeSeconds', 'MinimumSeconds', 'EarlySeconds', 'Because'],
    rows: ['web_0 | 1800 | 600 | 171000 | began before NotBefore: the host failed, or someone approved it'],
  },
  {
    query: 'notice-given',
    of: 'a redeploy that a bridge approved',
    stage: { vms: { web_0: {} }, plays: [play(early, 0, 'web_0')], askedAt: 60 },
    change: approvedBy('web_0', 29),
    show: ['EventType', 'Vms', 'Approved', 'Early', 'NotMeasured', 'BelowMinimum', 'P50Seconds'],
    rows: ['Redeploy | 1 | 1 | 0 | 0 | 0 | -'],
  },
  {
    query: 'notice-below-minimum',
    of: 'an eviction with its thirty seconds and a freeze with its quarter of an hour',
    stage: {
      vms: { web_0: {}, web_1: {} },
      plays: [play('preempt', 0, 'web_0'), play('freeze', 0, 'web_1')],
      askedAt: 60,
    },
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'no-notice',
    of: 'a host that failed, with a neighbour that observed it',
    stage: {
      vms: { web_0: {}, web_1: {} },
      plays: [play('hardware-failure', 0, 'web_0')],
      witnessRate: 1,
      askedAt: 60,
    },
    show: ['VmName', 'EventType', 'Watched', 'Outcome'],
    rows: ['web_0 | Reboot | true | Completed'],
  },
  {
    query: 'no-notice',
    of: 'the same without a neighbour: the VM found the event when it was back',
    stage: { vms: { web_0: {} }, plays: [play('hardware-failure', 0, 'web_0')], askedAt: 60 },
    show: ['VmName', 'Reason', 'EventType', 'Watched', 'BeganAt'],
    rows: ['web_0 | not announced | Reboot | false | 11:59:59'],
  },
  {
    query: 'no-notice',
    of: 'a redeploy that began two days before its announced time, and one that was canceled in its place',
    stage: {
      vms: { web_0: {}, web_1: {} },
      plays: [play(early, 0, 'web_0'), play('canceled', 0, 'web_1')],
      askedAt: 60,
    },
    show: ['VmName', 'Reason', 'BeganAt', 'NotBefore', 'Outcome'],
    rows: ['web_0 | before its time | 12:30:00 | 03-03 12:00:00 | Completed'],
  },
  {
    query: 'no-notice',
    of: 'a redeploy that began two days early because a bridge approved it',
    stage: { vms: { web_0: {} }, plays: [play(early, 0, 'web_0')], askedAt: 60 },
    change: approvedBy('web_0', 29),
    show: ['VmName'],
    rows: [],
  },
  {
    query: 'no-notice',
    of: 'a reboot that was announced for another VM, and took this one with it',
    stage: { vms: { web_0: {}, web_1: {} }, plays: [play(spreads, 0, 'web_0', 'web_1')], askedAt: 60 },
    show: ['VmName', 'EventType', 'Watched'],
    rows: ['web_1 | Reboot | false'],
  },
  {
    query: 'no-notice',
    of: 'an announced reboot, observed as started by a bridge that came later',
    stage: {
      vms: { web_0: { joinsAt: seconds(16) }, web_1: {} },
      plays: [play('reboot', 0, 'web_0')],
      witnessRate: 1,
      askedAt: 60,
    },
    show: ['VmName'],
    rows: [],
  },
];
