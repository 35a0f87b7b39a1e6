import type { StepContext } from '../step.ts';
import { foundBy, type MachineFound } from './found.ts';
import { free } from './prices.ts';

/** What the steps of this phase have in common. */
export const onExistingMachines = {
  phase: 'install',
  creates: [],
  rights: ['Contributor on the subscription'],
  cost: free('uses VMs that exist'),
} as const;

/** The only machine of a step. */
export function machineOf({ found }: StepContext, step: 'vm' | 'spot-vm' | 'windows-vm'): MachineFound {
  const [machine] = foundBy(found, step).machines;
  if (machine === undefined) throw new Error(`The step ${step} has found no machine.`);
  return machine;
}
