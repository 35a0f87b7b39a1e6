import { isList, isObject, type Json, type JsonObject } from './expression.ts';

const machine = 'Microsoft.Compute/virtualMachines';
const set = 'Microsoft.Compute/virtualMachineScaleSets';
const apps = 'applicationProfile.galleryApplications';

/**
 * Where a name of Azure Policy points to in a resource as Azure Resource Manager gives it, by the type of the resource. What
 * is not here is refused: Azure refuses a definition with an alias that it does not know, and with it the whole deployment.
 * `az provider show --namespace Microsoft.Compute --expand resourceTypes/aliases` lists them.
 */
const paths: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [machine]: {
    [`${machine}/storageProfile.osDisk.osType`]: 'properties.storageProfile.osDisk.osType',
    [`${machine}/osProfile.linuxConfiguration`]: 'properties.osProfile.linuxConfiguration',
    [`${machine}/osProfile.windowsConfiguration`]: 'properties.osProfile.windowsConfiguration',
    [`${machine}/osProfile.windowsConfiguration.provisionVMAgent`]:
      'properties.osProfile.windowsConfiguration.provisionVMAgent',
    [`${machine}/sku.name`]: 'properties.hardwareProfile.vmSize',
    [`${machine}/${apps}[*]`]: `properties.${apps}`,
    [`${machine}/scheduledEventsPolicy.userInitiatedReboot.automaticallyApprove`]:
      'properties.scheduledEventsPolicy.userInitiatedReboot.automaticallyApprove',
    [`${machine}/scheduledEventsPolicy.userInitiatedRedeploy.automaticallyApprove`]:
      'properties.scheduledEventsPolicy.userInitiatedRedeploy.automaticallyApprove',
    'Microsoft.Compute/imagePublisher': 'properties.storageProfile.imageReference.publisher',
    'Microsoft.Compute/imageOffer': 'properties.storageProfile.imageReference.offer',
    'Microsoft.Compute/imageSku': 'properties.storageProfile.imageReference.sku',
  },
  [set]: {
    [`${set}/virtualMachineProfile.storageProfile.osDisk.osType`]:
      'properties.virtualMachineProfile.storageProfile.osDisk.osType',
    [`${set}/sku.name`]: 'sku.name',
    [`${set}/virtualMachineProfile.${apps}[*]`]: `properties.virtualMachineProfile.${apps}`,
    // Older aliases, of another case and without the profile.
    'Microsoft.Compute/VirtualMachineScaleSets/osProfile.linuxConfiguration':
      'properties.virtualMachineProfile.osProfile.linuxConfiguration',
    'Microsoft.Compute/VirtualMachineScaleSets/osProfile.windowsConfiguration':
      'properties.virtualMachineProfile.osProfile.windowsConfiguration',
    'Microsoft.Compute/VirtualMachineScaleSets/osProfile.windowsConfiguration.provisionVMAgent':
      'properties.virtualMachineProfile.osProfile.windowsConfiguration.provisionVMAgent',
    'Microsoft.Compute/VirtualMachineScaleSets/extensionProfile.extensions[*]':
      'properties.virtualMachineProfile.extensionProfile.extensions',
    [`${set}/scheduledEventsPolicy.userInitiatedReboot.automaticallyApprove`]:
      'properties.scheduledEventsPolicy.userInitiatedReboot.automaticallyApprove',
    [`${set}/scheduledEventsPolicy.userInitiatedRedeploy.automaticallyApprove`]:
      'properties.scheduledEventsPolicy.userInitiatedRedeploy.automaticallyApprove',
    'Microsoft.Compute/imagePublisher': 'properties.virtualMachineProfile.storageProfile.imageReference.publisher',
    'Microsoft.Compute/imageOffer': 'properties.virtualMachineProfile.storageProfile.imageReference.offer',
    'Microsoft.Compute/imageSku': 'properties.virtualMachineProfile.storageProfile.imageReference.sku',
  },
};

/** The aliases of VMs and scale sets. */
export const knownAliases: readonly string[] = Object.values(paths).flatMap(Object.keys);

const fields = ['type', 'name', 'id', 'location', 'identity.type', 'identity.userAssignedIdentities'];

/** What a resource has under a name of Azure Policy; null where it has nothing. */
export function fieldOf(resource: JsonObject, name: string): Json {
  if (fields.includes(name)) return at(resource, name);
  const tag = /^tags\[(.+)\]$/.exec(name)?.[1];
  if (tag !== undefined) return tagOf(resource, tag);
  const path = paths[String(resource.type)]?.[name];
  // A policy meets every resource of its scope: an alias of another type is simply absent.
  if (path === undefined && Object.values(paths).some((known) => known[name] !== undefined)) return null;
  if (path === undefined)
    throw new Error(`${name} is not known: not a field, and no alias of test/tools/policy/aliases.ts`);
  return at(resource, path);
}

/** The elements of a list under an alias that ends with [*]. */
export function elementsOf(resource: JsonObject, alias: string): readonly Json[] {
  if (!alias.endsWith('[*]')) throw new Error(`${alias}: a count is over a list, [*]`);
  const value = fieldOf(resource, alias);
  return isList(value) ? value : [];
}

/** What an object has under a path with dots; null where it has nothing. */
export function at(of: Json, path: string): Json {
  return path.split('.').reduce<Json>((value, key) => (isObject(value) ? (value[key] ?? null) : null), of);
}

function tagOf({ tags }: JsonObject, name: string): Json {
  const entries = isObject(tags) ? Object.entries(tags) : [];
  return entries.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null;
}
