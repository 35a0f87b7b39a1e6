import { roles } from '../../../../tools/bicep/roles.ts';
import { knownAliases } from '../../../../tools/policy/aliases.ts';
import { subscriptionScope } from '../kinds.ts';
import { found, management, type Route } from '../reply.ts';

const get = (path: string, reply: Route['reply']): Route => ({ method: 'GET', host: management, path, reply });
const inSubscription = '/subscriptions/{subscription}';

/** Types of resources, with a version of the interface that the CLI may use where a command names none. */
const resourceTypes: Readonly<Record<string, readonly string[]>> = {
  'Microsoft.AlertsManagement': ['alerts'],
  'Microsoft.Authorization': ['roleAssignments', 'locks'],
  'Microsoft.Compute': ['virtualMachines', 'virtualMachines/extensions', 'virtualMachineScaleSets', 'galleries'],
  'Microsoft.EventHub': ['namespaces'],
  'Microsoft.Insights': ['dataCollectionRules', 'scheduledQueryRules', 'metricAlerts', 'workbooks'],
  'Microsoft.ManagedIdentity': ['userAssignedIdentities'],
  'Microsoft.Network': ['virtualNetworks', 'natGateways', 'publicIPAddresses', 'networkInterfaces'],
  'Microsoft.OperationalInsights': ['workspaces', 'queryPacks'],
  'Microsoft.Storage': ['storageAccounts'],
};

const provider = (namespace: string): object => ({
  id: `${subscriptionScope}/providers/${namespace}`,
  namespace,
  registrationState: 'Registered',
  resourceTypes: (resourceTypes[namespace] ?? []).map((resourceType) => ({
    resourceType,
    locations: ['West Europe'],
    apiVersions: ['2024-11-01'],
    aliases: aliasesOf(`${namespace}/${resourceType}`),
  })),
});

/** Each list is an alias too, and so are the properties of its elements. */
const ofLists = knownAliases
  .filter((name) => name.endsWith('[*]'))
  .flatMap((name) => [name.slice(0, -3), `${name}.packageReferenceId`, `${name}.publisher`, `${name}.type`]);

const aliasesOf = (type: string): readonly { name: string }[] =>
  [...knownAliases, ...ofLists]
    .filter((name) => name.toLowerCase().startsWith(`${type}/`.toLowerCase()))
    .map((name) => ({ name }));

const families: Readonly<Record<string, string>> = {
  Standard_B2s_v2: 'standardBsv2Family',
  Standard_B2as_v2: 'standardBasv2Family',
  Standard_D2as_v5: 'standardDASv5Family',
  Standard_D2s_v5: 'standardDSv5Family',
};

/** https://learn.microsoft.com/rest/api/compute/resource-skus/list */
const size = ([name, family]: readonly [string, string]): object => ({
  resourceType: 'virtualMachines',
  name,
  tier: 'Standard',
  size: name.replace('Standard_', ''),
  family,
  locations: ['westeurope'],
  locationInfo: [{ location: 'westeurope', zones: ['1', '2', '3'], zoneDetails: [] }],
  capabilities: [
    { name: 'vCPUs', value: '2' },
    { name: 'MemoryGB', value: '8' },
    { name: 'CpuArchitectureType', value: 'x64' },
    { name: 'LowPriorityCapable', value: String(!name.startsWith('Standard_B')) },
    { name: 'HyperVGenerations', value: 'V1,V2' },
    { name: 'PremiumIO', value: 'True' },
  ],
  restrictions: [],
});

/** https://learn.microsoft.com/rest/api/compute/usage/list */
const usage = (value: string): object => ({
  name: { value, localizedValue: value },
  currentValue: 0,
  limit: 100,
  unit: 'Count',
});

/** What a subscription offers and allows. */
export const subscriptionRoutes: readonly Route[] = [
  get(`${inSubscription}/locations`, () =>
    found({
      value: ['westeurope', 'northeurope'].map((name) => ({
        id: `${subscriptionScope}/locations/${name}`,
        name,
        displayName: name,
        regionalDisplayName: name,
        type: 'Region',
        metadata: { regionType: 'Physical' },
      })),
    }),
  ),
  // The first of them is left for the run to register.
  get(`${inSubscription}/providers`, () => {
    const [first = '', ...others] = Object.keys(resourceTypes);
    return found({ value: [{ ...provider(first), registrationState: 'NotRegistered' }, ...others.map(provider)] });
  }),
  get(`${inSubscription}/providers/{namespace}`, (_, { namespace = '' }) => found(provider(namespace))),
  {
    method: 'POST',
    host: management,
    path: `${inSubscription}/providers/{namespace}/register`,
    reply: (_, { namespace = '' }) => found(provider(namespace)),
  },
  get(`${inSubscription}/providers/Microsoft.Compute/skus`, () => found({ value: Object.entries(families).map(size) })),
  get(`${inSubscription}/providers/Microsoft.Compute/locations/{location}/usages`, () =>
    found({ value: ['cores', 'lowPriorityCores', ...Object.values(families)].map(usage) }),
  ),
  // https://learn.microsoft.com/rest/api/authorization/permissions/list-for-resource-group
  get(`${inSubscription}/providers/Microsoft.Authorization/permissions`, () =>
    found({ value: [{ actions: ['*'], notActions: [], dataActions: [], notDataActions: [] }] }),
  ),
  // https://learn.microsoft.com/rest/api/authorization/role-definitions/list
  get('{scope*}/providers/Microsoft.Authorization/roleDefinitions', (_, __, { url }) => {
    const name = /roleName eq '([^']*)'/i.exec(url.searchParams.get('$filter') ?? '')?.[1];
    const value = roles
      .filter((role) => name === undefined || role.name === name)
      .map((role) => ({
        id: `${subscriptionScope}/providers/Microsoft.Authorization/roleDefinitions/${role.id}`,
        name: role.id,
        type: 'Microsoft.Authorization/roleDefinitions',
        properties: { roleName: role.name, type: 'BuiltInRole', permissions: [] },
      }));
    return found({ value });
  }),
  // https://learn.microsoft.com/rest/api/authorization/role-assignments/list-for-scope
  get('{scope*}/providers/Microsoft.Authorization/roleAssignments', (world, { scope = '' }, { url }) => {
    const filter = url.searchParams.get('$filter') ?? '';
    const principal = /(?:principalId eq|assignedTo\() ?'([^']*)'/i.exec(filter)?.[1];
    const value = world
      .under(scope, 'Microsoft.Authorization/roleAssignments')
      .filter(({ properties }) => principal === undefined || properties.principalId === principal)
      .map((one) => ({
        ...one,
        properties: { scope: one.id.split('/providers/Microsoft.Authorization/')[0], ...one.properties },
      }));
    return found({ value });
  }),
];
