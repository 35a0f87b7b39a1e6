import { guidOf } from '../../../../src/azure-simulator/guid-of.ts';

/** A resource as Azure Resource Manager returns it. */
export interface AzureResource {
  readonly id: string;
  readonly name: string;
  /** As in its template: `Microsoft.Compute/virtualMachines`. */
  readonly type: string;
  readonly location?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** What Azure adds to the properties of a resource, by its type in small letters: read-only properties that the run or a template reads. */
const added: Readonly<Record<string, (resource: AzureResource) => Readonly<Record<string, unknown>>>> = {
  // https://learn.microsoft.com/rest/api/managedidentity/user-assigned-identities/get
  'microsoft.managedidentity/userassignedidentities': ({ id }) => ({
    principalId: guidOf(`principal ${id}`),
    clientId: guidOf(`client ${id}`),
    tenantId,
  }),
  // https://learn.microsoft.com/rest/api/eventhub/namespaces/get
  'microsoft.eventhub/namespaces': ({ name }) => ({
    serviceBusEndpoint: `https://${name}.servicebus.windows.net:443/`,
    status: 'Active',
  }),
  // https://learn.microsoft.com/rest/api/loganalytics/workspaces/get
  'microsoft.operationalinsights/workspaces': ({ id }) => ({ customerId: guidOf(`workspace ${id}`) }),
  // https://learn.microsoft.com/rest/api/monitor/data-collection-rules/get
  'microsoft.insights/datacollectionrules': ({ name, location }) => ({
    immutableId: ruleId,
    endpoints: { logsIngestion: `https://${name}-abcd.${location}-1.ingest.monitor.azure.com` },
  }),
  // https://learn.microsoft.com/rest/api/compute/virtual-machines/get
  'microsoft.compute/virtualmachines': ({ id }) => ({ vmId: guidOf(`vm ${id}`) }),
  // https://learn.microsoft.com/rest/api/compute/virtual-machine-scale-sets/get
  'microsoft.compute/virtualmachinescalesets': ({ id }) => ({ uniqueId: guidOf(`scale set ${id}`) }),
  // https://learn.microsoft.com/rest/api/storagerp/storage-accounts/get-properties
  'microsoft.storage/storageaccounts': ({ name }) => ({
    primaryEndpoints: { blob: `https://${name}.blob.core.windows.net/` },
  }),
};

/** Immutable id of every data collection rule. */
export const ruleId = `dcr-${guidOf('data collection rule').replaceAll('-', '')}`;
export const tenantId = '22222222-2222-4222-8222-222222222222';
export const subscriptionId = '11111111-1111-4111-8111-111111111111';
export const subscriptionScope = `/subscriptions/${subscriptionId}`;

/** A resource that was created from a body, with what Azure adds to it. */
export function createdFrom(
  id: string,
  type: string,
  body: Readonly<Record<string, unknown>>,
  location: string,
): AzureResource {
  const { parent: _parent, scope: _scope, dependsOn: _dependsOn, ...own } = body;
  const resource: AzureResource = {
    location,
    ...own,
    id,
    type,
    name: id.slice(id.lastIndexOf('/') + 1),
    properties: { ...(body.properties as object | undefined), provisioningState: 'Succeeded' },
  };
  return { ...resource, properties: { ...resource.properties, ...added[type.toLowerCase()]?.(resource) } };
}

/** `Microsoft.EventHub/namespaces/eventhubs` and the names of each part, or null where the path names no resource. */
export function typeOf(id: string): string | null {
  const provider = /^(.*)\/providers\/([^/]+)((?:\/[^/]+\/[^/]+)+)$/i.exec(id);
  if (provider !== null) {
    const parts = (provider[3] ?? '').slice(1).split('/');
    return [provider[2], ...parts.filter((_, index) => index % 2 === 0)].join('/');
  }
  return /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+$/i.test(id) ? 'Microsoft.Resources/resourceGroups' : null;
}
