import { hourly, hoursOf, reboot, type Timeline, web } from './timeline.ts';

/** Value of each tile in its order: in the next hour, announced, in progress, stuck, bridges, silent. */
export const tiles: readonly {
  readonly name: string;
  readonly timeline: Timeline;
  readonly values: readonly number[];
}[] = [
  {
    name: 'a VM that went down 20 hours ago, before it saw its reboot start, is stuck and silent',
    timeline: {
      vms: web(1),
      events: [reboot('web_0', { announced: '14 15:45:00', notBefore: '14 16:00:00' })],
      heartbeats: [{ vm: 'web_0', at: '14 15:50:00' }],
    },
    values: [0, 0, 0, 1, 1, 1],
  },
  {
    name: 'a VM that falls silent two days before its redeploy is stuck: its host may have failed',
    timeline: {
      vms: web(1),
      events: [{ vm: 'web_0', event: 'r', type: 'Redeploy', announced: '14 18:00:00', notBefore: '17 12:00:00' }],
      heartbeats: hourly('web_0', '15', hoursOf(0, 7), {
        next: { event: 'r', type: 'Redeploy', notBefore: '17 12:00:00' },
      }),
    },
    values: [0, 0, 0, 1, 1, 1],
  },
  {
    name: 'an event that was announced five days ago is known from the last heartbeat',
    timeline: {
      vms: web(1),
      events: [reboot('web_0', { announced: '10 12:00:00', notBefore: '15 12:40:00' })],
      heartbeats: hourly('web_0', '15', hoursOf(8, 11), {
        next: { event: 'reboot of web_0', type: 'Reboot', notBefore: '15 12:40:00' },
      }),
    },
    values: [1, 1, 0, 0, 1, 0],
  },
  {
    name: 'an event that was canceled after the last heartbeat has ended',
    timeline: {
      vms: web(1),
      events: [
        reboot('web_0', {
          announced: '14 12:00:00',
          notBefore: '15 12:40:00',
          ended: '15 11:20:00',
          outcome: 'Canceled',
        }),
      ],
      heartbeats: hourly('web_0', '15', hoursOf(8, 11), {
        next: { event: 'reboot of web_0', type: 'Reboot', notBefore: '15 12:40:00' },
      }),
    },
    values: [0, 0, 0, 0, 1, 0],
  },
  {
    name: 'an event that Azure starts late is still ahead of a VM that reports',
    timeline: {
      vms: web(1),
      events: [reboot('web_0', { announced: '15 10:45:00', notBefore: '15 11:00:00' })],
      heartbeats: [
        { vm: 'web_0', at: '15 10:50:00' },
        { vm: 'web_0', at: '15 11:50:00' },
      ],
    },
    values: [1, 1, 0, 0, 1, 0],
  },
  {
    name: 'a start 29 minutes ago is in progress, one 31 minutes ago is stuck',
    timeline: {
      vms: web(2),
      events: [
        reboot('web_0', { announced: '15 11:10:00', notBefore: '15 11:25:00', started: '15 11:31:00' }),
        reboot('web_1', { announced: '15 11:10:00', notBefore: '15 11:25:00', started: '15 11:29:00' }),
      ],
      heartbeats: [...hourly('web_0', '15', [11]), ...hourly('web_1', '15', [11])],
    },
    values: [0, 0, 1, 1, 2, 0],
  },
  {
    name: 'an eviction has ended ten minutes after its time, though no VM reports its end',
    timeline: {
      vms: web(2),
      events: [
        { vm: 'web_0', event: 'e0', type: 'Preempt', announced: '15 11:48:00', notBefore: '15 11:48:30' },
        { vm: 'web_1', event: 'e1', type: 'Preempt', announced: '15 11:59:40', notBefore: '15 12:00:10' },
      ],
      heartbeats: [...hourly('web_0', '15', [11]), ...hourly('web_1', '15', [11])],
    },
    values: [1, 1, 0, 0, 2, 0],
  },
];
