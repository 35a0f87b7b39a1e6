import { minute, type Scenario } from './scenario.ts';

/** Events that were requested: by a user, by the rules of a scale set, or by Spot capacity being reclaimed. */
export const requestedScenarios: readonly Scenario[] = [
  {
    name: 'user-reboot',
    description: 'A user restarts the VM in the portal; without an approval it waits the full 15 minutes.',
    demoSpeed: 200,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'restart',
        eventType: 'Reboot',
        noticeSeconds: 15 * minute,
        eventSource: 'User',
      },
      { afterSeconds: 15 * minute, do: 'start', event: 'restart' },
      { afterSeconds: 5, do: 'impact', event: 'restart', kind: 'restart', seconds: 60 },
      { afterSeconds: 5 * minute, do: 'remove', event: 'restart' },
    ],
  },
  {
    name: 'user-redeploy',
    description: 'A user redeploys the VM in the portal: the event waits 10 minutes for an approval.',
    demoSpeed: 150,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'redeploy',
        eventType: 'Redeploy',
        noticeSeconds: 10 * minute,
        eventSource: 'User',
      },
      { afterSeconds: 10 * minute, do: 'start', event: 'redeploy' },
      { afterSeconds: 5, do: 'impact', event: 'redeploy', kind: 'restart', seconds: 4 * minute },
      { afterSeconds: 5 * minute, do: 'remove', event: 'redeploy' },
    ],
  },
  {
    name: 'approved',
    description:
      'The VM approves a restart that a user requested after 20 seconds: it starts at once, 14 minutes early.',
    demoSpeed: 60,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'restart',
        eventType: 'Reboot',
        noticeSeconds: 15 * minute,
        eventSource: 'User',
      },
      { afterSeconds: 20, do: 'approve', event: 'restart', by: 0 },
      { afterSeconds: 5, do: 'impact', event: 'restart', kind: 'restart', seconds: 60 },
      { afterSeconds: 5 * minute, do: 'remove', event: 'restart' },
    ],
  },
  {
    // The documents name no event type for it. Here it has one that they do not list, as every reader has to expect.
    name: 'os-image-upgrade',
    description:
      'A scale set gives its first instance a new OS image: its disk is replaced after 15 minutes of notice.',
    demoSpeed: 200,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'upgrade',
        eventType: 'Reimage',
        noticeSeconds: 15 * minute,
        description: 'Virtual machine is going to be reimaged because of an upgrade of its OS image.',
      },
      { afterSeconds: 15 * minute, do: 'start', event: 'upgrade' },
      { afterSeconds: 10, do: 'impact', event: 'upgrade', kind: 'restart', seconds: 3 * minute },
      { afterSeconds: 8 * minute, do: 'remove', event: 'upgrade' },
    ],
  },
  {
    name: 'preempt',
    description: 'A Spot VM is evicted with 30 seconds of notice.',
    demoSpeed: 10,
    vms: [{ priority: 'Spot' }],
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'eviction', eventType: 'Preempt', noticeSeconds: 30 },
      { afterSeconds: 30, do: 'start', event: 'eviction' },
      { afterSeconds: 30, do: 'remove', event: 'eviction' },
    ],
  },
  {
    name: 'terminate',
    description: 'A scale set scales in: the VM gets 5 minutes of notice.',
    demoSpeed: 100,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'deletion',
        eventType: 'Terminate',
        noticeSeconds: 5 * minute,
        eventSource: 'User',
      },
      { afterSeconds: 5 * minute, do: 'start', event: 'deletion' },
      { afterSeconds: 3 * minute, do: 'remove', event: 'deletion' },
    ],
  },
];
