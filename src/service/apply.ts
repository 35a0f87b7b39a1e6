import type { Step } from './plan.ts';
import type { Material, System } from './system.ts';

/**
 * Does the steps, one after the other. `before`: called before each, and throws to stop there.
 * @throws Refusal at the first that is impossible; those before it stay done.
 */
export async function apply(
  steps: readonly Step[],
  system: System,
  material: Material,
  before: (step: Step) => void = () => {},
): Promise<void> {
  for (const step of steps) {
    before(step);
    await system.perform(step, material);
  }
}
