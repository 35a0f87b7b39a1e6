import { evaluateFile } from '../bicep/evaluate.ts';
import { textOf } from '../bicep/files.ts';
import { createProject } from '../bicep/project.ts';
import type { Subject } from './condition.ts';
import {
  type Definition,
  type Kind,
  kinds,
  type Outcome,
  outcome,
  type Rule,
  readDefinition,
  rules,
} from './definition.ts';
import type { JsonObject } from './expression.ts';
import { galleryId, identityId } from './subjects.ts';

interface Ring {
  readonly name: string;
  readonly version: string;
  readonly untagged: boolean;
}

/** The fleet of the cases: two rings, packages for three targets, two regions. */
const rings: readonly Ring[] = [
  { name: 'canary', version: '1.1.0', untagged: false },
  { name: 'everyone', version: '1.0.0', untagged: true },
];
const allTargets = ['linux-x64', 'linux-arm64', 'win-x64'] as const;
export type Target = (typeof allTargets)[number];

/** The names that fleets of the first release have: `infra/fleet.bicep` may never change those for Linux. */
const shortNames = { 'linux-x64': 'x64', 'linux-arm64': 'arm64', 'win-x64': 'win-x64' } as const;
export type ShortName = (typeof shortNames)[Target];
export const applicationName = (of: ShortName): string => `scheduled-events-bridge-europe-${of}`;

const project = createProject(textOf, null);
const fleet = evaluateFile(project, 'infra/fleet.bicep', { platforms: [], userInitiatedEvents: 'platformApproves' });

/** One policy of the initiative: a rule with its values. */
interface Policy {
  /** `policyDefinitionReferenceId`, which states of compliance and remediations name. */
  readonly id: string;
  readonly rule: Rule;
  readonly kind: Kind;
  readonly definition: Definition;
  readonly parameters: JsonObject;
}

interface Reference {
  readonly policyDefinitionReferenceId: string;
  readonly policyDefinitionId: string;
  readonly parameters: Readonly<Record<string, { readonly value: JsonObject[string] }>>;
}

const known = kinds.flatMap((kind) => rules.map((rule) => ({ kind, rule, definition: readDefinition(rule, kind) })));

/** Versions of the packages of the cases: none of 0.8.0 for Windows. */
const versions = ['0.8.0', '1.0.0', '1.1.0'].map((name) => ({
  name,
  packages: Object.fromEntries(
    allTargets.filter((target) => name !== '0.8.0' || target !== 'win-x64').map((target) => [target, 'https://x']),
  ),
  configurationUri: 'https://y',
}));

/** The initiative as `policy-assignment.bicep` deploys it, with the sizes, images and tags that `fleet.bicep` has by default. */
export function initiative(of: readonly Ring[] = rings, targets: readonly Target[] = allTargets): readonly Policy[] {
  const given = {
    platformName: 'europe',
    definitions: known.map(({ definition: { name } }) => ({ name, resourceId: name })),
    rings: of,
    versions,
    applications: targets.map((target) => ({
      target,
      resourceId: `${galleryId}/applications/${applicationName(shortNames[target])}`,
    })),
    identityResourceId: identityId,
    regions: ['westeurope', 'northeurope'],
    ...Object.fromEntries(
      ['armSizeMarks', 'unsupportedImages', 'ringTag', 'optOutTag'].map((name) => [name, fleet.value(name)]),
    ),
    auditUserInitiatedEvents: true,
    enforcementMode: 'Default',
  };
  const [set] = evaluateFile(project, 'bicep/modules/policy-assignment.bicep', given).bodies('initiative');
  const references = Object(set?.properties).policyDefinitions as readonly Reference[];
  return references.map(({ policyDefinitionReferenceId: id, policyDefinitionId, parameters }) => {
    const found = known.find(({ definition: { name } }) => name === policyDefinitionId);
    if (found === undefined) throw new Error(`${id}: there is no definition ${policyDefinitionId}`);
    const values = Object.entries(parameters).map(([name, { value }]) => [name, value] as const);
    return { id, ...found, parameters: Object.fromEntries(values) };
  });
}

const usual = initiative();

/** What the end of the application's name says, which is its operating system and processor. */
const shortNameOf = ({ parameters: { applicationId } }: Policy): string =>
  String(applicationId)
    .split('/')
    .at(-1)
    ?.replace(applicationName('' as ShortName), '') ?? '';

const inWords: Readonly<Record<Rule, (policy: Policy) => string>> = {
  identity: () => 'gets the identity',
  inject: (policy) => `gets ${policy.parameters.version} for ${shortNameOf(policy)}`,
  update: (policy) => `goes to ${policy.parameters.version} for ${shortNameOf(policy)}`,
  uncovered: () => 'listed as uncovered',
  'user-events': () => 'listed: restarts wait',
};

/** What the initiative does with a subject, in words: one for each policy that does something. */
export function deeds(kind: Kind, subject: Subject, of = usual): readonly string[] {
  return changes(kind, subject, of).map(({ policy }) => inWords[policy.rule](policy));
}

interface Change {
  readonly policy: Policy;
  readonly result: Extract<Outcome, { readonly kind: 'listed' | 'change' }>;
}

export function changes(kind: Kind, subject: Subject, of = usual): readonly Change[] {
  return of
    .filter((policy) => policy.kind === kind)
    .flatMap((policy) => {
      const result = outcome(policy.definition, subject, policy.parameters);
      return result.kind === 'listed' || result.kind === 'change' ? [{ policy, result }] : [];
    });
}
