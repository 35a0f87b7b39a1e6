import { azureSteps } from './azure/steps.ts';
import { dataSteps } from './data/steps.ts';
import { eventSteps } from './events/steps.ts';
import type { Step, StepOptions } from './step.ts';

/** Every step of an acceptance run, in the order of the lists. */
export const stepsOf = (options: StepOptions): readonly Step[] => [
  ...(options.against === 'azure' ? azureSteps(options) : []),
  ...eventSteps(options),
  ...dataSteps(options),
];
