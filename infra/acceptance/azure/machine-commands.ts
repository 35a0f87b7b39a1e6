import { argumentsOf, type InSubscription, tagWords } from './arguments.ts';

/** Argument lists for the Azure CLI: the network, the VMs, the scale sets, and what runs on them. */

type Tags = Readonly<Record<string, string>>;

export interface VirtualMachine {
  readonly group: string;
  readonly name: string;
}

// ---------------------------------------------------------------------------
// Network
// ---------------------------------------------------------------------------

/** Instances of a flexible scale set have no way out without one: https://learn.microsoft.com/azure/virtual-network/ip-services/default-outbound-access */
export const createPublicAddress = (
  { subscription }: InSubscription,
  { group, name, location, tags }: VirtualMachine & { location: string; tags: Tags },
): readonly string[] =>
  argumentsOf('network public-ip create', {
    subscription,
    'resource-group': group,
    name,
    location,
    sku: 'Standard',
    'allocation-method': 'Static',
    tags: tagWords(tags),
  });

export const createNatGateway = (
  { subscription }: InSubscription,
  { group, name, location, address, tags }: VirtualMachine & { location: string; address: string; tags: Tags },
): readonly string[] =>
  argumentsOf('network nat gateway create', {
    subscription,
    'resource-group': group,
    name,
    location,
    'public-ip-addresses': address,
    tags: tagWords(tags),
  });

export const createNetwork = (
  { subscription }: InSubscription,
  { group, name, location, tags }: VirtualMachine & { location: string; tags: Tags },
): readonly string[] =>
  argumentsOf('network vnet create', {
    subscription,
    'resource-group': group,
    name,
    location,
    'address-prefixes': '10.83.0.0/24',
    tags: tagWords(tags),
  });

/** Its VMs reach the internet through the NAT gateway, and nothing reaches them. */
export const createSubnet = (
  { subscription }: InSubscription,
  { group, name, network, gateway }: VirtualMachine & { network: string; gateway: string },
): readonly string[] =>
  argumentsOf('network vnet subnet create', {
    subscription,
    'resource-group': group,
    'vnet-name': network,
    name,
    'address-prefixes': '10.83.0.0/24',
    'nat-gateway': gateway,
    'default-outbound-access': 'false',
  });

// ---------------------------------------------------------------------------
// VMs
// ---------------------------------------------------------------------------

interface MachineOptions {
  readonly location: string;
  readonly size: string;
  readonly subnetResourceId: string;
  readonly identityResourceId: string;
  readonly sshPublicKey: string;
  readonly tags: Tags;
}

/** As in `vm.bicep`. */
const image = 'Canonical:ubuntu-24_04-lts:server:latest';
/** An older release, so that the packages meet both. */
const olderImage = 'Canonical:0001-com-ubuntu-server-jammy:22_04-lts-gen2:latest';

/** Azure may take it back with 30 seconds of notice; its disk stays. */
export const createSpotVm = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
  { location, size, subnetResourceId, identityResourceId, sshPublicKey, tags }: MachineOptions,
): readonly string[] =>
  argumentsOf('vm create', {
    subscription,
    'resource-group': group,
    name,
    location,
    image: olderImage,
    size,
    priority: 'Spot',
    'eviction-policy': 'Deallocate',
    // Up to the price of a VM that is not Spot.
    'max-price': -1,
    'admin-username': 'azureuser',
    'ssh-key-values': sshPublicKey,
    subnet: subnetResourceId,
    'public-ip-address': '',
    nsg: '',
    'assign-identity': identityResourceId,
    'storage-sku': 'StandardSSD_LRS',
    'os-disk-delete-option': 'Delete',
    'nic-delete-option': 'Delete',
    tags: tagWords(tags),
  });

export const showVm = ({ subscription }: InSubscription, { group, name }: VirtualMachine): readonly string[] =>
  argumentsOf('vm show', {
    subscription,
    'resource-group': group,
    name,
    query: '{id: id, name: name, size: hardwareProfile.vmSize, scaleSet: virtualMachineScaleSet.id}',
  });

/** What extensions and applications report, with the end of what they printed. */
export const showExtensions = ({ subscription }: InSubscription, { group, name }: VirtualMachine): readonly string[] =>
  argumentsOf('vm get-instance-view', {
    subscription,
    'resource-group': group,
    name,
    query: 'instanceView.extensions',
  });

export const deleteVm = ({ subscription }: InSubscription, { group, name }: VirtualMachine): readonly string[] =>
  argumentsOf('vm delete', { subscription, 'resource-group': group, name, yes: true });

export const deleteExtension = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
  extension: string,
): readonly string[] =>
  argumentsOf('vm extension delete', { subscription, 'resource-group': group, 'vm-name': name, name: extension });

/** A Custom Script extension beside that of the bridge; a VM takes only one. */
export const addSecondExtension = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
): readonly string[] =>
  argumentsOf('vm extension set', {
    subscription,
    'resource-group': group,
    'vm-name': name,
    name: 'CustomScript',
    publisher: 'Microsoft.Azure.Extensions',
    version: '2.1',
    'extension-instance-name': secondExtension,
    settings: '{"commandToExecute":"true"}',
  });

