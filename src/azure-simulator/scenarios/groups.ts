import { minute, type Scenario, type Step } from './scenario.ts';

function rebootOf(vm: number, afterSeconds: number): Step[] {
  const event = `maintenance of VM ${vm}`;
  return [
    { afterSeconds, do: 'schedule', event, eventType: 'Reboot', noticeSeconds: 15 * minute, on: [vm] },
    { afterSeconds: 15 * minute, do: 'start', event },
    { afterSeconds: 10, do: 'impact', event, kind: 'restart', seconds: 90, on: [vm] },
    { afterSeconds: 8 * minute, do: 'remove', event },
  ];
}

/** What depends on the other VMs of the group, and on which events each VM sees. */
export const groupScenarios: readonly Scenario[] = [
  {
    name: 'leaves-resources',
    description: 'A reboot is announced for two VMs; five minutes later it affects only the other one.',
    demoSpeed: 200,
    vms: [{}, {}],
    steps: [
      {
        afterSeconds: 0,
        do: 'schedule',
        event: 'maintenance',
        eventType: 'Reboot',
        noticeSeconds: 15 * minute,
        on: [0, 1],
      },
      { afterSeconds: 5 * minute, do: 'change', event: 'maintenance', on: [1] },
      { afterSeconds: 10 * minute, do: 'start', event: 'maintenance' },
      { afterSeconds: 10, do: 'impact', event: 'maintenance', kind: 'restart', seconds: 90, on: [1] },
      { afterSeconds: 8 * minute, do: 'remove', event: 'maintenance' },
    ],
  },
  {
    name: 'fault-domains-in-turn',
    description: 'Three VMs in three fault domains are restarted one after the other; each sees all three events.',
    demoSpeed: 400,
    vms: [{ faultDomain: '0' }, { faultDomain: '1' }, { faultDomain: '2' }],
    steps: [...rebootOf(0, 0), ...rebootOf(1, 5 * minute), ...rebootOf(2, 5 * minute)],
  },
  {
    name: 'gpu-one-fault-domain',
    description:
      'Two GPU VMs of a scale set with one fault domain are restarted in turn; each sees only its own event.',
    demoSpeed: 300,
    vms: [
      { sees: 'own', vmSize: 'Standard_ND96isr_H100_v5' },
      { sees: 'own', vmSize: 'Standard_ND96isr_H100_v5' },
    ],
    steps: [...rebootOf(1, 0), ...rebootOf(0, 5 * minute)],
  },
  {
    name: 'standalone-in-zone',
    description: 'Two VMs outside of any set share a zone and are frozen in turn; each sees only its own event.',
    demoSpeed: 300,
    vms: [
      { sees: 'own', scaleSet: null, placementGroupId: '', zone: '1' },
      { sees: 'own', scaleSet: null, placementGroupId: '', zone: '1' },
    ],
    steps: [1, 0].flatMap((vm): Step[] => {
      const event = `migration of VM ${vm}`;
      return [
        { afterSeconds: 0, do: 'schedule', event, eventType: 'Freeze', noticeSeconds: 15 * minute, on: [vm] },
        { afterSeconds: 15 * minute, do: 'start', event },
        { afterSeconds: 5, do: 'impact', event, kind: 'freeze', seconds: 7, on: [vm] },
        { afterSeconds: 10 * minute, do: 'remove', event },
      ];
    }),
  },
];
