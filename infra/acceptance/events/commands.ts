import { argumentsOf, type InSubscription } from '../azure/arguments.ts';
import type { MachineFound } from '../azure/found.ts';
import type { Operation } from '../target.ts';

/** Argument lists for the Azure CLI that make events. None waits for its event: a restart takes 15 minutes more when no one approves it. */

type Vm = Pick<MachineFound, 'resourceGroup' | 'name' | 'scaleSet' | 'instanceId'>;

const vm = (
  command: string,
  { subscription }: InSubscription,
  { resourceGroup, name }: Vm,
  options: Readonly<Record<string, true>> = {},
): readonly string[] =>
  argumentsOf(`vm ${command}`, { subscription, 'resource-group': resourceGroup, name, ...options });

/** Of an instance of a uniform scale set. */
const instance = (
  command: string,
  { subscription }: InSubscription,
  { resourceGroup, scaleSet, instanceId }: Vm,
): readonly string[] =>
  argumentsOf(`vmss ${command}`, {
    subscription,
    'resource-group': resourceGroup,
    name: scaleSet ?? undefined,
    'instance-ids': instanceId ?? undefined,
    'no-wait': true,
  });

export const restart = (place: InSubscription, machine: Vm): readonly string[] =>
  machine.instanceId === null
    ? vm('restart', place, machine, { 'no-wait': true })
    : instance('restart', place, machine);

export const redeploy = (place: InSubscription, machine: Vm): readonly string[] =>
  vm('redeploy', place, machine, { 'no-wait': true });

/**
 * Azure evicts the Spot VM within 30 minutes; the CLI waits only for the acceptance of the request.
 * https://learn.microsoft.com/azure/virtual-machines/linux/spot-cli#simulate-an-eviction https://learn.microsoft.com/powershell/module/az.compute/set-azvm#-simulateeviction
 */
export const simulateEviction = (place: InSubscription, machine: Vm): readonly string[] =>
  vm('simulate-eviction', place, machine);

export const deallocate = (place: InSubscription, machine: Vm): readonly string[] =>
  vm('deallocate', place, machine, { 'no-wait': true });

export const deleteInstance = (place: InSubscription, machine: Vm): readonly string[] =>
  machine.instanceId === null
    ? vm('delete', place, machine, { yes: true, 'no-wait': true })
    : instance('delete-instances', place, machine);

/** Waits until the VM runs. */
export const start = (place: InSubscription, machine: Vm): readonly string[] => vm('start', place, machine);

export const operationCommands: Readonly<Record<Operation, typeof restart>> = {
  restart,
  redeploy,
  evict: simulateEviction,
  'delete-instance': deleteInstance,
  deallocate,
  start,
};
