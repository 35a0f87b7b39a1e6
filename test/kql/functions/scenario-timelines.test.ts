import { expect, test } from 'vitest';
import { scenarios } from '../../../src/azure-simulator/scenarios/index.ts';
import { rowsOf } from '../../support/fleet-rows/scenario-rows.ts';
import { answer } from './query.ts';

/** Each scenario at its real pace from noon on, with a bridge on web_0. */
const timelines: Readonly<Record<string, readonly string[]>> = {
  // EventType, VmName, SeenFrom, ScheduledAt, StartedAt, EndedAt, Outcome, NoticeSeconds, ObservedPauseTotalMs
  freeze: ['Freeze | web_0 | itself | 12:00:01 | 12:15:01 | 12:25:01 | Completed | 900 | 7000'],
  reboot: ['Reboot | web_0 | itself | 12:00:01 | 12:15:01 | 12:23:11 | Completed | 900 | 0'],
  redeploy: ['Redeploy | web_0 | itself | 12:00:01 | 12:15:01 | 12:23:11 | Completed | 900 | 0'],
  canceled: ['Freeze | web_0 | itself | 12:00:01 | - | 12:08:01 | Canceled | 86400 | 0'],
  'missed-started': ['Freeze | web_0 | itself | 12:00:01 | - | 12:15:01 | Ended | 899 | 0'],
  'no-impact': ['Freeze | web_0 | itself | 12:00:01 | 12:15:01 | 12:25:01 | Completed | 900 | 0'],
  'unknown-duration': ['Freeze | web_0 | itself | 12:00:01 | 12:15:01 | 12:25:01 | Completed | 900 | 25000'],
  'second-impact': ['Freeze | web_0 | itself | 12:00:01 | 12:15:01 | 12:25:06 | Completed | 900 | 9000'],
  'reboot-became-freeze': ['Reboot | web_0 | itself | 12:00:01 | 12:15:01 | 12:15:06 | Completed | 900 | 9000'],
  'hardware-failure': ['Reboot | web_0 | itself | - | 12:05:00 | 12:05:01 | Completed | - | 0'],
  superseded: [
    'Freeze | web_0 | itself | 12:00:01 | - | 12:08:01 | Canceled | 900 | 0',
    'Reboot | web_0 | itself | - | 12:08:00 | 12:10:01 | Completed | - | 0',
  ],
  'degraded-host': ['Redeploy | web_0 | itself | 12:00:01 | 03-04 12:00:01 | 03-04 12:20:11 | Completed | 259200 | 0'],
  'user-reboot': ['Reboot | web_0 | itself | 12:00:01 | 12:15:01 | 12:20:06 | Completed | 900 | 0'],
  'user-redeploy': ['Redeploy | web_0 | itself | 12:00:01 | 12:10:01 | 12:15:06 | Completed | 600 | 0'],
  approved: ['Reboot | web_0 | itself | 12:00:01 | 12:00:21 | 12:05:26 | Completed | 20 | 0'],
  'os-image-upgrade': ['Reimage | web_0 | itself | 12:00:01 | 12:15:01 | 12:23:11 | Completed | 900 | 0'],
  preempt: ['Preempt | web_0 | itself | 12:00:01 | 12:00:31 | 12:01:01 | Completed | 30 | 0'],
  terminate: ['Terminate | web_0 | itself | 12:00:01 | 12:05:01 | 12:08:01 | Completed | 300 | 0'],
  'leaves-resources': [
    'Reboot | web_0 | itself | 12:00:01 | - | 12:05:01 | Canceled | 900 | 0',
    'Reboot | web_1 | witness | 12:00:01 | 12:15:01 | 12:23:11 | Completed | 900 | -',
  ],
  'fault-domains-in-turn': ['Reboot | web_0 | itself | 12:00:01 | 12:15:01 | 12:23:11 | Completed | 900 | 0'],
  'gpu-one-fault-domain': ['Reboot | web_0 | itself | 12:28:11 | 12:43:11 | 12:51:21 | Completed | 900 | 0'],
  'standalone-in-zone': ['Freeze | web_0 | itself | 12:25:06 | 12:40:06 | 12:50:11 | Completed | 900 | 7000'],
  // Restarted itself, it sees the start when it is back.
  'scale-set-rolling': [
    'Reboot | web_0 | itself | 12:00:01 | 12:25:00 | 12:25:01 | Completed | 899 | 0',
    'Reboot | web_5 | witness | 12:00:01 | 12:25:00 | 12:25:01 | Completed | 899 | -',
  ],
};
/** They are about time-outs and destinations, not about events. */
const elsewhere = ['warm-up', 'chaos'];

test('every scenario that is about events has a timeline', () => {
  expect([...Object.keys(timelines), ...elsewhere].sort()).toEqual(scenarios.map(({ name }) => name).sort());
});

test.each(Object.entries(timelines))('the timeline of %s', async (name, expected) => {
  const { now, ...tables } = await rowsOf(name);
  const columns =
    'EventType, VmName, SeenFrom, ScheduledAt, StartedAt, EndedAt, Outcome, NoticeSeconds, ObservedPauseTotalMs';
  const query = `VmEventTimeline(30d) | sort by FirstSeenAt asc, VmName asc | project ${columns}`;
  expect(answer(query, { tables, now: now.toISOString() })).toEqual(expected);
});
