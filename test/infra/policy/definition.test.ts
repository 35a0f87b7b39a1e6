import { describe, expect, test } from 'vitest';
import { readTree } from '../../support/source-tree.ts';
import { kinds, readDefinition, rules } from '../../tools/policy/definition.ts';
import { isObject, type Json } from '../../tools/policy/expression.ts';
import { initiative } from '../../tools/policy/fleet-policy.ts';

const files = readTree('infra/policy/*.json', 'infra/fleet.bicep', 'bicep/modules/policy-*.bicep');
const text = (path: string): string => files.get(path) ?? '';
const assignment = text('bicep/modules/policy-assignment.bicep');
const definitions = kinds.flatMap((kind) =>
  rules.map((rule) => ({ rule, kind, definition: readDefinition(rule, kind) })),
);

/** Text of the block that begins with `start`, without comments: up to the next line that begins at the left margin. */
function block(source: string, start: string): string {
  const from = source.indexOf(start);
  if (from < 0) throw new Error(`there is no ${start}`);
  const rest = source.slice(from + start.length);
  return rest.slice(0, rest.search(/\n[a-z@]/));
}
const keysOf = (source: string): string[] =>
  [...source.matchAll(/^ +(\w+): \{ value:/gm)].map(([, key]) => String(key));
const items = (source: string): string[] => [...source.matchAll(/'([^']*)'/g)].map(([, item]) => String(item));

/** Names of parameters that the expressions of a rule ask for; those of a template are its own. */
function asked(value: Json): string[] {
  if (typeof value === 'string') return [...value.matchAll(/parameters\('(\w+)'\)/g)].map(([, name]) => String(name));
  if (Array.isArray(value)) return value.flatMap(asked);
  return isObject(value) ? Object.entries(value).flatMap(([key, one]) => (key === 'template' ? [] : asked(one))) : [];
}

describe.each(definitions)('the policy $rule of a $kind', ({ rule, kind, definition }) => {
  test(`has a name and texts of a length that Azure accepts (${rule} ${kind})`, () => {
    expect(definition.name).toBe(`scheduled-events-bridge-${rule}-${kind}`);
    expect(definition.name.length).toBeLessThanOrEqual(64);
    expect(definition.displayName.length).toBeLessThanOrEqual(128);
    expect(definition.description.length).toBeLessThanOrEqual(512);
  });

  test(`uses every parameter that it has, and has every one that it uses (${rule} ${kind})`, () => {
    const used = new Set(asked([...definition.conditions, definition.details]));
    expect([...used].sort()).toEqual(Object.keys(definition.parameters).sort());
  });

  test(`gets exactly these parameters from the initiative (${rule} ${kind})`, () => {
    const variable = rule === 'user-events' ? 'userEvents' : rule;
    const own = keysOf(block(assignment, `var ${variable}References`));
    expect([...keysOf(block(assignment, 'var shared')), ...own].sort()).toEqual(
      Object.keys(definition.parameters).sort(),
    );
    expect(block(assignment, `var ${variable}References`)).toContain(`'scheduled-events-bridge-${rule}-\${kind}'`);
  });

  test(`is loaded by the fleet (${rule} ${kind})`, () => {
    expect(text('infra/fleet.bicep')).toContain(`loadJsonContent('policy/${rule}-${kind}.json')`);
  });

  test(`names only roles that its assignment is granted (${rule} ${kind})`, () => {
    const granted = [...text('bicep/modules/policy-roles.bicep').matchAll(/name: '([0-9a-f-]{36})'/g)].map(
      ([, id]) => id,
    );
    const { roleDefinitionIds = [] } = definition.details;
    const wanted = Array.isArray(roleDefinitionIds)
      ? roleDefinitionIds.map((id) => String(id).split('/').at(-1))
      : null;
    expect(granted).toEqual(expect.arrayContaining(wanted ?? ['a list']));
    expect(definition.effect === 'audit').toBe(wanted?.length === 0);
  });
});

test('the fleet has exactly the policy files that there are', () => {
  const loaded = [...text('infra/fleet.bicep').matchAll(/loadJsonContent\('(.*?)'\)/g)].map(
    ([, path]) => `infra/${path}`,
  );
  expect(loaded.sort()).toEqual([...files.keys()].filter((path) => path.endsWith('.json')));
});

// The compiler of Bicep escapes the first bracket; escaped twice, Azure would take an expression for plain text.
test.each([...files.keys()].filter((path) => path.endsWith('.json')))(
  '%s has expressions in single brackets',
  (path) => {
    expect(text(path)).toMatch(/"\[\w+\(/);
    expect(text(path)).not.toContain('"[[');
  },
);

test.each(kinds)(
  'an application injected into a %s has no order, never fails the request and stays at its version',
  (kind) => {
    const { details } = readDefinition('inject', kind);
    expect(details).toMatchObject({
      conflictEffect: 'audit',
      operations: [
        {
          operation: 'add',
          value: {
            packageReferenceId: "[concat(parameters('applicationId'), '/versions/', parameters('version'))]",
            treatFailureAsDeploymentFailure: false,
            enableAutomaticUpgrade: false,
          },
        },
      ],
    });
    expect(JSON.stringify(details)).not.toContain('"order"');
  },
);

test('the sizes and images that the fleet excludes by default reach every policy, each part of an image with one * at most', () => {
  const fleet = text('infra/fleet.bicep');
  const armSizeMarks = items(block(fleet, 'param armSizeMarks string[] ='));
  const unsupportedImages = items(block(fleet, 'param unsupportedImages string[] ='));
  for (const { parameters } of initiative()) expect(parameters).toMatchObject({ armSizeMarks, unsupportedImages });
  expect(unsupportedImages.filter((image) => !/^[^:*]*\*?[^:*]*:[^:*]*\*?[^:*]*:[^:*]*\*?[^:*]*$/.test(image))).toEqual(
    [],
  );
});

test('the policies for Linux keep the ids of the first release, which its remediations and states of compliance name', () => {
  const ids = initiative(undefined, ['linux-x64', 'linux-arm64']).map(({ id }) => id);
  const ofRings = ['canary', 'everyone'].flatMap((ring) =>
    kinds.flatMap((kind) => [
      `${ring}-identity-${kind}`,
      ...['inject', 'update'].flatMap((what) =>
        ['x64', 'arm64'].map((processor) => `${ring}-${what}-${kind}-${processor}`),
      ),
    ]),
  );
  const lists = ['uncovered', 'user-events'].flatMap((list) =>
    kinds.flatMap((kind) => ['x64', 'arm64'].map((processor) => `${list}-${kind}-${processor}`)),
  );
  expect(ids.toSorted()).toEqual([...ofRings, ...lists].sort());
  expect(initiative().map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
});

test('a fleet starts with reports only, and remediates nothing by default', () => {
  const fleet = text('infra/fleet.bicep');
  expect(fleet).toContain("param enforcementMode 'Default' | 'DoNotEnforce' = 'DoNotEnforce'");
  expect(fleet).toContain('param remediate string[] = []');
  expect(fleet).toMatch(/^param userInitiatedEvents userInitiatedEventsType$/m);
});
