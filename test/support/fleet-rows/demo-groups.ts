import type { VmDefinition } from '../../../src/azure-simulator/imds/vm.ts';
import { findScenario, rollingMaintenance, type Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import type { Group, GroupVm, Play } from './group-play.ts';
import { drawn } from './group-play.ts';

/** What the demo fleet is and what happened to it: scale sets and single VMs, zones, sizes, Spot, ages, versions. Times are seconds. */
const minute = 60;
const hour = 60 * minute;
export const day = 24 * hour;
/** So long before now it begins. */
export const fleetSeconds = 14 * day;

/** Beginning of something that is `before` now. */
const ago = (seconds: number): number => fleetSeconds - seconds;

function scenario(name: string): Scenario {
  const found = findScenario(name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

const play = (name: string, at: number, ...on: readonly string[]): Play => ({ scenario: scenario(name), at, on });

const vmsNamed = (set: string, count: number, traits: (number: number) => Partial<GroupVm>): GroupVm[] =>
  Array.from({ length: count }, (_, number) => ({ name: `${set}_${number}`, ...traits(number) }));

const hostsNamed = (cluster: string, count: number): string[] =>
  Array.from({ length: count }, (_, number) => `${cluster}-BL${String(number + 1).padStart(2, '0')}`);

const production = { subscriptionId: '11111111-2222-4333-8444-555555555555', location: 'westeurope' } as const;
const testing = { subscriptionId: '66666666-7777-4888-9999-000000000000', location: 'northeurope' } as const;
const rings = ['canary', 'early', 'broad', 'broad', 'broad'] as const;
const ring = (number: number) => ({ ring: rings[number % rings.length] ?? 'broad' });

/** Freezes that come and go with no harm, one every so often, spread over the VMs. */
const freezes = (set: string, vms: number, count: number): Play[] =>
  Array.from({ length: count }, (_, number) => {
    const at = hour + drawn(`freeze ${number} of ${set}`, fleetSeconds - 4 * hour);
    const vm = drawn(`frozen ${number} of ${set}`, vms);
    return play(
      ['freeze', 'freeze', 'freeze', 'second-impact', 'no-impact'][number % 5] ?? 'freeze',
      at,
      `${set}_${vm}`,
    );
  });

/** A restart that lasts longer than half an hour, and is not over. */
const stuck: Scenario = {
  name: 'stuck',
  description: 'A restart has started and does not leave the document.',
  demoSpeed: 1,
  steps: [
    { afterSeconds: 0, do: 'schedule', event: 'maintenance', eventType: 'Reboot', noticeSeconds: 15 * minute },
    { afterSeconds: 15 * minute, do: 'start', event: 'maintenance' },
    { afterSeconds: 10, do: 'impact', event: 'maintenance', kind: 'restart', seconds: 3 * minute },
  ],
};

const inTwoDomains: Scenario = {
  name: 'in-two-domains',
  description: 'Two fault domains of one set are restarted at once.',
  demoSpeed: 1,
  steps: [0, 1, 2]
    .flatMap((vm): Scenario['steps'] => [
      {
        afterSeconds: 30,
        do: 'schedule',
        event: `of VM ${vm}`,
        eventType: 'Reboot',
        noticeSeconds: 15 * minute,
        on: [vm],
      },
    ])
    .concat(
      [0, 1, 2].flatMap((vm): Scenario['steps'] => [
        { afterSeconds: vm === 0 ? 14 * minute : 30, do: 'start', event: `of VM ${vm}` },
        { afterSeconds: 5, do: 'impact', event: `of VM ${vm}`, kind: 'restart', on: [vm], seconds: 2 * minute },
      ]),
      [0, 1, 2].map((vm) => ({ afterSeconds: 2 * minute, do: 'remove', event: `of VM ${vm}` })),
    ),
};

const web = (): Group => ({
  name: 'web',
  witnessRate: 0.1,
  hosts: hostsNamed('AMS21-C07', 9),
  vms: vmsNamed('web', 30, (number) => ({
    ...production,
    resourceGroup: 'shop-web',
    scaleSet: 'web',
    zone: '1',
    faultDomain: String(number % 5),
    updateDomain: String(number % 5),
    vmSize: 'Standard_D4s_v5',
    tags: { owner: 'web-team', environment: 'production', ...ring(number) },
    bridgeVersion: number % 5 === 0 ? '1.1.0' : '1.0.0',
    joinsAt: number >= 26 ? 9 * day : 0,
    ...(number === 7 ? { clockOffsetSeconds: -4 } : {}),
    ...(number === 11 ? { silentFrom: ago(3 * day), silentTo: ago(3 * day - 10 * hour) } : {}),
  })),
  plays: [
    { scenario: rollingMaintenance(30, 5), at: 3 * day + 2 * hour },
    { scenario: inTwoDomains, at: 6 * day + 9 * hour, on: ['web_3', 'web_4', 'web_8'] },
    play('canceled', 8 * day, 'web_2'),
    play('reboot-became-freeze', 9 * day + 5 * hour, 'web_6'),
    play('redeploy', 10 * day + hour, 'web_9'),
    play('hardware-failure', 11 * day + 7 * hour, 'web_14'),
    play('missed-started', 12 * day, 'web_16'),
    play('freeze', ago(3 * day - hour), 'web_11'),
    { scenario: stuck, at: ago(2 * hour), on: ['web_20'] },
    play('reboot', ago(12 * minute), 'web_1', 'web_21'),
    play('freeze', ago(5 * minute), 'web_22'),
    play('canceled', ago(40 * minute), 'web_5'),
    ...freezes('web', 25, 16),
  ],
});

/** A zonal scale set has a placement group in each zone. */
const api = (zone: '1' | '2' | '3'): Group => ({
  name: `api in zone ${zone}`,
  witnessRate: 0.1,
  hosts: hostsNamed(`AMS2${zone}-C03`, 5),
  vms: Array.from(
    { length: 8 },
    (_, number): GroupVm => ({
      name: `api_${Number(zone) * 10 + number}`,
      ...production,
      resourceGroup: 'shop-api',
      scaleSet: 'api',
      zone,
      physicalZone: `westeurope-az${zone}`,
      placementGroupId: `0000000${zone}-aaaa-4bbb-8ccc-dddddddddddd`,
      faultDomain: String(number % 3),
      updateDomain: String(number),
      vmSize: 'Standard_E8s_v5',
      tags: { owner: 'api-team', environment: 'production', ...ring(number) },
      bridgeVersion: number === 0 ? '1.1.0' : '1.0.0',
      ...(zone === '2' && number === 3 ? { losesStateAt: 10 * day } : {}),
    }),
  ),
  plays: [
    play('freeze', (1 + Number(zone)) * day, `api_${zone}1`),
    play('unknown-duration', (3 + Number(zone)) * day, `api_${zone}2`),
    play('superseded', (5 + Number(zone)) * day, `api_${zone}4`),
    play('leaves-resources', (7 + Number(zone)) * day, `api_${zone}5`, `api_${zone}6`),
    ...(zone === '2' ? [play('freeze', 10 * day + hour, 'api_23'), play('freeze', 11 * day, 'api_23')] : []),
    ...(zone === '3'
      ? [play('reboot', ago(50 * minute), 'api_31'), play('degraded-host', ago(5 * hour), 'api_37')]
      : []),
  ],
});

/** Spot VMs come and go, at office hours: it begins at noon, so nine o'clock is 21 hours later. */
function batch(): Group {
  const count = 36;
  const evicted = Array.from({ length: 14 }, (_, number) => {
    const at = Math.floor(drawn(`eviction ${number}`, 13)) * day + (21 + drawn(`hour of eviction ${number}`, 9)) * hour;
    return { vm: `batch_${number * 2}`, at: at + drawn(`minute of eviction ${number}`, 50) * minute };
  });
  return {
    name: 'batch',
    witnessRate: 0.2,
    vms: vmsNamed('batch', count, (number) => {
      const gone = evicted.find(({ vm }) => vm === `batch_${number}`);
      return {
        ...testing,
        resourceGroup: 'analysis',
        scaleSet: 'batch',
        zone: String(1 + (number % 3)),
        placementGroupId: '0000000b-aaaa-4bbb-8ccc-dddddddddddd',
        faultDomain: String(number % 5),
        vmSize: number % 3 === 0 ? 'Standard_E16s_v5' : 'Standard_D8s_v5',
        priority: 'Spot',
        tags: { owner: 'data-team', environment: 'test' },
        // Evicted while its event is listed as Started: only a witness observes the end.
        ...(gone === undefined ? {} : { leavesAt: gone.at + 45 }),
      };
    }),
    plays: [...evicted.map(({ vm, at }) => play('preempt', at, vm)), play('preempt', ago(15), 'batch_1')],
  };
}

const gpu = (): Group => ({
  name: 'gpu',
  hosts: hostsNamed('AMS25-C01', 8),
  vms: vmsNamed('train', 8, (number) => ({
    ...production,
    resourceGroup: 'training',
    scaleSet: 'train',
    zone: '3',
    vmSize: 'Standard_ND96isr_H100_v5',
    sees: 'own',
    tags: { owner: 'ml-team', environment: 'production' },
    ...(number === 5 ? { leavesAt: ago(30 * hour) } : {}),
  })),
  plays: [
    play('degraded-host', 2 * day, 'train_2'),
    play('degraded-host', ago(20 * hour), 'train_6'),
    play('hardware-failure', 7 * day + 3 * hour, 'train_4'),
    play('freeze', 9 * day, 'train_0'),
    // Its last report is shortly after this.
    { scenario: stuck, at: ago(31 * hour), on: ['train_5'] },
  ],
});

const shop = (): Group => ({
  name: 'shop',
  witnessRate: 0.1,
  vms: vmsNamed('shop', 18, (number) => ({
    ...production,
    location: 'swedencentral',
    physicalZone: 'swedencentral-az1',
    resourceGroup: 'shop-front',
    scaleSet: 'shop',
    faultDomain: String(number % 5),
    vmSize: 'Standard_D4s_v5',
    osType: number % 6 === 5 ? 'Windows' : 'Linux',
    tags: { owner: 'web-team', environment: 'production', ...ring(number) },
    bridgeVersion: number % 5 === 0 ? '1.1.0' : '1.0.0',
    ...(number === 15 ? { leavesAt: 5 * day + 5 * minute + 20 } : {}),
    ...(number === 16 ? { leavesAt: 12 * day + 5 * minute + 20 } : {}),
    ...([3, 8, 13].includes(number) ? { leavesAt: ago(14 * hour) } : {}),
  })),
  plays: [
    play('terminate', 5 * day, 'shop_15'),
    play('terminate', 12 * day, 'shop_16'),
    play('os-image-upgrade', 4 * day, 'shop_0'),
    play('reboot', 6 * day, 'shop_4'),
    ...freezes('shop', 12, 6),
  ],
});

/** VMs outside any set are notified of their own events only. */
const single = (name: string, traits: Partial<VmDefinition>, ...plays: readonly Play[]): Group => ({
  name,
  hosts: hostsNamed('AMS23-C11', 4),
  vms: [
    {
      name,
      ...production,
      resourceGroup: 'databases',
      scaleSet: null,
      sees: 'own',
      zone: '2',
      vmSize: 'Standard_E32s_v5',
      tags: { owner: 'data-team', environment: 'production' },
      ...traits,
    },
  ],
  plays,
});

export const demoGroups = (): readonly Group[] => [
  web(),
  api('1'),
  api('2'),
  api('3'),
  batch(),
  gpu(),
  shop(),
  single('sql-1', {}, play('freeze', 4 * day, 'sql-1'), play('degraded-host', ago(3 * day + hour), 'sql-1')),
  single('sql-2', { zone: '3' }, play('unknown-duration', 8 * day, 'sql-2'), play('user-reboot', 9 * day, 'sql-2')),
  single(
    'sql-3',
    { osType: 'Windows' },
    play('user-redeploy', 6 * day, 'sql-3'),
    play('freeze', ago(20 * minute), 'sql-3'),
  ),
  single('build-1', { ...testing, vmSize: 'Standard_B4ms' }, play('approved', 3 * day, 'build-1')),
  single('build-2', { ...testing, vmSize: 'Standard_B4ms', zone: '' }, play('user-reboot', ago(6 * minute), 'build-2')),
];
