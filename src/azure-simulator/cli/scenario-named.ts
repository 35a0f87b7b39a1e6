import { Failure } from '../../cli/exit-codes.ts';
import { closest } from '../../config/did-you-mean.ts';
import { findScenario, type Scenario, scenarios } from '../scenarios/index.ts';

/** @throws {Failure} with a suggestion. */
export function scenarioNamed(name: string): Scenario {
  const found = findScenario(name);
  if (found) return found;
  const names = scenarios.map((scenario) => scenario.name);
  const near = closest(name, names);
  throw new Failure(
    'usage',
    `There is no scenario "${name}"; ${near ? `did you mean ${near}?` : `there are ${names.join(', ')}.`}`,
  );
}
