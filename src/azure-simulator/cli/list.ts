import { twoColumns } from '../../cli/wrap.ts';
import { scenarioSeconds } from '../control/scenario-length.ts';
import { scenarios } from '../scenarios/index.ts';
import { minimumStepSeconds } from './minimum-durations.ts';

/** The scenarios with their lengths and what happens. `width`: columns; infinite: one line each. */
export function listScenarios(width: number = Number.POSITIVE_INFINITY): string {
  const rows = scenarios.map((scenario) => {
    const { name, description, demoSpeed } = scenario;
    const real = scenarioSeconds(scenario, { speed: 1 });
    const demo = scenarioSeconds(scenario, { speed: demoSpeed, minimumStepSeconds });
    return [name, inWords(real), inWords(demo), `${demoSpeed}x`, description] as const;
  });
  return table([['SCENARIO', 'REAL', 'DEMO', 'SPEED', 'WHAT HAPPENS'], ...rows], width);
}

/** Version of the JSON; it grows when a field is removed. */
const listVersion = 1;

/** The same as one line of JSON, lengths in seconds. */
export function scenariosJson(): string {
  const list = scenarios.map((scenario) => ({
    name: scenario.name,
    description: scenario.description,
    realSeconds: scenarioSeconds(scenario, { speed: 1 }),
    demoSeconds: scenarioSeconds(scenario, { speed: scenario.demoSpeed, minimumStepSeconds }),
    demoSpeed: scenario.demoSpeed,
    vms: scenario.vms?.length ?? 1,
  }));
  return `${JSON.stringify({ listVersion, scenarios: list })}\n`;
}

/** Every column but the last is as wide as its widest text; the last one wraps. */
function table(rows: readonly (readonly string[])[], width: number): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => {
      const cells = row.slice(0, -1).map((text, column) => text.padEnd((widths[column] ?? 0) + 2));
      const before = cells.join('');
      return `${twoColumns(before, row.at(-1) ?? '', before.length, width)}\n`;
    })
    .join('');
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** `3 d`, `25 min`, `90 s`: in the largest unit of which there are at least two, or exactly one. */
export function inWords(seconds: number): string {
  const unit = units.find(([, length]) => seconds >= 2 * length || seconds === length);
  if (unit === undefined) return `${Math.round(seconds)} s`;
  const [name, length] = unit;
  return `${Math.round((10 * seconds) / length) / 10} ${name}`;
}
