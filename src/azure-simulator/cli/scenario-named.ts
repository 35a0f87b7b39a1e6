import { Failure } from '../../cli/exit-codes.ts';
import { closest } from '../../config/did-you-mean.ts';
import { findScenario, type Scenario, scenarios } from '../scenarios/index.ts';

/** @throws {Failure} with a suggestion. */
export function scenarioNamed(name: string): Scenario {
  const found = findScenario(name);
  if (found) return found;
  const near = closest(
    name,
    scenarios.map((scenario) => scenario.name),
  );
  const all = 'simulate --list shows all.';
  throw new Failure('usage', `There is no scenario "${name}"${near ? `; did you mean ${near}? ${all}` : `: ${all}`}`);
}
