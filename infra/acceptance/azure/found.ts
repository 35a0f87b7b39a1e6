import type { BridgeSettings } from '../../bridge-configuration.ts';
import type { Machine } from '../target.ts';

/**
 * What the steps of the phases `prepare`, `deploy` and `install` leave in `context.found`, by step id: plain JSON. The step `simulator`
 * of `--against simulator` leaves `platform` and machines of the same form, as far as they make sense there.
 */
export interface Found {
  /** Who is logged in, and to what. */
  readonly login: LoginFound;
  /** Sizes that the region and the quota allow, by role of the machine; the first is tried first. */
  readonly quota: Readonly<Record<Machine['role'], readonly string[]>>;
  readonly packages: PackagesFound;
  readonly platform: PlatformFound;
  readonly network: { readonly subnetResourceId: string };
  readonly gallery: GalleryFound;
  readonly vm: MachinesFound;
  readonly 'spot-vm': MachinesFound;
  readonly 'windows-vm': MachinesFound;
  readonly 'scale-set-uniform': MachinesFound;
  readonly 'scale-set-flexible': MachinesFound;
}

export interface LoginFound {
  readonly tenantId: string;
  readonly subscriptionName: string;
  /** Who is logged in: object id in Microsoft Entra ID. */
  readonly principalId: string;
  readonly principalType: 'User' | 'ServicePrincipal';
}

export interface PackagesFound {
  /** Storage account and container of the run. */
  readonly account: string;
  readonly accountResourceId: string;
  readonly container: string;
  /** Of the packages, as in their names. */
  readonly version: string;
  /** Addresses of blobs, without a signature; null for a package that could not be built here. */
  readonly configuration: string;
  readonly linuxArchive: string;
  readonly debianPackage: string;
  readonly windowsArchive: string | null;
}

/** The deployment of `infra/main.bicep`. */
export interface PlatformFound {
  readonly resourceGroup: string;
  /** Endpoints, ids and names that a bridge needs; nothing in it is secret. */
  readonly settings: BridgeSettings;
  readonly namespaceResourceId: string;
  readonly eventHubResourceId: string;
  readonly ruleResourceId: string;
  readonly workspaceResourceId: string;
  /** The id of the workspace in requests for queries, a GUID (`customerId`). */
  readonly workspaceId: string;
  /** Principal id of the identity of the bridges. */
  readonly identityPrincipalId: string;
  readonly workbookResourceId: string;
  readonly queryPackResourceId: string;
  readonly alertNames: readonly string[];
}

export interface GalleryFound {
  readonly resourceId: string;
  /** Resource ids of the published version of the application; null if there is no package for Windows. */
  readonly linuxVersion: string;
  readonly windowsVersion: string | null;
}

export interface MachinesFound {
  readonly machines: readonly MachineFound[];
}

export interface MachineFound extends Machine {
  /** Of the VM, or of the instance of a uniform scale set. */
  readonly resourceId: string;
  readonly resourceGroup: string;
  /** Number of the instance of a uniform scale set; null for a VM, also one in a flexible scale set. */
  readonly instanceId: string | null;
  readonly size: string;
}

/** Steps that find machines. */
export const machineSteps = ['vm', 'scale-set-uniform', 'scale-set-flexible', 'spot-vm', 'windows-vm'] as const;

/** What a step found. Throws if it has not: a step that reads it names that step in `needs`. */
export function foundBy<Id extends keyof Found>(found: ReadonlyMap<string, unknown>, step: Id): Found[Id] {
  const value = found.get(step);
  if (value === undefined) throw new Error(`The step ${step} has left nothing in context.found.`);
  return value as Found[Id];
}

/** Every machine that was found so far. */
export const machinesFound = (found: ReadonlyMap<string, unknown>): readonly MachineFound[] =>
  machineSteps.flatMap((step) => (found.get(step) as MachinesFound | undefined)?.machines ?? []);
