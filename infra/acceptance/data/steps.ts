import type { Step, StepOptions } from '../step.ts';
import { alertSteps } from './alert-steps.ts';
import { hubSteps } from './hub-steps.ts';
import { outageSteps } from './outage-steps.ts';
import { querySteps } from './query-steps.ts';
import { readSteps } from './read-steps.ts';
import { requestSteps } from './refusal-steps.ts';

/** Steps of the phases `read` and `refusals`, with the rights that they need. */
export function dataSteps(options: StepOptions): readonly Step[] {
  const steps = [
    ...readSteps(options),
    ...querySteps(options),
    ...requestSteps(options),
    ...hubSteps(options),
    ...outageSteps(options),
  ];
  // The simulator takes seconds for what Azure takes minutes for.
  return options.against === 'azure' ? [...alertSteps, ...steps] : steps.map((step) => ({ ...step, minutes: 1 }));
}
