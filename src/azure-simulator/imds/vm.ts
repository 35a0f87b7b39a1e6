import { guidOf } from '../guid-of.ts';

/** A simulated VM. Everything but the name has a default that is the same in every run. */
export interface VmDefinition {
  /** `compute.name`, as `Resources` spells it. `<set>_<number>` is an instance of a uniform scale set. */
  readonly name: string;
  readonly vmId?: string;
  /** Name of its scale set; null for a VM outside of any. Default: from the name. */
  readonly scaleSet?: string | null;
  readonly placementGroupId?: string;
  readonly subscriptionId?: string;
  readonly resourceGroup?: string;
  readonly location?: string;
  readonly zone?: string;
  readonly physicalZone?: string;
  readonly faultDomain?: string;
  readonly updateDomain?: string;
  readonly vmSize?: string;
  /** `Regular`, `Spot`, `Low`; blank where Azure leaves it out. */
  readonly priority?: string;
  readonly osType?: 'Linux' | 'Windows';
  readonly image?: {
    readonly publisher: string;
    readonly offer: string;
    readonly sku: string;
    readonly version: string;
  };
  readonly tags?: Readonly<Record<string, string>>;
  readonly azureEnvironment?: string;
  /**
   * Whose events its endpoint lists. `group` (default): those of every VM of its availability set or placement group. `own`: those that
   * name it, as for a VM outside of any set, and for a GPU VM in a set with one fault domain.
   * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#scope
   */
  readonly sees?: 'group' | 'own';
  /** Its documents are numbered from elsewhere: this is added to the group's incarnation. Default 0. */
  readonly incarnationOffset?: number;
  /** Incarnations of the group's document that its endpoint never shows: it keeps the one before. Default none. */
  readonly misses?: readonly number[];
  /** Seconds by which Azure's time is ahead of this VM's own clock, in the `Date` of its answers. Default 0. */
  readonly clockOffsetSeconds?: number;
}

export interface Vm extends Required<VmDefinition> {
  readonly resourceId: string;
  readonly scaleSetResourceId: string | null;
}

export function createVm(definition: VmDefinition): Vm {
  const { name } = definition;
  const uniform = /^(.+)_(\d+)$/.exec(name);
  const scaleSet = definition.scaleSet === undefined ? (uniform?.[1] ?? null) : definition.scaleSet;
  const subscriptionId = definition.subscriptionId ?? '8d10da13-8125-4ba9-a717-bf7490507b3d';
  const resourceGroup = definition.resourceGroup ?? 'simulated';
  const compute = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Compute`;
  const scaleSetResourceId = scaleSet === null ? null : `${compute}/virtualMachineScaleSets/${scaleSet}`;
  const isUniform = scaleSet !== null && uniform?.[1] === scaleSet;
  return {
    vmId: guidOf(`vm ${name}`),
    placementGroupId: scaleSet === null ? '' : guidOf(`placement group ${scaleSet}`),
    location: 'westeurope',
    zone: '1',
    physicalZone: 'westeurope-az2',
    faultDomain: '0',
    updateDomain: '0',
    vmSize: 'Standard_D2s_v5',
    priority: 'Regular',
    osType: 'Linux',
    image: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: '24.04.202504080' },
    tags: {},
    azureEnvironment: 'AzurePublicCloud',
    sees: 'group',
    incarnationOffset: 0,
    misses: [],
    clockOffsetSeconds: 0,
    ...definition,
    scaleSet,
    subscriptionId,
    resourceGroup,
    scaleSetResourceId,
    resourceId: isUniform
      ? `${scaleSetResourceId}/virtualMachines/${uniform[2]}`
      : `${compute}/virtualMachines/${name}`,
  };
}
