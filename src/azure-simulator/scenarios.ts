/**
 * What Azure does to a VM, as data: each scenario a list of timed steps with the timing of the real thing
 * (https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events) and a speed at which it can be watched.
 * To add a scenario, add one here: the player, `simulate` and the demo find it by name.
 */
export interface Scenario {
  readonly name: string;
  /** One sentence for a person. */
  readonly description: string;
  /** How many times faster than real it is shown in a demonstration. */
  readonly demoSpeed: number;
  readonly steps: readonly Step[];
}

/** `afterSeconds` counts from the step before, in real time. 0: at once, so that no poll comes in between. */
export type Step = { readonly afterSeconds: number } & (
  | Announce
  /** Ends its waiting early when the event is approved. */
  | { readonly do: 'start'; readonly event: string }
  | { readonly do: 'remove'; readonly event: string }
  | { readonly do: 'reschedule'; readonly event: string; readonly noticeSeconds: number }
);

/** An event appears. `event` is the scenario's own name for it, by which later steps mean it. */
export interface Announce {
  readonly do: 'schedule';
  readonly event: string;
  readonly eventType: 'Freeze' | 'Reboot' | 'Redeploy' | 'Preempt' | 'Terminate';
  /** From this step to NotBefore, in real time; null: the event is Started when it appears. */
  readonly noticeSeconds: number | null;
  /** Default: 5 for a Freeze, else -1 (unknown). */
  readonly durationSeconds?: number;
  readonly eventSource?: 'Platform' | 'User';
  readonly description?: string;
}

const minute = 60;
const day = 86_400;

export const scenarios: readonly Scenario[] = [
  {
    name: 'freeze',
    description: 'Azure moves the VM to another host while it runs: announced 15 minutes ahead, frozen for 5 seconds.',
    demoSpeed: 240,
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'migration', eventType: 'Freeze', noticeSeconds: 15 * minute },
      { afterSeconds: 15 * minute, do: 'start', event: 'migration' },
      { afterSeconds: 10 * minute, do: 'remove', event: 'migration' },
    ],
  },
  {
    name: 'reboot',
    description: 'Azure restarts the VM for maintenance of its host, announced 15 minutes ahead.',
    demoSpeed: 200,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'maintenance',
        eventType: 'Reboot',
        noticeSeconds: 15 * minute,
        description: 'Virtual machine is going to be restarted because of maintenance of its host.',
      },
      { afterSeconds: 15 * minute, do: 'start', event: 'maintenance' },
      { afterSeconds: 8 * minute, do: 'remove', event: 'maintenance' },
    ],
  },
  {
    name: 'canceled',
    description: 'A live migration is announced a day ahead and withdrawn after 8 minutes, judged too risky.',
    // Slow enough that NotBefore is still minutes away when the event leaves: only then does it count as canceled.
    demoSpeed: 160,
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'migration', eventType: 'Freeze', noticeSeconds: day },
      { afterSeconds: 8 * minute, do: 'remove', event: 'migration' },
    ],
  },
  {
    name: 'missed-started',
    description:
      'A freeze so short that nobody sees it Started: the document goes from incarnation 2 to 4 between two polls.',
    demoSpeed: 240,
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'migration', eventType: 'Freeze', noticeSeconds: 15 * minute },
      { afterSeconds: 15 * minute, do: 'start', event: 'migration' },
      { afterSeconds: 0, do: 'remove', event: 'migration' },
    ],
  },
  {
    name: 'hardware-failure',
    description: 'The host fails: the VM is restarted elsewhere, and the event is Started when it is first seen.',
    demoSpeed: 100,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'failure',
        eventType: 'Reboot',
        noticeSeconds: null,
        description: 'Virtual machine is being restarted because of a hardware failure of its host.',
      },
      { afterSeconds: 5 * minute, do: 'remove', event: 'failure' },
    ],
  },
  {
    name: 'user-redeploy',
    description: 'Somebody redeploys the VM in the portal: it waits 10 minutes for an approval.',
    demoSpeed: 150,
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'redeploy',
        eventType: 'Redeploy',
        noticeSeconds: 10 * minute,
        eventSource: 'User',
        description: 'Virtual machine is going to be redeployed as requested by authorized user.',
      },
      { afterSeconds: 10 * minute, do: 'start', event: 'redeploy' },
      { afterSeconds: 5 * minute, do: 'remove', event: 'redeploy' },
    ],
  },
  {
    name: 'degraded-host',
    description: 'A predicted hardware failure, announced a week ahead; a day later the date is brought forward.',
    demoSpeed: 43_200,
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'degraded', eventType: 'Redeploy', noticeSeconds: 7 * day },
      { afterSeconds: day, do: 'reschedule', event: 'degraded', noticeSeconds: 2 * day },
      { afterSeconds: 2 * day, do: 'start', event: 'degraded' },
      { afterSeconds: 20 * minute, do: 'remove', event: 'degraded' },
    ],
  },
  {
    name: 'preempt',
    description: 'A Spot VM is taken away with 30 seconds of warning.',
    demoSpeed: 10,
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'eviction', eventType: 'Preempt', noticeSeconds: 30 },
      { afterSeconds: 30, do: 'start', event: 'eviction' },
      { afterSeconds: 30, do: 'remove', event: 'eviction' },
    ],
  },
  {
    name: 'terminate',
    description: 'A scale set scales in: the VM has 5 minutes to say goodbye.',
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

/** @returns undefined when there is no scenario of that name. */
export function findScenario(name: string): Scenario | undefined {
  return scenarios.find((scenario) => scenario.name === name);
}
