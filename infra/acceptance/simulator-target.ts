import { createSimulatorData } from './data/simulator-data.ts';
import type { SimulatedAzure, SimulatedAzureOptions } from './events/simulated-azure.ts';
import { createSimulatorMachines } from './events/simulator-machines.ts';
import { paceOfSimulator, type Target } from './target.ts';

/** The simulator as the place of the scenarios. It starts with the first call, and each bridge with the first scenario of its VM. */
export function createSimulatorTarget(options: SimulatedAzureOptions = {}): Target {
  let starting: Promise<SimulatedAzure> | null = null;
  const start = (): Promise<SimulatedAzure> => {
    starting ??= import('./events/simulated-azure.ts').then(({ startSimulatedAzure }) => startSimulatedAzure(options));
    return starting;
  };
  const machines = createSimulatorMachines(start);
  const data = createSimulatorData(async () => (await start()).azure);
  return {
    kind: 'simulator',
    pace: paceOfSimulator,
    ...machines,
    ...data,
    async close() {
      await machines.close();
      await data.close();
      await (await starting)?.close();
    },
  };
}
