import { createAzureTarget } from './azure-target.ts';
import { createSimulatorTarget } from './simulator-target.ts';
import type { CreateTarget } from './target.ts';

/** How the place is made where scenarios happen. */
export const createTargets: Readonly<Record<'azure' | 'simulator', CreateTarget>> = {
  azure: (context) => createAzureTarget(context),
  simulator: () => createSimulatorTarget(),
};
