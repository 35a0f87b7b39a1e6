import type { GivenRow } from '../../../test/tools/kql/index.ts';
import { storedFunction } from '../../../test/tools/kql/index.ts';

/** A VM that Azure lists and on which no bridge runs. */
const stranger = (name: string): GivenRow => ({
  ResourceId: `/subscriptions/11111111-2222-4333-8444-555555555555/resourcegroups/old/providers/microsoft.compute/virtualmachines/${name}`,
  Location: 'westeurope',
});

/** Names of VMs that are not available in the demo fleet, and what they are. */
const notAvailable: Readonly<Record<string, string>> = {
  web_20: 'Unavailable',
  train_5: 'Unavailable',
  shop_8: 'Unknown',
};

const columns = 'id:string, type:string, location:string, sku:dynamic, properties:dynamic';

/**
 * Azure Resource Graph as the demo fleet would have it, as tables of the test engine: the VMs of which heartbeats were
 * seen at the end, and two without a bridge.
 */
export function resourceGraph(heartbeats: readonly GivenRow[], now: Date) {
  const vms = [...heartbeatsByVm(heartbeats).values(), stranger('legacy-1'), stranger('legacy-2')];
  const rows = (shown: readonly GivenRow[], row: (vm: GivenRow) => string): string => shown.map(row).join(',\n');
  const isInSet = ({ ResourceId }: GivenRow): boolean => String(ResourceId).includes('/virtualmachinescalesets/');
  const single = vms.filter((vm) => !isInSet(vm));
  const inSets = vms.filter(isInSet);
  const size = { sku: { name: 'Standard_D4s_v5' }, hardwareProfile: { vmSize: 'Standard_D4s_v5' } };
  const table = (name: string, body: string) =>
    storedFunction(name, `// params: ()\ndatatable(${columns}) [\n${body}\n]`);
  const line = (id: unknown, type: string, location: unknown, properties: unknown): string =>
    `"${id}", "${type}", "${location}", dynamic(${JSON.stringify(size.sku)}), dynamic(${JSON.stringify(properties)})`;
  const inVmType = 'microsoft.compute/virtualmachines';
  const inSetType = 'microsoft.compute/virtualmachinescalesets/virtualmachines';
  return [
    table(
      'Resources',
      rows(single, (vm) => line(vm.ResourceId, inVmType, vm.Location, { hardwareProfile: size.hardwareProfile })),
    ),
    table(
      'ComputeResources',
      rows(inSets, (vm) => line(vm.ResourceId, inSetType, vm.Location, {})),
    ),
    table(
      'HealthResources',
      rows(vms, (vm) =>
        line(
          `${vm.ResourceId}/providers/microsoft.resourcehealth/availabilitystatuses/current`,
          'microsoft.resourcehealth/availabilitystatuses',
          vm.Location,
          {
            targetResourceId: vm.ResourceId,
            availabilityState: notAvailable[String(vm.VmName)] ?? 'Available',
            occurredTime: new Date(now.getTime() - 5_400_000).toISOString(),
          },
        ),
      ),
    ),
  ];
}

/** The last heartbeat of each VM. */
const heartbeatsByVm = (heartbeats: readonly GivenRow[]): Map<unknown, GivenRow> =>
  new Map(heartbeats.map((row) => [row.VmId, row]));
