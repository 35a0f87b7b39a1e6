import { type AzureResource, createdFrom, subscriptionScope } from '../kinds.ts';
import { accepted, found, management, notFound, type Parts, type Route, refused } from '../reply.ts';
import type { World } from '../world.ts';

const group = '/subscriptions/{subscription}/resourceGroups/{group}';
const compute = `${group}/providers/Microsoft.Compute`;
const vmType = 'Microsoft.Compute/virtualMachines';
const setType = 'Microsoft.Compute/virtualMachineScaleSets';

const idOf = ({ group, name, instance }: Parts): string => {
  const provider = `${subscriptionScope}/resourceGroups/${group}/providers/Microsoft.Compute`;
  return instance === undefined
    ? `${provider}/virtualMachines/${name}`
    : `${provider}/virtualMachineScaleSets/${name}/virtualMachines/${instance}`;
};
const setOf = ({ group, name }: Parts): string =>
  `${subscriptionScope}/resourceGroups/${group}/providers/Microsoft.Compute/virtualMachineScaleSets/${name}`;

/** https://learn.microsoft.com/rest/api/compute/virtual-machines/instance-view */
const withInstanceView = (vm: AzureResource): AzureResource => ({
  ...vm,
  properties: {
    ...vm.properties,
    instanceView: {
      vmAgent: {
        vmAgentVersion: '2.11.1.4',
        statuses: [{ code: 'ProvisioningState/succeeded', level: 'Info', displayStatus: 'Ready' }],
      },
      extensions: [],
      statuses: [
        { code: 'ProvisioningState/succeeded', level: 'Info', displayStatus: 'Provisioning succeeded' },
        { code: 'PowerState/running', level: 'Info', displayStatus: 'VM running' },
      ],
    },
  },
});

/** The instances of a scale set: VMs of its group for a flexible one, resources under it for a uniform one. */
export function instancesOf(world: World, set: AzureResource): readonly AzureResource[] {
  if (set.properties.orchestrationMode !== 'Flexible') return world.under(set.id, `${setType}/virtualMachines`);
  const own = (vm: AzureResource) =>
    (vm.properties.virtualMachineScaleSet as { id?: string } | undefined)?.id === set.id;
  return world.under(set.id.replace(/\/providers\/.*/, ''), vmType).filter(own);
}

/** Creates or deletes instances until there are as many as the scale set says. */
export function adjustInstances(world: World, set: AzureResource): void {
  const { capacity = 0 } = (set.sku ?? {}) as { capacity?: number };
  const present = instancesOf(world, set);
  for (const extra of present.slice(capacity)) world.remove(extra.id);
  const group = set.id.replace(/\/providers\/.*/, '');
  const isFlexible = set.properties.orchestrationMode === 'Flexible';
  for (let number = present.length; number < capacity; number += 1) {
    const id = isFlexible
      ? `${group}/providers/${vmType}/${set.name}_${String(number).padStart(8, 'a')}`
      : `${set.id}/virtualMachines/${number}`;
    const { name: vmSize } = (set.sku ?? {}) as { name?: string };
    const properties = isFlexible
      ? { virtualMachineScaleSet: { id: set.id }, hardwareProfile: { vmSize } }
      : { latestModelApplied: true };
    const own = isFlexible ? {} : { instanceId: String(number), name: `${set.name}_${number}` };
    const type = isFlexible ? vmType : `${setType}/virtualMachines`;
    world.put({ ...createdFrom(id, type, { tags: set.tags, properties }, set.location ?? ''), ...own });
  }
}

function act(world: World, id: string, action: string) {
  if (world.get(id) === null) return notFound(id);
  return accepted(world, async () => {
    await world.services.machines.act(world, id, action);
    return { value: undefined };
  });
}

const vmPaths = [
  `${compute}/virtualMachines/{name}`,
  `${compute}/virtualMachineScaleSets/{name}/virtualMachines/{instance}`,
];

