import { at } from './aliases.ts';
import type { Subject } from './condition.ts';
import { isList, isObject, type Json, type JsonObject } from './expression.ts';

const group = '/subscriptions/s/resourceGroups/rg-web';
export const identityId =
  '/subscriptions/s/resourceGroups/rg-platform/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-bridge';
export const otherIdentityId =
  '/subscriptions/s/resourceGroups/rg-web/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-web';
export const thirdIdentityId =
  '/subscriptions/s/resourceGroups/rg-web/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-backup';
export const galleryId = '/subscriptions/s/resourceGroups/rg-gallery/providers/Microsoft.Compute/galleries/gal';

/** An application of the gallery at a version, as a VM names it. */
export const application = (name: string, version: string): JsonObject => ({
  packageReferenceId: `${galleryId}/applications/${name}/versions/${version}`,
});

/** What a case says of a VM or a scale set; the rest is that of a plain one. */
export interface Described {
  readonly size?: string;
  readonly location?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly osType?: string | null;
  readonly identity?: JsonObject;
  readonly applications?: readonly JsonObject[];
  readonly image?: readonly [publisher: string, offer: string, sku: string];
  readonly extensions?: readonly string[];
  readonly scheduledEventsPolicy?: JsonObject;
  readonly resourceGroup?: Partial<Subject['resourceGroup']>;
  /** API version of the request that creates or changes it; left out, it exists and is evaluated. */
  readonly apiVersion?: string;
  /** Replaces properties as they are. */
  readonly properties?: JsonObject;
}

/** Newest API version of virtual machines and scale sets. */
const latest = '2026-04-01';

const own = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined && one !== null));

function parts({ osType = 'Linux', image, applications, extensions, scheduledEventsPolicy }: Described) {
  const imageReference = image ? { publisher: image[0], offer: image[1], sku: image[2] } : null;
  return {
    storageProfile: { ...own({ imageReference }), osDisk: own({ osType }) },
    profile: applications ? { applicationProfile: { galleryApplications: applications } } : {},
    extensionProfile: { extensions: (extensions ?? []).map((publisher) => ({ name: publisher, publisher })) },
    policy: own({ scheduledEventsPolicy: scheduledEventsPolicy ?? null }),
  };
}

function subject(type: string, name: string, described: Described, rest: JsonObject): Subject {
  const { location = 'westeurope', tags = {}, identity, resourceGroup } = described;
  return {
    resource: {
      id: `${group}/providers/${type}/${name}`,
      type,
      name,
      location,
      tags,
      ...own({ identity: identity ?? null }),
      ...rest,
    },
    resourceGroup: { name: 'rg-web', managedBy: null, ...resourceGroup },
    apiVersion: described.apiVersion ?? latest,
  };
}

export function virtualMachine(described: Described = {}): Subject {
  const { storageProfile, profile, policy } = parts(described);
  return subject('Microsoft.Compute/virtualMachines', 'web-1', described, {
    properties: {
      hardwareProfile: { vmSize: described.size ?? 'Standard_D4s_v5' },
      storageProfile,
      ...profile,
      ...policy,
      ...described.properties,
    },
  });
}

export function scaleSet(described: Described = {}): Subject {
  const { storageProfile, profile, extensionProfile, policy } = parts(described);
  return subject('Microsoft.Compute/virtualMachineScaleSets', 'web', described, {
    sku: { name: described.size ?? 'Standard_D4s_v5', capacity: 3 },
    properties: {
      virtualMachineProfile: { storageProfile, extensionProfile, ...profile },
      ...policy,
      ...described.properties,
    },
  });
}

/** The resource after a request that gives only some properties: Azure keeps what a request does not name. */
export function after(subject: Subject, change: JsonObject): Subject {
  const own = String(change.type).endsWith('/VMapplications') ? ofApplication(subject.resource, change) : change;
  return { ...subject, resource: merged(subject.resource, own) };
}

/**
 * What writing `virtualMachines/VMapplications` comes to: the list holds the application once, at this version.
 * https://github.com/Azure/Community-Policy/tree/main/policyDefinitions/Compute/deploy-linux-vm-app
 */
function ofApplication(resource: JsonObject, { name, properties = {} }: JsonObject): JsonObject {
  const application = `/applications/${String(name).split('/')[1]}/versions/`.toLowerCase();
  const listed = at(resource, 'properties.applicationProfile.galleryApplications');
  const others = (isList(listed) ? listed : []).filter(
    (one) => !String(at(one, 'packageReferenceId')).toLowerCase().includes(application),
  );
  return { properties: { applicationProfile: { galleryApplications: [...others, properties] } } };
}

function merged(before: JsonObject, change: JsonObject): JsonObject {
  const result: { [key: string]: Json } = { ...before };
  for (const [key, value] of Object.entries(change)) {
    const old = before[key];
    result[key] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}
