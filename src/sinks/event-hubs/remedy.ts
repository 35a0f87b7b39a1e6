import { assignRole, type KnownVm, subscription } from '../../check/remedy.ts';

// assumption: check-remedies
/**
 * Commands that fix a problem with an event hub: see `check/remedy.ts`. Without a VM they are for the subscription to which `az` is set:
 * who reads the hub may be on any machine.
 */

const namespaceName = (host: string): string => host.split('.')[0] ?? host;

function namespaceId(host: string, vm?: KnownVm): string {
  const where = vm === undefined ? '' : `${subscription(vm)} `;
  return `$(az resource list ${where}--resource-type Microsoft.EventHub/namespaces --name ${namespaceName(host)} --query "[0].id" --output tsv)`;
}

export const grantSend = (
  to: { readonly namespace: string; readonly eventHub: string },
  objectId: string | null,
  vm: KnownVm,
): string =>
  assignRole('Azure Event Hubs Data Sender', objectId, `${namespaceId(to.namespace, vm)}/eventhubs/${to.eventHub}`);

/** @param objectId of the identity that reads. */
export const grantReceive = (
  to: { readonly namespace: string; readonly eventHub: string },
  objectId: string | null,
): string =>
  `az role assignment create --role "Azure Event Hubs Data Receiver" --assignee ${objectId ?? '<object id of the identity>'} --scope "${namespaceId(to.namespace)}/eventhubs/${to.eventHub}"`;

export const addConsumerGroup = (
  to: { readonly namespace: string; readonly eventHub: string },
  consumerGroup: string,
): string =>
  `az rest --method put --url "${namespaceId(to.namespace)}/eventhubs/${to.eventHub}/consumergroups/${consumerGroup}?api-version=2024-01-01" --body "{}"`;

/** Shows the hubs that there are, to compare the configured name with. */
export const listEventHubs = (namespace: string, vm?: KnownVm): string =>
  `az rest --method get --url "${namespaceId(namespace, vm)}/eventhubs?api-version=2024-01-01" --query "value[].name" --output tsv`;

/**
 * Shows access policies with their rights: those of the hub, or those of the namespace for its default policy. None is changed: that
 * would remove the rights that other programs use.
 */
export function listPolicies(
  to: { readonly namespace: string; readonly eventHub: string; readonly policy: string | null },
  vm?: KnownVm,
): string {
  const hub = to.policy === 'RootManageSharedAccessKey' ? '' : `/eventhubs/${to.eventHub}`;
  return `az rest --method get --url "${namespaceId(to.namespace, vm)}${hub}/authorizationRules?api-version=2024-01-01" --query "value[].{name:name, rights:properties.rights}"`;
}

/** Who is let in: address ranges, subnets, private endpoints. */
export const showNetworkRules = (namespace: string, vm?: KnownVm): string =>
  `az rest --method get --url "${namespaceId(namespace, vm)}/networkRuleSets/default?api-version=2024-01-01"`;

export const switchHubOn = (
  { namespace, eventHub }: { readonly namespace: string; readonly eventHub: string },
  vm?: KnownVm,
): string =>
  `az resource update --ids "${namespaceId(namespace, vm)}/eventhubs/${eventHub}" --set properties.status=Active`;
