import { isObject, type RecordedVm } from './format.ts';

/**
 * The VM that an answer of `/metadata/instance` describes; null when it names none. Tags, keys and addresses are left
 * out, so that a recording can be passed on.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
 */
export function vmOfInstance(metadata: unknown): RecordedVm | null {
  const compute = isObject(metadata) && isObject(metadata.compute) ? metadata.compute : {};
  const { name, vmScaleSetName, osType } = compute;
  if (typeof name !== 'string' || name === '') return null;
  const known = Object.entries(fields).flatMap(([field, wire]) => {
    const value = compute[wire];
    return typeof value === 'string' && (value !== '' || mayBeBlank.includes(field)) ? [[field, value] as const] : [];
  });
  const { publisher, offer, sku, version } = compute;
  const isImage = [publisher, offer, sku, version].every((part) => typeof part === 'string');
  return {
    name,
    scaleSet: typeof vmScaleSetName === 'string' && vmScaleSetName !== '' ? vmScaleSetName : null,
    ...Object.fromEntries(known),
    ...(osType === 'Linux' || osType === 'Windows' ? { osType } : {}),
    ...(isImage ? { image: { publisher, offer, sku, version } } : {}),
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
} as const;

/** Azure leaves these blank where they do not apply; the others identify the VM. */
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
