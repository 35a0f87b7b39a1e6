import type { Observer } from '../lifecycle/scheduled-event.ts';

/** What is known of this VM, for commands about it; null where the metadata service does not answer. */
export type KnownVm = Pick<
  Observer,
  'vmName' | 'resourceId' | 'subscriptionId' | 'resourceGroup' | 'vmScaleSetName' | 'osType'
> | null;

// assumption: check-remedies
/**
 * Commands that fix a problem, ready to be pasted into bash or PowerShell where `az` is signed in. What cannot be known from inside the VM
 * is shown as `<placeholder>`; the command queries what Azure knows.
 */

/** As one word of bash: the name of a resource group may have parentheses in it. */
const word = (name: string): string => (/^([\w.-]+|<.*>)$/.test(name) ? name : `"${name}"`);

export const subscription = (vm: KnownVm): string => `--subscription ${vm?.subscriptionId ?? '<subscription>'}`;

/** The scale set of a VM that is an instance of one with uniform orchestration; null for every other VM. */
function uniformScaleSet(vm: KnownVm): string | null {
  const name = /\/virtualmachinescalesets\/([^/]+)\/virtualmachines\//i.exec(vm?.resourceId ?? '')?.[1];
  return name === undefined ? null : (vm?.vmScaleSetName ?? name);
}

/** `az vm …`, or `az vmss …` where only the scale set has the property (uniform orchestration). */
export function azVm(vm: KnownVm, verb: string, more = ''): string {
  const uniform = uniformScaleSet(vm);
  const name = uniform ?? vm?.vmName ?? '<VM>';
  const group = vm?.resourceGroup ?? '<resource group>';
  const command = `az ${uniform ? 'vmss' : 'vm'} ${verb} ${subscription(vm)} --resource-group ${word(group)} --name ${word(name)}`;
  return more ? `${command} ${more}` : command;
}

/** Gives the VM an identity: its own, or the user-assigned one of this client id. */
export function assignIdentity(vm: KnownVm, clientId: string | null): string {
  if (clientId === null) return azVm(vm, 'identity assign');
  const id = `$(az identity list ${subscription(vm)} --query "[?clientId=='${clientId}'].id" --output tsv)`;
  return azVm(vm, 'identity assign', `--identities "${id}"`);
}

/** Shows the identities, each with its name and the `clientId` of which one has to be named in `identity.clientId`. */
export const listIdentities = (vm: KnownVm): string => azVm(vm, 'identity show', '--query userAssignedIdentities');

/** What the proxy agent on the VM has to enforce, with the profiles that it enforces. */
export const showProxyAgent = (vm: KnownVm): string =>
  azVm(
    vm,
    'show',
    `--query ${uniformScaleSet(vm) === null ? '' : 'virtualMachineProfile.'}securityProfile.proxyAgentSettings`,
  );

/** @param objectId of the identity: `oid` of its token. */
export function assignRole(role: string, objectId: string | null, scope: string): string {
  const assignee = `--assignee-object-id ${objectId ?? '<object id of the identity>'} --assignee-principal-type ServicePrincipal`;
  return `az role assignment create --role "${role}" ${assignee} --scope "${scope}"`;
}
