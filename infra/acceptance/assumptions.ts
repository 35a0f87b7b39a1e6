import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Something the project relies on and its tests cannot show. */
export interface Assumption {
  readonly id: string;
  readonly on: Place;
  readonly claim: string;
  /** Paths or patterns from the root of the repository: the files that rely on it. They name its id. */
  readonly where: readonly string[];
  /** Links to documentation, `observed by others: <link>`, or `our inference`. */
  readonly source: readonly string[];
  readonly verify: string;
  /** The part of the claim that no step sees, as a phrase; missing if the steps see all of it. */
  readonly unseen?: string;
  /** PowerShell on `windows`, bash elsewhere. */
  readonly commands?: string;
  /** What is no longer true of this project if the claim is false. */
  readonly breaks: string;
  /** What to do then. */
  readonly otherwise: string;
  /** Ids of the steps of an acceptance run each of which can prove or refute it. */
  readonly provedBy?: readonly string[];
  /** Why no step can. Exactly one of these two is set. */
  readonly manual?: string;
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

Generated from \`${assumptionsFile}\`, which also has the source of each claim, how to verify it, the commands, and what to do if it is false.

Nothing of this project has run in Azure yet. The assumptions below come from documentation or from other projects, and only a real deployment or a
real machine can confirm them. Where the third column names steps, an
[acceptance run](acceptance.md) carries them out; the other rows need a person.
`;

const tableHead = '| assumption | where | how it is proved | if it is false |\n|---|---|---|---|';

function rowOf({ id, claim, where, provedBy, unseen, manual = '', breaks }: Assumption): string {
  const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  const steps = provedBy === undefined ? '' : `step${provedBy.length > 1 ? 's' : ''} ${listed(provedBy)}`;
  const proof =
    provedBy === undefined ? `a person: ${manual}` : [steps, ...(unseen ? [`a person: ${unseen}`] : [])].join('; ');
  return `| \`${id}\`: ${[claim, listed(where), proof, breaks].map((text) => text.trim().replaceAll('|', '\\|')).join(' | ')} |`;
}
