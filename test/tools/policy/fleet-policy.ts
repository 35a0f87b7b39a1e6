import type { Subject } from './condition.ts';
import { type Definition, type Kind, type Outcome, outcome, type Rule, readDefinition, rules } from './definition.ts';
import type { JsonObject } from './expression.ts';
import { galleryId, identityId } from './subjects.ts';

interface Ring {
  readonly name: string;
  readonly version: string;
  readonly untagged: boolean;
}

/** The fleet of the cases: two rings, packages for both processors, two regions. */
const rings: readonly Ring[] = [
  { name: 'canary', version: '1.1.0', untagged: false },
  { name: 'everyone', version: '1.0.0', untagged: true },
];
const architectures = ['x64', 'arm64'] as const;
export const applicationName = (architecture: string): string => `scheduled-events-bridge-europe-${architecture}`;

/** As `infra/fleet.bicep` has them by default. A test compares the two. */
export const armSizeMarks = ['0p', '1p', '2p', '3p', '4p', '5p', '6p', '7p', '8p', '9p', '_GB200', '_GB300'];
export const unsupportedImages = [
  'Canonical:UbuntuServer:*',
  'RedHat:RHEL*:7*',
  'RedHat:RHEL*:6*',
  'RedHat:rhel-byos:rhel-lvm7*',
  'RedHat:rhel-byos:rhel-raw7*',
  'OpenLogic:CentOS*:7*',
  'OpenLogic:CentOS*:6*',
  'Oracle:Oracle-Linux:7*',
  'Oracle:Oracle-Linux:ol7*',
  'SUSE:SLES*:12*',
  'SUSE:sles-12*:*',
  'SUSE:sles-sap-12*:*',
  'credativ:Debian:*',
];

const shared = {
  osType: 'Linux',
  regions: ['westeurope', 'northeurope'],
  armSizeMarks,
  unsupportedImages,
  optOutTag: 'scheduled-events-bridge-opt-out',
  ringTag: 'scheduled-events-bridge-ring',
  identityResourceId: identityId,
};

/** One policy of the initiative: a rule with its values. */
interface Policy {
  readonly rule: Rule;
  readonly definition: Definition;
  readonly parameters: JsonObject;
}

/** The initiative of the cases, in the order of `policy-assignment.bicep`. */
function initiative(kind: Kind, of: readonly Ring[]): readonly Policy[] {
  const known = new Map(rules.map((rule) => [rule, readDefinition(rule, kind)]));
  const policy = (rule: Rule, parameters: JsonObject): Policy[] => {
    const definition = known.get(rule);
    return definition ? [{ rule, definition, parameters: { ...shared, ...parameters } }] : [];
  };
  const all = { architectures, rings: of.map(({ name }) => name), untagged: of.some(({ untagged }) => untagged) };
  const each = architectures.map((architecture) => ({
    architectures: [architecture],
    applicationId: `${galleryId}/applications/${applicationName(architecture)}`,
  }));
  return [
    ...of.flatMap(({ name, version, untagged }) => [
      ...policy('identity', { architectures, rings: [name], untagged }),
      ...each.flatMap((one) => policy('inject', { ...one, rings: [name], untagged, version })),
      ...each.flatMap((one) => policy('update', { ...one, rings: [name], untagged, version })),
    ]),
    ...each.flatMap((one) => policy('uncovered', { ...all, ...one })),
    ...each.flatMap((one) => policy('user-events', one)),
  ];
}

const inWords: Readonly<Record<Rule, (application: string) => string>> = {
  identity: () => 'gets the identity',
  inject: (application) => `gets ${application}`,
  update: (application) => `goes to ${application}`,
  uncovered: () => 'listed as uncovered',
  'user-events': () => 'listed: restarts wait',
};

/** What the initiative does with a subject, in words: one for each policy that does something. */
export function deeds(kind: Kind, subject: Subject, of = rings): readonly string[] {
  return changes(kind, subject, of).map(({ policy: { rule, parameters } }) =>
    inWords[rule](`${parameters.version} for ${String(parameters.architectures)}`),
  );
}

interface Change {
  readonly policy: Policy;
  readonly result: Extract<Outcome, { readonly kind: 'listed' | 'change' }>;
}

export function changes(kind: Kind, subject: Subject, of = rings): readonly Change[] {
  return initiative(kind, of).flatMap((policy) => {
    const result = outcome(policy.definition, subject, policy.parameters);
    return result.kind === 'listed' || result.kind === 'change' ? [{ policy, result }] : [];
  });
}