export const secondExtension = 'second';

/** Replaces the list of applications of a VM; an empty list removes all. */
export const setApplications = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
  versions: readonly string[],
): readonly string[] =>
  argumentsOf('vm application set', {
    subscription,
    'resource-group': group,
    name,
    'app-version-ids': versions,
    // The command then fails with what the installation printed.
    'treat-deployment-as-failure': versions.length > 0 ? versions.map(() => 'true') : undefined,
  });

export const listApplications = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
): readonly string[] => argumentsOf('vm application list', { subscription, 'resource-group': group, 'vm-name': name });

// ---------------------------------------------------------------------------
// Scale sets
// ---------------------------------------------------------------------------

/** Without instances: they get the bridge from the model, so it has to be in it first. */
export const createScaleSet = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
  options: MachineOptions & { readonly orchestration: 'Uniform' | 'Flexible' },
): readonly string[] =>
  argumentsOf('vmss create', {
    subscription,
    'resource-group': group,
    name,
    location: options.location,
    'orchestration-mode': options.orchestration,
    'instance-count': 0,
    'disable-overprovision': options.orchestration === 'Uniform' ? true : undefined,
    image,
    'vm-sku': options.size,
    'upgrade-policy-mode': options.orchestration === 'Uniform' ? 'Manual' : undefined,
    'single-placement-group': options.orchestration === 'Uniform' ? 'true' : 'false',
    'admin-username': 'azureuser',
    'ssh-key-values': options.sshPublicKey,
    subnet: options.subnetResourceId,
    'load-balancer': '',
    'assign-identity': options.identityResourceId,
    'storage-sku': 'StandardSSD_LRS',
    // Minutes of notice before an instance is deleted.
    'terminate-notification-time': 5,
    tags: tagWords(options.tags),
  });

export const setScaleSetApplications = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
  versions: readonly string[],
): readonly string[] =>
  argumentsOf('vmss application set', {
    subscription,
    'resource-group': group,
    name,
    'app-version-ids': versions,
  });

export const scale = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
  instances: number,
): readonly string[] =>
  argumentsOf('vmss scale', { subscription, 'resource-group': group, name, 'new-capacity': instances });

/** Gives an instance of a uniform scale set a new disk from its image. */
export const reimage = (
  { subscription }: InSubscription,
  { group, name }: VirtualMachine,
  instanceId: string,
): readonly string[] =>
  argumentsOf('vmss reimage', { subscription, 'resource-group': group, name, 'instance-ids': instanceId });

/** The instances of a uniform scale set. */
export const listInstances = ({ subscription }: InSubscription, { group, name }: VirtualMachine): readonly string[] =>
  argumentsOf('vmss list-instances', {
    subscription,
    'resource-group': group,
    name,
    query: '[].{id: id, name: name, instanceId: instanceId, state: provisioningState}',
  });

/** The VMs of a flexible scale set. */
export const listVmsOfSet = (
  { subscription }: InSubscription,
  { group, scaleSetResourceId }: { group: string; scaleSetResourceId: string },
): readonly string[] =>
  argumentsOf('vm list', {
    subscription,
    'resource-group': group,
    vmss: scaleSetResourceId,
    query: '[].{id: id, name: name}',
  });

export const showScaleSet = ({ subscription }: InSubscription, { group, name }: VirtualMachine): readonly string[] =>
  argumentsOf('vmss show', { subscription, 'resource-group': group, name });

export const deleteScaleSet = ({ subscription }: InSubscription, { group, name }: VirtualMachine): readonly string[] =>
  argumentsOf('vmss delete', { subscription, 'resource-group': group, name });

// ---------------------------------------------------------------------------
// Commands on a VM
// ---------------------------------------------------------------------------

/** Where a script runs: a VM, or the instance of a uniform scale set. */
export interface ScriptHost {
  readonly resourceGroup: string;
  /** Of the VM or of the scale set. */
  readonly name: string;
  readonly instanceId: string | null;
  readonly os: 'linux' | 'windows';
}

/**
 * Runs a script as root or SYSTEM, and returns the last 4 KB that it printed. A VM runs one at a time, and the CLI waits for 90 minutes at most.
 * https://learn.microsoft.com/azure/virtual-machines/linux/run-command#restrictions
 *
 * @param scriptFile absolute path: the CLI sends the content of the file, whatever it contains
 */
export const runScript = (
  { subscription }: InSubscription,
  { resourceGroup, name, instanceId, os }: ScriptHost,
  scriptFile: string,
): readonly string[] =>
  argumentsOf(`${instanceId === null ? 'vm' : 'vmss'} run-command invoke`, {
    subscription,
    'resource-group': resourceGroup,
    name,
    'instance-id': instanceId ?? undefined,
    'command-id': os === 'windows' ? 'RunPowerShellScript' : 'RunShellScript',
    scripts: `@${scriptFile}`,
  });
