import type { Observer } from '../lifecycle/scheduled-event.ts';

/** The identity of the VM from the instance metadata or the configuration. `null` = missing, empty or of the wrong type. */
export type Identity = { readonly [Field in IdentityField]: string | null };
export type IdentityField = Exclude<keyof Observer, 'tags'>;

/** JSON of published tags is not longer than this. */
const longestTagsBytes = 8192;

// assumption: imds-instance-fields
/**
 * The fields of `/metadata/instance`, of any version from 2021-02-01 on.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#instance-metadata
 */
export function parseInstance(metadata: unknown): Omit<Identity, 'computer'> {
  const compute = readObject(readObject(metadata).compute);
  const scaleSet = readObject(compute.virtualMachineScaleSet);
  return {
    vmId: readText(compute.vmId),
    vmName: readText(compute.name),
    resourceId: readText(compute.resourceId),
    subscriptionId: readText(compute.subscriptionId),
    resourceGroup: readText(compute.resourceGroupName),
    vmScaleSetName: readText(compute.vmScaleSetName) ?? nameInId(readText(scaleSet.id)),
    vmScaleSetResourceId: readText(scaleSet.id),
    placementGroupId: readText(compute.placementGroupId),
    location: readText(compute.location),
    zone: readText(compute.zone),
    physicalZone: readText(compute.physicalZone),
    faultDomain: readText(compute.platformFaultDomain),
    updateDomain: readText(compute.platformUpdateDomain),
    vmSize: readText(compute.vmSize),
    vmPriority: readText(compute.priority),
    osType: readText(compute.osType),
    imageReference: readImage(compute),
    azureEnvironment: readText(compute.azEnvironment),
  };
}

/** The VM's tags that are named, as spelled there; Azure ignores the case of their names. Those that do not fit are left out. */
export function parseTags(metadata: unknown, named: readonly string[]): Record<string, string> {
  const list = readObject(readObject(metadata).compute).tagsList;
  const entries = Array.isArray(list) ? list.map(readObject) : [];
  const values = new Map(entries.map(({ name, value }) => [String(name).toLowerCase(), value]));
  const tags: Record<string, string> = {};
  for (const name of named) {
    const value = values.get(name.toLowerCase());
    if (typeof value !== 'string') continue;
    const more = { ...tags, [name]: value };
    if (Buffer.byteLength(JSON.stringify(more)) <= longestTagsBytes) Object.assign(tags, more);
  }
  return tags;
}

/**
 * The observer, once vmId and name are known; else null. What configuration sets wins, field by field; what is derived is
 * derived from the outcome. Ids of resources are in lower case.
 */
export function observerFrom(
  read: Partial<Identity>,
  overrides: Partial<Readonly<Record<IdentityField, string>>>,
  tags: Readonly<Record<string, string>>,
): Observer | null {
  const identity = { ...unknownIdentity, ...read, ...definedOf(overrides) };
  const { vmId, vmName } = identity;
  if (vmId === null || vmName === null) return null;
  const isSetRenamed = overrides.vmScaleSetName !== undefined && overrides.vmScaleSetResourceId === undefined;
  const scaleSetId = isSetRenamed ? null : identity.vmScaleSetResourceId;
  return {
    ...identity,
    vmId,
    vmName,
    resourceId: identity.resourceId?.toLowerCase() ?? null,
    vmScaleSetResourceId: (scaleSetId ?? uniformScaleSetId(identity))?.toLowerCase() ?? null,
    tags,
  };
}

/**
 * The observer while the service does not answer: as configuration sets it, else as a process before this one knew it.
 * Of the stored tags only those that configuration still names.
 */
export const observerWithoutMetadata = (
  { stored, computer }: { readonly stored: Observer | null; readonly computer: string | null },
  overrides: Partial<Readonly<Record<IdentityField, string>>>,
  tagNames: readonly string[],
): Observer | null =>
  observerFrom(
    { ...stored, computer },
    overrides,
    Object.fromEntries(Object.entries(stored?.tags ?? {}).filter(([name]) => tagNames.includes(name))),
  );

const unknownIdentity: Identity = {
  computer: null,
  vmId: null,
  vmName: null,
  resourceId: null,
  subscriptionId: null,
  resourceGroup: null,
  vmScaleSetName: null,
  vmScaleSetResourceId: null,
  placementGroupId: null,
  location: null,
  zone: null,
  physicalZone: null,
  faultDomain: null,
  updateDomain: null,
  vmSize: null,
  vmPriority: null,
  osType: null,
  imageReference: null,
  azureEnvironment: null,
};

/** The metadata has only the name of a uniform scale set. */
function uniformScaleSetId({ subscriptionId, resourceGroup, vmScaleSetName }: Identity): string | null {
  if (subscriptionId === null || resourceGroup === null || vmScaleSetName === null) return null;
  return `/subscriptions/${subscriptionId}/resourcegroups/${resourceGroup}/providers/microsoft.compute/virtualmachinescalesets/${vmScaleSetName}`;
}

/** `publisher:offer:sku:version`; null for images of one's own, which have none of these. */
function readImage(compute: Readonly<Record<string, unknown>>): string | null {
  const profile = readObject(readObject(compute.storageProfile).imageReference);
  const parts = ['publisher', 'offer', 'sku', 'version'].map(
    (part) => readText(compute[part]) ?? readText(profile[part]),
  );
  return parts.slice(0, 3).every((part) => part === null) ? null : parts.map((part) => part ?? '').join(':');
}

/** The metadata has the id of a flexible scale set; its name is the last part. */
const nameInId = (id: string | null): string | null =>
  /\/virtualmachinescalesets\/([^/]+)$/i.exec(id ?? '')?.[1] ?? null;

/** The service writes "" for what a VM does not have, and numbers as text. */
function readText(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

const readObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const definedOf = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
