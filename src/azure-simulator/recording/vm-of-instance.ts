import type { VmDefinition } from '../imds/vm.ts';
import { isObject } from '../read-fields.ts';

/**
 * The VM that an answer of `/metadata/instance` describes; null when it names none. Tags, keys and addresses are left
 * out: a recording is made to be passed on.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
 */
export function vmOfInstance(metadata: unknown): VmDefinition | null {
  const compute = isObject(metadata) && isObject(metadata.compute) ? metadata.compute : {};
  const { name, vmScaleSetName, osType } = compute;
  if (typeof name !== 'string' || name === '') return null;
  const told = Object.entries(fields).flatMap(([field, wire]) => {
    const value = compute[wire];
    return typeof value === 'string' && (value !== '' || mayBeBlank.includes(field)) ? [[field, value] as const] : [];
  });
  const { publisher, offer, sku, version } = compute;
  const isImage = [publisher, offer, sku, version].every((part) => typeof part === 'string');
  return {
    name,
    scaleSet: typeof vmScaleSetName === 'string' && vmScaleSetName !== '' ? vmScaleSetName : null,
    ...Object.fromEntries(told),
    ...(osType === 'Linux' || osType === 'Windows' ? { osType } : {}),
    ...(isImage ? { image: { publisher, offer, sku, version } as NonNullable<VmDefinition['image']> } : {}),
  };
}

const fields = {
  vmId: 'vmId',
  placementGroupId: 'placementGroupId',
  subscriptionId: 'subscriptionId',
  resourceGroup: 'resourceGroupName',
  location: 'location',
  zone: 'zone',
  physicalZone: 'physicalZone',
  faultDomain: 'platformFaultDomain',
  updateDomain: 'platformUpdateDomain',
  vmSize: 'vmSize',
  priority: 'priority',
  azureEnvironment: 'azEnvironment',
} as const satisfies { readonly [F in keyof VmDefinition]?: string };

/** Azure leaves these blank where it has nothing to say; the others are what a VM is known by. */
const mayBeBlank: readonly string[] = [
  'placementGroupId',
  'location',
  'zone',
  'physicalZone',
  'faultDomain',
  'updateDomain',
  'vmSize',
  'priority',
];
