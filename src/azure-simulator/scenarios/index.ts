import { faultScenarios } from './faults.ts';
import { groupScenarios } from './groups.ts';
import { platformScenarios } from './platform.ts';
import { requestedScenarios } from './requested.ts';
import { rollingMaintenance } from './rolling.ts';
import type { Scenario } from './scenario.ts';

/** All there are. To add one, add it to one of these lists: the player, `simulate` and its `--list` find it by name. */
export const scenarios: readonly Scenario[] = [
  ...platformScenarios,
  ...requestedScenarios,
  ...groupScenarios,
  rollingMaintenance(10, 5),
  ...faultScenarios,
];

/** @returns undefined when there is no scenario of that name. */
export function findScenario(name: string): Scenario | undefined {
  return scenarios.find((scenario) => scenario.name === name);
}

export { rollingMaintenance } from './rolling.ts';
export type { ImpactKind, Scenario, Step } from './scenario.ts';