/** VMs and scale sets. https://learn.microsoft.com/rest/api/compute/ */
export const computeRoutes: readonly Route[] = [
  {
    // https://learn.microsoft.com/rest/api/compute/virtual-machine-images/list
    method: 'GET',
    host: management,
    path: '/subscriptions/{s}/providers/Microsoft.Compute/locations/{l}/publishers/{p}/artifacttypes/vmimage/offers/{o}/skus/{k}/versions',
    reply: (_, __, { url }) =>
      found([{ name: '24.04.202610010', location: 'westeurope', id: `${url.pathname}/24.04.202610010` }]),
  },
  {
    method: 'GET',
    host: management,
    path: '/subscriptions/{s}/providers/Microsoft.Compute/locations/{l}/publishers/{p}/artifacttypes/vmimage/offers/{o}/skus/{k}/versions/{version}',
    reply: (_, { version }, { url }) =>
      found({
        name: version,
        location: 'westeurope',
        id: url.pathname,
        properties: {
          hyperVGeneration: 'V2',
          architecture: 'x64',
          osDiskImage: { operatingSystem: 'Linux' },
          dataDiskImages: [],
          features: [{ name: 'SecurityType', value: 'TrustedLaunchSupported' }],
        },
      }),
  },
  {
    method: 'GET',
    host: management,
    path: `${compute}/virtualMachines`,
    reply(world, { group }, { url }) {
      const set = /eq '([^']*)'/.exec(url.searchParams.get('$filter') ?? '')?.[1];
      const vms = world.under(`${subscriptionScope}/resourceGroups/${group}`, vmType);
      const isOf = (vm: AzureResource) =>
        set === undefined ||
        (vm.properties.virtualMachineScaleSet as { id?: string } | undefined)?.id?.toLowerCase() === set.toLowerCase();
      return found({ value: vms.filter(isOf) });
    },
  },
  ...vmPaths.flatMap((path): readonly Route[] => [
    {
      method: 'GET',
      host: management,
      path,
      reply(world, parts, { url }) {
        const vm = world.get(idOf(parts));
        if (vm === null || !/instanceView/i.test(url.searchParams.get('$expand') ?? '')) return null;
        return found(withInstanceView(vm));
      },
    },
    {
      method: 'DELETE',
      host: management,
      path,
      reply(world, parts) {
        const id = idOf(parts);
        if (world.get(id) === null) return { status: 204 };
        return accepted(world, async () => {
          await world.services.machines.act(world, id, 'delete');
          world.remove(id);
          return { value: undefined };
        });
      },
    },
    {
      // https://learn.microsoft.com/rest/api/compute/virtual-machines/run-command
      method: 'POST',
      host: management,
      path: `${path}/runCommand`,
      async reply(world, parts, { body }) {
        const id = idOf(parts);
        if (world.get(id) === null) return notFound(id);
        const script = (body as { script: readonly string[] }).script.join('\n');
        const printed = await world.services.machines.run(world, id, script);
        return 'code' in printed ? refused(409, printed) : accepted(world, () => ({ value: { value: printed } }));
      },
    },
    {
      // https://learn.microsoft.com/rest/api/compute/virtual-machines/simulate-eviction
      method: 'POST',
      host: management,
      path: `${path}/simulateEviction`,
      reply(world, parts) {
        const id = idOf(parts);
        if (world.get(id) === null) return notFound(id);
        world.begin(async () => {
          await world.services.machines.act(world, id, 'simulateEviction');
          return { value: undefined };
        });
        return { status: 204 };
      },
    },
    ...['restart', 'redeploy', 'deallocate', 'start', 'powerOff'].map(
      (action): Route => ({
        method: 'POST',
        host: management,
        path: `${path}/${action}`,
        reply: (world, parts) => act(world, idOf(parts), action),
      }),
    ),
  ]),
  ...['restart', 'redeploy', 'deallocate', 'reimageall', 'delete'].map(
    (action): Route => ({
      method: 'POST',
      host: management,
      path: `${compute}/virtualMachineScaleSets/{name}/${action}`,
      reply(world, parts, { body }) {
        const set = world.get(setOf(parts));
        if (set === null) return notFound(setOf(parts));
        const { instanceIds = [] } = (body ?? {}) as { instanceIds?: readonly string[] };
        const chosen = instancesOf(world, set).filter((one) =>
          instanceIds.includes(String(one.instanceId ?? one.name)),
        );
        return accepted(world, async () => {
          await Promise.all(
            chosen.map(async ({ id }) => {
              await world.services.machines.act(world, id, action);
              if (action === 'delete') world.remove(id);
            }),
          );
          return { value: undefined };
        });
      },
    }),
  ),
];
