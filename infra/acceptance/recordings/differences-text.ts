import { code, fileLink, table } from '../markdown.ts';
import type { Difference } from '../step.ts';
import { differenceKinds } from './difference.ts';

/**
 * The section of the report about differences, without its heading, in Markdown; empty without any. For each: what Azure did, what the simulator
 * did, and which file of this repository to change. `acceptance.json` has the same in its list of differences.
 */
export function differencesText(differences: readonly Difference[]): string {
  if (differences.length === 0) return '';
  const compared = differences.filter(({ detail }) => detail !== undefined);
  const others = differences.filter(({ detail }) => detail === undefined);
  return [
    ...[...Map.groupBy(compared, ({ situation }) => situation)].map(([situation, ones]) =>
      scenarioText(situation, ones),
    ),
    table(
      ['situation', 'what Azure did', 'file'],
      others.map(({ situation, what, file }) => [code(situation), what, fileLink(file)]),
    ),
    ...(compared.length === 0 ? [] : [howToApply]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function scenarioText(situation: string, differences: readonly Difference[]): string {
  const files = [...new Set(differences.flatMap(({ file }) => file ?? []))];
  return [
    `### ${code(situation)}${files.length === 0 ? '' : `: ${files.map(fileLink).join(', ')}`}`,
    table(
      ['about', 'what', 'Azure', 'simulator', 'tolerance', 'to change'],
      differences.flatMap(({ detail }) => {
        if (detail === undefined) return [];
        const { what, change } = differenceKinds[detail.kind];
        return [[detail.subject, what, detail.azure, detail.simulator, detail.tolerance ?? 'none', code(change)]];
      }),
    ),
  ].join('\n\n');
}

const howToApply = `To make the simulator do what Azure did, copy the recording of the scenario from \`recordings/\` in the folder of this run to
\`test/fixtures/recordings/\`, change the file in the last column, and run the tests of both; \`test/fixtures/recordings/README.md\` has the commands.`;
