import { expect, test } from 'vitest';
import { evaluateFile } from '../../tools/bicep/evaluate.ts';
import { textOf } from '../../tools/bicep/files.ts';
import { createProject } from '../../tools/bicep/project.ts';
import { kinds } from '../../tools/policy/definition.ts';
import { changes, deeds, initiative } from '../../tools/policy/fleet-policy.ts';
import { application, scaleSet, virtualMachine } from '../../tools/policy/subjects.ts';

const project = createProject(textOf, null);
const rings = ['canary', 'everyone'].map((name) => ({ name, version: '1.0.0', untagged: name === 'everyone' }));
const targets = ['linux-x64', 'linux-arm64', 'win-x64'];
const shortNames = ['x64', 'arm64', 'win-x64'];
const versions = [{ name: '1.0.0', packages: Object.fromEntries(targets.map((target) => [target, 'https://x'])) }];
const platforms = [{ name: 'europe', rings, versions, regions: [], targets, settings: {} }];

const gallery = { subscriptionId: 's', resourceGroupName: 'rg', name: 'gal', region: 'westeurope' };

interface Reference {
  readonly policyDefinitionReferenceId: string;
}

/** Ids of the policies that a deployment of the fleet remediates. */
function remediated(remediate: readonly string[], remediationStep: string): string[] {
  const given = { platforms, gallery, userInitiatedEvents: 'acceptDelay', remediate, remediationStep };
  const [module] = evaluateFile(project, 'infra/fleet.bicep', given).bodies('remediation');
  const params = module?.params as { readonly references: readonly { readonly id: string }[] } | undefined;
  return (params?.references ?? []).map(({ id }) => id);
}

test('no ring, no task', () => {
  expect(remediated([], 'identities')).toEqual([]);
});

test('a step has tasks for its own policies of the rings named, and only for these', () => {
  expect(remediated(['canary'], 'identities')).toEqual(
    ['', '-windows'].flatMap((system) => kinds.map((kind) => `canary-identity-${kind}${system}`)),
  );
  const applications = remediated(['canary'], 'applications');
  expect(applications.toSorted()).toEqual(
    kinds
      .flatMap((kind) =>
        shortNames.flatMap((target) => ['inject', 'update'].map((what) => `canary-${what}-${kind}-${target}`)),
      )
      .sort(),
  );
});

test('every policy that is remediated is in the initiative', () => {
  const given = {
    platformName: 'europe',
    definitions: [],
    rings,
    versions,
    applications: targets.map((target) => ({ target, resourceId: `/${target}` })),
    identityResourceId: '/id',
    regions: [],
    armSizeMarks: [],
    unsupportedImages: [],
    ringTag: 'ring',
    optOutTag: 'opt-out',
    auditUserInitiatedEvents: false,
    enforcementMode: 'Default',
  };
  const [initiative] = evaluateFile(project, 'bicep/modules/policy-assignment.bicep', given).bodies('initiative');
  const known = (Object(initiative?.properties).policyDefinitions as readonly Reference[]).map(
    (reference) => reference.policyDefinitionReferenceId,
  );
  const all = rings.flatMap(({ name }) => ['identities', 'applications'].flatMap((step) => remediated([name], step)));
  expect(all.filter((id) => !known.includes(id))).toEqual([]);
  expect(known.filter((id) => !all.includes(id))).toEqual(known.filter((id) => id.startsWith('uncovered-')));
});

test('a ring at a version without a package for Windows has no task and no policy for it, and its VMs are listed', () => {
  const older = { name: '0.9.0', packages: { 'linux-x64': 'https://x' } };
  const mixed = [
    { ...platforms[0], versions: [older, ...versions], rings: [{ name: 'canary', version: '0.9.0', untagged: false }] },
  ];
  const given = { platforms: mixed, gallery, userInitiatedEvents: 'acceptDelay', remediate: ['canary'] };
  const tasks = ['identities', 'applications'].flatMap((remediationStep) => {
    const [module] = evaluateFile(project, 'infra/fleet.bicep', { ...given, remediationStep }).bodies('remediation');
    return (Object(module?.params).references as readonly { readonly id: string }[]).map(({ id }) => id);
  });
  expect(tasks.toSorted()).toEqual(
    kinds
      .flatMap((kind) => [
        `canary-identity-${kind}`,
        ...['inject', 'update'].map((what) => `canary-${what}-${kind}-x64`),
      ])
      .sort(),
  );
  const older080 = initiative([{ name: 'canary', version: '0.8.0', untagged: true }]);
  expect(older080.filter(({ id }) => id.startsWith('canary-') && /win/.test(id))).toEqual([]);
  expect(deeds('virtual-machine', virtualMachine({ osType: 'Windows' }), older080)).toEqual(['listed as uncovered']);
  expect(deeds('virtual-machine', virtualMachine(), older080)).toEqual(['gets the identity', 'gets 0.8.0 for x64']);
});

const starts = [
  { name: 'nothing', described: {} },
  { name: 'nothing, with Windows', described: { osType: 'Windows' } },
  { name: 'an old version', described: { applications: [application('scheduled-events-bridge-europe-x64', '0.9.0')] } },
  { name: 'applications of others', described: { applications: [application('other', '1.0.0')] } },
];
test.each(starts)('no two tasks of one step change the same resource, from $name', ({ described }) => {
  const steps = { identity: 'identities', inject: 'applications', update: 'applications' };
  for (const [kind, build] of [
    ['virtual-machine', virtualMachine],
    ['scale-set', scaleSet],
  ] as const) {
    const made = changes(kind, build(described)).filter(({ result }) => result.kind === 'change');
    const perStep = made.map(({ policy: { rule } }) => Reflect.get(steps, rule));
    expect(perStep).toEqual([...new Set(perStep)]);
    expect(perStep).toEqual(['identities', 'applications']);
  }
});
