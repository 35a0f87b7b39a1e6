import type { Vm } from './vm.ts';

/**
 * Versions of `/metadata/instance` that a current host supports.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#supported-api-versions
 */
export const instanceVersions = [
  '2017-04-02',
  '2017-08-01',
  '2017-10-01',
  '2017-12-01',
  '2018-02-01',
  '2018-04-02',
  '2018-10-01',
  '2019-02-01',
  '2019-03-11',
  '2019-04-30',
  '2019-06-01',
  '2019-06-04',
  '2019-08-01',
  '2019-08-15',
  '2019-11-01',
  '2020-06-01',
  '2020-07-15',
  '2020-09-01',
  '2020-10-01',
  '2020-12-01',
  '2021-01-01',
  '2021-02-01',
  '2021-03-01',
  '2021-05-01',
  '2021-08-01',
  '2021-10-01',
  '2021-11-01',
  '2021-11-15',
  '2021-12-13',
  '2023-07-01',
  '2023-11-15',
  '2024-03-15',
  '2024-07-17',
  '2025-04-07',
] as const;

/** The version in which a field of `compute` appeared; one that is not listed was there from the beginning. */
const since: Readonly<Record<string, string>> = {
  placementGroupId: '2017-08-01',
  resourceGroupName: '2017-08-01',
  subscriptionId: '2017-08-01',
  tags: '2017-08-01',
  vmScaleSetName: '2017-12-01',
  zone: '2017-12-01',
  azEnvironment: '2018-10-01',
  provider: '2018-10-01',
  resourceId: '2019-03-11',
  storageProfile: '2019-06-01',
  tagsList: '2019-06-04',
  priority: '2020-12-01',
  virtualMachineScaleSet: '2021-03-01',
  physicalZone: '2023-11-15',
};

/** What `/metadata/instance` answers for a VM. */
export function instanceMetadata(vm: Vm, version: string): object {
  const compute = Object.entries(computeOf(vm)).filter(([field]) => version >= (since[field] ?? ''));
  return { compute: Object.fromEntries(compute), network };
}

function computeOf(vm: Vm): Readonly<Record<string, unknown>> {
  const tags = Object.entries(vm.tags);
  return {
    azEnvironment: vm.azureEnvironment,
    location: vm.location,
    name: vm.name,
    offer: vm.image.offer,
    osType: vm.osType,
    physicalZone: vm.physicalZone,
    placementGroupId: vm.placementGroupId,
    platformFaultDomain: vm.faultDomain,
    platformUpdateDomain: vm.updateDomain,
    priority: vm.priority,
    provider: 'Microsoft.Compute',
    publisher: vm.image.publisher,
    resourceGroupName: vm.resourceGroup,
    resourceId: vm.resourceId,
    sku: vm.image.sku,
    storageProfile: {
      dataDisks: [],
      imageReference: { id: '', ...vm.image },
      osDisk: { osType: vm.osType, diskSizeGB: '30', caching: 'ReadWrite' },
    },
    subscriptionId: vm.subscriptionId,
    tags: tags.map(([name, value]) => `${name}:${value}`).join(';'),
    tagsList: tags.map(([name, value]) => ({ name, value })),
    version: vm.image.version,
    virtualMachineScaleSet: { id: vm.scaleSetResourceId ?? '' },
    vmId: vm.vmId,
    vmScaleSetName: vm.scaleSet ?? '',
    vmSize: vm.vmSize,
    zone: vm.zone,
  };
}

const network = {
  interface: [
    {
      ipv4: {
        ipAddress: [{ privateIpAddress: '10.0.0.4', publicIpAddress: '' }],
        subnet: [{ address: '10.0.0.0', prefix: '24' }],
      },
      ipv6: { ipAddress: [] },
      macAddress: '000D3A123456',
    },
  ],
};
