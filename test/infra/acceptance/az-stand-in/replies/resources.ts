import { type AzureResource, createdFrom, subscriptionScope, typeOf } from '../kinds.ts';
import { accepted, found, management, notFound, type Route, refused } from '../reply.ts';
import type { World } from '../world.ts';
import { adjustInstances } from './compute.ts';

const groupType = 'Microsoft.Resources/resourceGroups';
type Body = Readonly<Record<string, unknown>>;

const groupId = (name: string | undefined): string => `${subscriptionScope}/resourceGroups/${name}`;

/** `tagName eq 'a' and tagValue eq 'b'`, and `resourceGroup eq 'c'`. */
function matching(resources: readonly AzureResource[], filter: string | null): readonly AzureResource[] {
  const of = (name: string) => new RegExp(`${name} eq '([^']*)'`, 'i').exec(filter ?? '')?.[1];
  const [name, value, type] = [of('tagName'), of('tagValue'), of('resourceType')];
  return resources.filter(
    (one) =>
      (name === undefined || (one.tags?.[name] !== undefined && (value === undefined || one.tags[name] === value))) &&
      (type === undefined || one.type.toLowerCase() === type.toLowerCase()),
  );
}

/** Resources that are tracked by themselves: listed by subscription and resource group. */
const isListed = ({ type, id }: AzureResource): boolean =>
  type !== groupType && type.split('/').length === 2 && id.split('/providers/').length === 2;

const filterOf = (url: URL): string | null => url.searchParams.get('$filter');

/** Types of which a request may name an instance or list all; another one means that a reply is missing. */
const types: ReadonlySet<string> = new Set(
  [
    'Microsoft.Authorization/locks',
    'Microsoft.Authorization/roleAssignments',
    'Microsoft.Compute/galleries',
    'Microsoft.Compute/galleries/applications',
    'Microsoft.Compute/galleries/applications/versions',
    'Microsoft.Compute/virtualMachineScaleSets',
    'Microsoft.Compute/virtualMachineScaleSets/virtualMachines',
    'Microsoft.Compute/virtualMachines',
    'Microsoft.Compute/virtualMachines/extensions',
    'Microsoft.EventHub/namespaces',
    'Microsoft.EventHub/namespaces/eventhubs',
    'Microsoft.Insights/activityLogAlerts',
    'Microsoft.Insights/dataCollectionRules',
    'Microsoft.Insights/metricAlerts',
    'Microsoft.Insights/scheduledQueryRules',
    'Microsoft.ManagedIdentity/userAssignedIdentities',
    'Microsoft.Network/natGateways',
    'Microsoft.Network/networkInterfaces',
    'Microsoft.Network/publicIPAddresses',
    'Microsoft.Network/virtualNetworks',
    'Microsoft.Network/virtualNetworks/subnets',
    'Microsoft.OperationalInsights/deletedWorkspaces',
    'Microsoft.OperationalInsights/workspaces',
    'Microsoft.OperationalInsights/workspaces/tables',
    'Microsoft.Storage/storageAccounts',
    'Microsoft.Storage/storageAccounts/blobServices/containers',
  ].map((type) => type.toLowerCase()),
);
const isKnown = (id: string): boolean => types.has(typeOf(id)?.toLowerCase() ?? '');

/** Where a path names all resources of a type: under which id, and the type. */
function collectionOf(path: string): { readonly under: string; readonly type: string } | null {
  const type = typeOf(`${path}/x`);
  if (type === null || !types.has(type.toLowerCase())) return null;
  const [above = '', below = ''] = path.split(/\/providers\/(?=[^/]+\/[^/]+(?:\/[^/]+\/[^/]+)*$)/i);
  const own = below.split('/').length > 2 ? path.slice(0, path.lastIndexOf('/')) : above;
  return { under: own, type };
}

function withoutGroup(world: World, id: string) {
  const group = /^(\/subscriptions\/[^/]+\/resourceGroups\/([^/]+))\//i.exec(id);
  if (group === null || world.get(group[1] ?? '') !== null) return null;
  const message = `Resource group '${group[2]}' could not be found.`;
  return refused(404, { code: 'ResourceGroupNotFound', message });
}

