import type { Observer } from '../../lifecycle/scheduled-event.ts';

/** What is known of this VM, for commands about it; null where the metadata service does not answer. */
export type KnownVm = Pick<
  Observer,
  'vmName' | 'resourceId' | 'subscriptionId' | 'resourceGroup' | 'vmScaleSetName' | 'osType'
> | null;

/**
 * Commands that fix a problem, ready to be pasted into bash or PowerShell where `az` is signed in. What cannot be known from inside the VM
 * stands as `<placeholder>`; what Azure can be asked for is asked for in the command.
 */

/** As one word of bash: the name of a resource group may have parentheses in it. */
const word = (name: string): string => (/^([\w.-]+|<.*>)$/.test(name) ? name : `"${name}"`);

const subscription = (vm: KnownVm): string => `--subscription ${vm?.subscriptionId ?? '<subscription>'}`;

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

/** What the proxy agent on the VM is told to enforce, with the profiles that it enforces. */
export const showProxyAgent = (vm: KnownVm): string =>
  azVm(
    vm,
    'show',
    `--query ${uniformScaleSet(vm) === null ? '' : 'virtualMachineProfile.'}securityProfile.proxyAgentSettings`,
  );

/** @param objectId of the identity: `oid` of its token. */
function assignRole(role: string, objectId: string | null, scope: string): string {
  const assignee = `--assignee-object-id ${objectId ?? '<object id of the identity>'} --assignee-principal-type ServicePrincipal`;
  return `az role assignment create --role "${role}" ${assignee} --scope "${scope}"`;
}

const namespaceName = (host: string): string => host.split('.')[0] ?? host;

function namespaceId(host: string, vm: KnownVm): string {
  return `$(az resource list ${subscription(vm)} --resource-type Microsoft.EventHub/namespaces --name ${namespaceName(host)} --query "[0].id" --output tsv)`;
}

export const grantSend = (
  to: { readonly namespace: string; readonly eventHub: string },
  objectId: string | null,
  vm: KnownVm,
): string =>
  assignRole('Azure Event Hubs Data Sender', objectId, `${namespaceId(to.namespace, vm)}/eventhubs/${to.eventHub}`);

/** Shows the hubs that there are, to compare the configured name with. */
export const listEventHubs = (namespace: string, vm: KnownVm): string =>
  `az rest --method get --url "${namespaceId(namespace, vm)}/eventhubs?api-version=2024-01-01" --query "value[].name" --output tsv`;

/**
 * Shows access policies with their rights: those of the hub, or those of the namespace for its default policy. None is changed: that
 * would take away the rights that other programs use it for.
 */
export function listPolicies(
  to: { readonly namespace: string; readonly eventHub: string; readonly policy: string | null },
  vm: KnownVm,
): string {
  const hub = to.policy === 'RootManageSharedAccessKey' ? '' : `/eventhubs/${to.eventHub}`;
  return `az rest --method get --url "${namespaceId(to.namespace, vm)}${hub}/authorizationRules?api-version=2024-01-01" --query "value[].{name:name, rights:properties.rights}"`;
}

/** Who is let in: address ranges, subnets, private endpoints. */
export const showNetworkRules = (namespace: string, vm: KnownVm): string =>
  `az rest --method get --url "${namespaceId(namespace, vm)}/networkRuleSets/default?api-version=2024-01-01"`;

export const switchHubOn = (
  { namespace, eventHub }: { readonly namespace: string; readonly eventHub: string },
  vm: KnownVm,
): string =>
  `az resource update --ids "${namespaceId(namespace, vm)}/eventhubs/${eventHub}" --set properties.status=Active`;

/**
 * The data collection rules of the subscription. `az monitor data-collection` is not part of the CLI: it would first ask whether to
 * install an extension, and in the middle of another command nobody sees that question.
 */
const rules = (vm: KnownVm, query: string): string =>
  `az rest --method get --url "/subscriptions/${vm?.subscriptionId ?? '<subscription>'}/providers/Microsoft.Insights/dataCollectionRules?api-version=2024-03-11" --query "${query}"`;

/** The resource id of a data collection rule, which Azure can be asked for by the id that is configured. */
const ruleScope = (ruleId: string, vm: KnownVm): string =>
  `$(${rules(vm, `value[?properties.immutableId=='${ruleId}'].id`)} --output tsv)`;

/** @param resourceId of the rule, where the service told it with its refusal. */
export const grantPublish = (
  rule: { readonly ruleId: string; readonly resourceId: string | null },
  objectId: string | null,
  vm: KnownVm,
): string => assignRole('Monitoring Metrics Publisher', objectId, rule.resourceId ?? ruleScope(rule.ruleId, vm));

/** Shows ids, endpoints and streams of the rules that there are. */
export const listRules = (vm: KnownVm): string =>
  rules(
    vm,
    'value[?properties.streamDeclarations].{name:name, ruleId:properties.immutableId, endpoint:properties.endpoints.logsIngestion, streams:keys(properties.streamDeclarations)}',
  );

/** Shows a row as it arrived in the table of a stream. */
export const queryFor = (streamName: string, recordId: string): string =>
  `az monitor log-analytics query --workspace <workspace id> --analytics-query "${streamName.replace(/^Custom-/, '')} | where RecordId == '${recordId}'"`;

/** Sets the clock by what the hypervisor or the time service says. */
export const setClock = (platform: NodeJS.Platform): string =>
  platform === 'win32' ? 'w32tm /resync /force' : 'sudo chronyc makestep || sudo systemctl restart systemd-timesyncd';
