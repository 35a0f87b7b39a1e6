import type { Scenario } from '../scenarios/index.ts';

/** Length of a scenario in seconds, without approvals. */
export function scenarioSeconds(
  { steps }: Scenario,
  { speed, minimumStepSeconds = 0 }: { readonly speed: number; readonly minimumStepSeconds?: number },
): number {
  const waits = steps.filter(({ afterSeconds }) => afterSeconds > 0);
  return waits.reduce((total, { afterSeconds }) => total + Math.max(afterSeconds / speed, minimumStepSeconds), 0);
}
