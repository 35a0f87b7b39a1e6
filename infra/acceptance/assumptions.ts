import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Something the project relies on and no test can show. */
export interface Assumption {
  readonly id: string;
  readonly on: Place;
  readonly claim: string;
  /** Paths or patterns from the root of the repository. */
  readonly where: readonly string[];
  readonly verify: string;
  /** PowerShell on `windows`, bash elsewhere. */
  readonly commands?: string;
  readonly otherwise: string;
}

type Place = 'azure' | 'windows' | 'linux';

/** Where an assumption is proved, with the heading and the introduction of its section. */
export const places: Readonly<Record<Place, readonly [heading: string, introduction: string]>> = {
  azure: [
    'In a subscription',
    `The templates were checked against the published descriptions of Azure's resources, documented rules of its services, and a model of Azure Policy. Deploy the
first fleet with \`enforcementMode\` \`DoNotEnforce\`, start with a ring of a few VMs, and verify these there.`,
  ],
  windows: [
    'On a Windows VM',
    'The programs for Windows were run by Wine 10 on Linux, never by Windows. Verify these on one VM of each version of Windows before the first ring.',
  ],
  linux: ['On a Linux VM', 'The packages were run on booted systems without Azure.'],
};

export const assumptionsFile = 'infra/acceptance/assumptions.yaml';

export const readAssumptions = (): readonly Assumption[] =>
  parse(readFileSync(join(import.meta.dirname, 'assumptions.yaml'), 'utf8'));

/** The page `infra/untried.md`. */
export function untriedPage(assumptions: readonly Assumption[]): string {
  const sections = Object.entries(places).flatMap(([place, [heading, introduction]]) => {
    const rows = assumptions.filter(({ on }) => on === place).map(rowOf);
    return rows.length === 0 ? [] : [`## ${heading}\n\n${introduction}\n\n${tableHead}\n${rows.join('\n')}\n`];
  });
  return `${pageHead}\n${sections.join('\n')}`;
}

const pageHead = `# Not yet tried

Generated from \`${assumptionsFile}\`, which also has the commands for each row.

Nothing of this project has run in Azure yet. The assumptions below come from documentation or from other projects, and only a real deployment or a
real machine can confirm them.
`;

const tableHead = '| assumption | where | how to verify | if it does not hold |\n|---|---|---|---|';

function rowOf({ id, claim, where, verify, otherwise }: Assumption): string {
  const paths = where.map((path) => `\`${path}\``).join(', ');
  return `| \`${id}\`: ${[claim, paths, verify, otherwise].map((text) => text.trim().replaceAll('|', '\\|')).join(' | ')} |`;
}
