import type { Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import { drawn, type Group, type GroupVm, type Play, playGroup } from './group-play.ts';

/** Seconds. */
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** One fault domain after the other: announced, started a quarter of an hour later, removed ten minutes after that. */
export const wave = {
  domains: 5,
  everySeconds: 35 * minute,
  noticeSeconds: 15 * minute,
  workSeconds: 10 * minute,
  /** How long a restart takes, by the place of the VM in its domain. */
  restartSeconds: (place: number): number => [70, 95, 120, 150][place % 4] ?? 70,
} as const;

/** Maintenance of one fault domain: of the VMs with these numbers, in the order of their places. */
function maintenanceOf(domain: number, on: readonly number[], restartSeconds: (place: number) => number) {
  const at = domain * wave.everySeconds;
  const event = `domain ${domain}`;
  const startsAt = at + wave.noticeSeconds;
  const lengths = [...Map.groupBy(on, (_, place) => restartSeconds(place))];
  const impacts = lengths.map(([seconds, numbers]) => ({
    at: startsAt + 5,
    step: { do: 'impact', event, kind: 'restart', on: numbers, seconds } as const,
  }));
  return [
    { at, step: { do: 'schedule', event, eventType: 'Reboot', noticeSeconds: wave.noticeSeconds, on } as const },
    { at: startsAt, step: { do: 'start', event } as const },
    ...impacts,
    { at: startsAt + wave.workSeconds, step: { do: 'remove', event } as const },
  ];
}

function inOrder(timed: ReturnType<typeof maintenanceOf>): Scenario {
  timed.sort((a, b) => a.at - b.at);
  const steps = timed.map(({ at, step }, index) => ({ ...step, afterSeconds: at - (timed[index - 1]?.at ?? 0) }));
  return { name: 'maintenance', description: 'One fault domain after the other.', demoSpeed: 1, steps };
}

/** Maintenance of a scale set of which VM number n is in fault domain n modulo five. */
export function maintenance(vms: number): Scenario {
  const numbers = Array.from({ length: vms }, (_, number) => number);
  const domains = Array.from({ length: wave.domains }, (_, domain) =>
    maintenanceOf(
      domain,
      numbers.filter((number) => number % wave.domains === domain),
      wave.restartSeconds,
    ),
  );
  return inOrder(domains.flat());
}

const production = { subscriptionId: '11111111-2222-4333-8444-555555555555', location: 'westeurope' } as const;

/** A scale set with a bridge on each VM, in one zone and five fault domains. */
export function scaleSet(
  name: string,
  vms: number,
  { owner, zone }: { readonly owner: string; readonly zone: string },
): GroupVm[] {
  return Array.from({ length: vms }, (_, number) => ({
    name: `${name}_${number}`,
    ...production,
    resourceGroup: `shop-${name}`,
    scaleSet: name,
    zone,
    faultDomain: String(number % wave.domains),
    vmSize: 'Standard_D4s_v5',
    tags: { owner, environment: 'production' },
  }));
}

const scenario = (...steps: Scenario['steps']): Scenario => ({
  name: 'one',
  description: 'One event.',
  demoSpeed: 1,
  steps,
});

const freeze = (noticeSeconds: number): Scenario =>
  scenario(
    { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Freeze', noticeSeconds, durationSeconds: 9 },
    { afterSeconds: noticeSeconds, do: 'start', event: 'one' },
    { afterSeconds: 5, do: 'impact', event: 'one', kind: 'freeze', seconds: 6 },
    { afterSeconds: 10, do: 'remove', event: 'one' },
  );
const announced = (eventType: string, noticeSeconds: number, on: readonly number[] = [0]): Scenario =>
  scenario({ afterSeconds: 0, do: 'schedule', event: 'one', eventType, noticeSeconds, on });
const canceled = scenario(
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Redeploy', noticeSeconds: 2 * hour },
  { afterSeconds: 20 * minute, do: 'remove', event: 'one' },
);
const stuck = scenario(
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Redeploy', noticeSeconds: 10 * minute },
  { afterSeconds: 10 * minute, do: 'start', event: 'one' },
);

/** When the small fleet begins, and when it is looked at: the fourth fault domain of `web` is restarting. */
export const smallFleet = { from: new Date('2026-11-20T00:00:00Z'), nowSeconds: 4 * hour + 2 * minute } as const;

const play = (one: Scenario, at: number, ...on: readonly string[]): Play => ({ scenario: one, at, on });
const waveAt = 2 * hour;

/** A fleet of 87 VMs: a wave, freezes, evictions, events of the next days, one canceled, one stuck. */
export function smallFleetGroups(): readonly Group[] {
  const single = (name: string, zone: string, ...plays: readonly Play[]): Group => ({
    name,
    vms: [
      {
        name,
        ...production,
        resourceGroup: 'databases',
        scaleSet: null,
        sees: 'own',
        zone,
        tags: { owner: 'data-team', environment: 'production' },
      },
    ],
    plays,
  });
  return [
    {
      name: 'web',
      vms: scaleSet('web', 60, { owner: 'web-team', zone: '1' }),
      plays: [{ scenario: maintenance(60), at: waveAt }],
      witnessRate: 0.05,
    },
    {
      name: 'api',
      vms: scaleSet('api', 15, { owner: 'api-team', zone: '2' }),
      plays: [
        play(freeze(15 * minute), hour, 'api_2'),
        play(freeze(15 * minute), 2.6 * hour, 'api_7'),
        play(canceled, 1.5 * hour, 'api_4'),
        play(announced('Freeze', 15 * minute), 4 * hour - 4 * minute, 'api_11'),
        play(announced('Reboot', 2.15 * day, [0, 1, 2]), 3 * hour, 'api_0', 'api_5', 'api_10'),
      ],
    },
    {
      name: 'batch',
      vms: scaleSet('batch', 8, { owner: 'data-team', zone: '3' }).map((vm) => ({ ...vm, priority: 'Spot' })),
      plays: [play(announced('Preempt', 30), 4 * hour + minute + 40, 'batch_3'), play(stuck, 2.9 * hour, 'batch_6')],
    },
    single('sql-1', '2', play(announced('Redeploy', 2.3 * day), hour, 'sql-1')),
    single('sql-2', '3', play(announced('Reboot', 4.36 * day), 0.5 * hour, 'sql-2')),
    single('sap-1', '1', play(announced('Terminate', 15 * minute), 2 * hour, 'sap-1')),
    single('dev-30', '1', play(announced('Freeze', 8.2 * hour), 3.5 * hour, 'dev-30')),
  ];
}

/** By the time at which they were observed, as a hub would give them. */
export function recordsOf(groups: readonly Group[], from: Date, seconds: number): readonly LifecycleRecord[] {
  return groups
    .flatMap((group) => playGroup(group, from, seconds))
    .flatMap(({ records }) => records)
    .sort((a, b) => a.observedAt.localeCompare(b.observedAt));
}

/** A thousand VMs in ten scale sets, whose waves follow one another for two weeks: about 50,000 records. */
export const largeFleet = { from: new Date('2026-11-06T00:00:00Z'), nowSeconds: 14 * day, vms: 1000 } as const;

/** Each fault domain shares a document of its own: a VM then reads fewer of them, and the fleet is made in seconds. */
export function largeFleetGroups(): readonly Group[] {
  const perSet = 100;
  const waves = 16;
  return Array.from({ length: largeFleet.vms / perSet }, (_, number) => {
    const name = `set${number}`;
    const vms = scaleSet(name, perSet, { owner: `team-${number % 3}`, zone: String(1 + (number % 3)) });
    const begins = Array.from(
      { length: waves },
      (_, index) =>
        Math.floor((index * largeFleet.nowSeconds) / waves) + drawn(`wave ${index} of ${name}`, 9 * hour) + 8 * hour,
    );
    return Array.from({ length: wave.domains }, (_, domain): Group => {
      const own = vms.filter((_, place) => place % wave.domains === domain);
      const places = own.map((_, place) => place);
      const one = inOrder(maintenanceOf(domain, places, () => wave.restartSeconds(domain)));
      return { name: `${name}, domain ${domain}`, vms: own, plays: begins.map((at) => ({ scenario: one, at })) };
    });
  }).flat();
}
