import { day, minute, type Scenario, type Step } from './scenario.ts';

/** Announced 15 minutes ahead. */
const announced = { afterSeconds: 0, do: 'schedule', noticeSeconds: 15 * minute } as const;

/** Without an approval it starts at NotBefore. The impact follows seconds later, and it leaves the document minutes later. */
function liveMigration(event: string, impactSeconds: number): Step[] {
  return [
    { afterSeconds: 15 * minute, do: 'start', event },
    { afterSeconds: 5, do: 'impact', event, kind: 'freeze', seconds: impactSeconds },
    { afterSeconds: 10 * minute - 5, do: 'remove', event },
  ];
}

function restart(event: string, downSeconds: number): Step[] {
  return [
    { afterSeconds: 15 * minute, do: 'start', event },
    { afterSeconds: 10, do: 'impact', event, kind: 'restart', seconds: downSeconds },
    { afterSeconds: 8 * minute, do: 'remove', event },
  ];
}

/** What Azure does for reasons of its own. */
export const platformScenarios: readonly Scenario[] = [
  {
    name: 'freeze',
    description: 'Azure moves the VM to another host while it runs: announced 15 minutes ahead, frozen for 7 seconds.',
    demoSpeed: 240,
    steps: [{ ...announced, event: 'migration', eventType: 'Freeze' }, ...liveMigration('migration', 7)],
  },
  {
    name: 'reboot',
    description: 'Azure restarts the VM for maintenance of its host, announced 15 minutes ahead.',
    demoSpeed: 200,
    steps: [
      {
        ...announced,
        event: 'maintenance',
        eventType: 'Reboot',
      },
      ...restart('maintenance', 90),
    ],
  },
  {
    name: 'redeploy',
    description: 'Azure moves the VM to another host by way of a restart: the temporary disk is lost.',
    demoSpeed: 200,
    steps: [{ ...announced, event: 'redeploy', eventType: 'Redeploy' }, ...restart('redeploy', 4 * minute)],
  },
  {
    name: 'canceled',
    description: 'A live migration is announced a day ahead and canceled after 8 minutes because it is too risky.',
    // Slow enough that NotBefore is still minutes ahead when the event leaves: only then does it count as canceled.
    demoSpeed: 160,
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'migration', eventType: 'Freeze', noticeSeconds: day },
      { afterSeconds: 8 * minute, do: 'remove', event: 'migration' },
    ],
  },
  {
    name: 'missed-started',
    description:
      'A freeze too short to be seen as Started: the document changes from incarnation 2 to 4 between two polls.',
    demoSpeed: 240,
    steps: [
      { ...announced, event: 'migration', eventType: 'Freeze' },
      { afterSeconds: 15 * minute, do: 'start', event: 'migration' },
      { afterSeconds: 0, do: 'remove', event: 'migration' },
    ],
  },
  {
    name: 'no-impact',
    description: 'Maintenance without impact, as Azure announces it: its duration is 0 seconds.',
    demoSpeed: 240,
    steps: [
      { ...announced, event: 'update', eventType: 'Freeze', durationSeconds: 0 },
      { afterSeconds: 15 * minute, do: 'start', event: 'update' },
      { afterSeconds: 10 * minute, do: 'remove', event: 'update' },
    ],
  },
  {
    name: 'unknown-duration',
    description: 'A freeze of unknown announced duration: it takes 25 seconds.',
    demoSpeed: 240,
    steps: [
      { ...announced, event: 'migration', eventType: 'Freeze', durationSeconds: -1 },
      ...liveMigration('migration', 25),
    ],
  },
  {
    name: 'second-impact',
    description: 'A freeze with a second, shorter one while it is still listed as Started.',
    demoSpeed: 200,
    steps: [
      { ...announced, event: 'migration', eventType: 'Freeze' },
      { afterSeconds: 15 * minute, do: 'start', event: 'migration' },
      { afterSeconds: 5, do: 'impact', event: 'migration', kind: 'freeze', seconds: 7 },
      { afterSeconds: 3 * minute, do: 'impact', event: 'migration', kind: 'freeze', seconds: 2 },
      { afterSeconds: 7 * minute, do: 'remove', event: 'migration' },
    ],
  },
  {
    name: 'reboot-became-freeze',
    description: 'A reboot is announced, but the VM is only frozen for 9 seconds, in which the event ends.',
    demoSpeed: 240,
    steps: [
      { ...announced, event: 'maintenance', eventType: 'Reboot' },
      { afterSeconds: 15 * minute, do: 'start', event: 'maintenance' },
      { afterSeconds: 5, do: 'impact', event: 'maintenance', kind: 'freeze', seconds: 9 },
      { afterSeconds: 0, do: 'remove', event: 'maintenance' },
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
      { afterSeconds: 0, do: 'impact', event: 'failure', kind: 'restart', seconds: 2 * minute },
      { afterSeconds: 5 * minute, do: 'remove', event: 'failure' },
    ],
  },
  {
    name: 'superseded',
    description: 'While a freeze is announced the host fails: a restart replaces it, and the freeze is canceled.',
    demoSpeed: 100,
    steps: [
      { ...announced, event: 'migration', eventType: 'Freeze' },
      { afterSeconds: 5 * minute, do: 'schedule', event: 'failure', eventType: 'Reboot', noticeSeconds: null },
      { afterSeconds: 0, do: 'impact', event: 'failure', kind: 'restart', seconds: 2 * minute },
      { afterSeconds: 3 * minute, do: 'remove', event: 'migration' },
      { afterSeconds: 2 * minute, do: 'remove', event: 'failure' },
    ],
  },
  {
    name: 'degraded-host',
    description: 'A predicted hardware failure, announced a week ahead; a day later it is due earlier.',
    demoSpeed: 43_200,
    steps: [
      { afterSeconds: 0, do: 'schedule', event: 'degraded', eventType: 'Redeploy', noticeSeconds: 7 * day },
      { afterSeconds: day, do: 'change', event: 'degraded', noticeSeconds: 2 * day },
      { afterSeconds: 2 * day, do: 'start', event: 'degraded' },
      { afterSeconds: 10, do: 'impact', event: 'degraded', kind: 'restart', seconds: 4 * minute },
      { afterSeconds: 20 * minute, do: 'remove', event: 'degraded' },
    ],
  },
];
