import type { Vm } from './vm.ts';

/**
 * Versions of `/metadata/instance` that a host of today knows.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
 */
export const instanceVersions = [
  '2019-06-04',
  '2020-06-01',
  '2020-09-01',
  '2020-12-01',
  '2021-02-01',
  '2021-05-01',
  '2021-12-13',
  '2023-07-01',
  '2023-11-15',
] as const;

/** What `/metadata/instance` answers for a VM. */
export function instanceMetadata(vm: Vm, version: string): object {
  const newer: Record<string, unknown> = {};
  if (version >= '2020-12-01') newer.priority = vm.priority;
  if (version >= '2021-05-01') newer.virtualMachineScaleSet = { id: vm.scaleSetResourceId ?? '' };
  if (version >= '2023-11-15') newer.physicalZone = vm.physicalZone;
  const tags = Object.entries(vm.tags);
  return {
    compute: {
      azEnvironment: vm.azureEnvironment,
      location: vm.location,
      name: vm.name,
      offer: vm.image.offer,
      osType: vm.osType,
      placementGroupId: vm.placementGroupId,
      platformFaultDomain: vm.faultDomain,
      platformUpdateDomain: vm.updateDomain,
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
      vmId: vm.vmId,
      vmScaleSetName: vm.scaleSet ?? '',
      vmSize: vm.vmSize,
      zone: vm.zone,
      ...newer,
    },
    network: {
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
    },
  };
}