/** Resource groups, and resources of every kind. https://learn.microsoft.com/rest/api/resources/ */
export const resourceRoutes: readonly Route[] = [
  {
    method: 'GET',
    host: management,
    path: '/subscriptions/{subscription}/resourcegroups',
    reply: (world, _, { url }) => found({ value: matching(world.under(subscriptionScope, groupType), filterOf(url)) }),
  },
  {
    method: 'GET',
    host: management,
    path: '/subscriptions/{subscription}/resources',
    reply: (world, _, { url }) =>
      found({ value: matching(world.under(subscriptionScope).filter(isListed), filterOf(url)) }),
  },
  {
    method: 'GET',
    host: management,
    path: '/subscriptions/{subscription}/resourcegroups/{group}/resources',
    reply: (world, { group }, { url }) =>
      found({ value: matching(world.under(groupId(group)).filter(isListed), filterOf(url)) }),
  },
  ...['GET', 'HEAD'].map(
    (method): Route => ({
      method,
      host: management,
      path: '/subscriptions/{subscription}/resourcegroups/{group}',
      reply(world, { group }) {
        const known = world.get(groupId(group));
        if (method === 'HEAD') return { status: known === null ? 404 : 204 };
        const message = `Resource group '${group}' could not be found.`;
        return known === null ? refused(404, { code: 'ResourceGroupNotFound', message }) : found(known);
      },
    }),
  ),
  {
    method: 'PUT',
    host: management,
    path: '/subscriptions/{subscription}/resourcegroups/{group}',
    reply(world, { group }, { body }) {
      const id = groupId(group);
      const status = world.get(id) === null ? 201 : 200;
      return { status, body: world.put(createdFrom(id, groupType, body as Body, '')) };
    },
  },
  {
    method: 'DELETE',
    host: management,
    path: '/subscriptions/{subscription}/resourcegroups/{group}',
    reply(world, { group }) {
      const id = groupId(group);
      if (world.get(id) === null) return notFound(id);
      return accepted(world, () => {
        world.remove(id);
        return { value: undefined };
      });
    },
  },
  {
    method: 'GET',
    host: management,
    path: '{id*}',
    reply(world, { id = '' }) {
      const collection = collectionOf(id);
      if (collection !== null) return found({ value: world.under(collection.under, collection.type) });
      if (!isKnown(id)) return null;
      const known = world.get(id);
      return known === null ? (withoutGroup(world, id) ?? notFound(id)) : found(known);
    },
  },
  {
    method: 'PUT',
    host: management,
    path: '{id*}',
    reply(world, { id = '' }, { body }) {
      if (!isKnown(id)) return null;
      const type = typeOf(id) ?? '';
      const before = world.get(id);
      const refusal = withoutGroup(world, id);
      if (refusal !== null) return refusal;
      // `az vmss scale` sends only the place and the size of a scale set, and Azure keeps the rest.
      const whole = 'properties' in (body as Body) ? (body as Body) : { ...before, ...(body as Body) };
      const created = createdFrom(id, type, whole, before?.location ?? '');
      const fault = world.services.machines.put(world, created, before);
      if (fault !== null) return accepted(world, () => ({ error: fault }), { status: 200, body: created });
      world.put(created);
      if (type.toLowerCase() === 'microsoft.compute/virtualmachinescalesets') adjustInstances(world, created);
      // https://learn.microsoft.com/rest/api/storagerp/storage-accounts/create#response
      const isNew = before === null && type !== 'Microsoft.Storage/storageAccounts';
      return { status: isNew ? 201 : 200, body: created };
    },
  },
  {
    method: 'PATCH',
    host: management,
    path: '{id*}',
    reply(world, { id = '' }, { body }) {
      if (!isKnown(id)) return null;
      const known = world.get(id);
      if (known === null) return notFound(id);
      const { properties, ...own } = body as { properties?: object };
      const changed = { ...known, ...own, properties: { ...known.properties, ...properties } };
      const fault = world.services.machines.put(world, changed, known);
      if (fault !== null) return accepted(world, () => ({ error: fault }), { status: 200, body: changed });
      world.put(changed);
      if (changed.type.toLowerCase() === 'microsoft.compute/virtualmachinescalesets') adjustInstances(world, changed);
      return found(changed);
    },
  },
  {
    method: 'DELETE',
    host: management,
    path: '{id*}',
    reply(world, { id = '' }) {
      if (!isKnown(id)) return null;
      const known = world.get(id);
      const { allowDeletionOfReplicatedLocations } = (known?.properties.safetyProfile ?? {}) as Body;
      if (allowDeletionOfReplicatedLocations === false) {
        const message = 'Deletion of replicated locations is not allowed.';
        return refused(409, { code: 'OperationNotAllowed', message });
      }
      world.remove(id);
      return known === null ? { status: 204 } : found(known);
    },
  },
];
