import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { readTree } from '../support/source-tree.ts';

/** Azure's built-in roles that the templates may give: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles */
const roleNames: Readonly<Record<string, string>> = {
  '2b629674-e913-4c01-ae53-ef4638d8f975': 'Azure Event Hubs Data Sender',
  'a638d3c7-ab3a-418d-83e6-5f17a39d4fde': 'Azure Event Hubs Data Receiver',
  '3913510d-42f4-4e42-8a64-420c390055eb': 'Monitoring Metrics Publisher',
  '9980e02c-c2be-4d73-94e8-173b1dc7cf3c': 'Virtual Machine Contributor',
  'f1a07417-d97a-45cb-824c-7a7467783830': 'Managed Identity Operator',
  '3b03c2da-16b3-4a49-8834-0f8130efdd3b': 'Log Analytics Data Reader',
  'acdd72a7-3385-48ef-bd42-f606fba81ae7': 'Reader',
  '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1': 'Storage Blob Data Reader',
  'ba92f5b4-2d11-453d-a403-e96b0029c9fe': 'Storage Blob Data Contributor',
};

const guid = /(?<![0-9a-f-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f-])/gi;
const rolesIn = (text: string): string[] =>
  [...new Set(text.match(guid) ?? [])].map((id) => roleNames[id.toLowerCase()] ?? `a role without a name here: ${id}`);

/** `role · file`, for every role that the templates give. Parameter files hold other ids. */
const given = [...readTree('bicep/**/*.bicep', 'infra/*.bicep')].flatMap(([path, text]) =>
  rolesIn(text).map((role) => `${role} · ${basename(path)}`),
);

const readme = readTree('infra/security.md').get('infra/security.md') ?? '';
/** The same from the table: role in the second column, file in the last one. */
const documented = [...readme.matchAll(/^\|[^|]+\| \*([^*|]+)\* \|[^\n]*\| `([\w.-]+\.bicep)` \|$/gm)].map(
  ([, role, file]) => `${role} · ${file}`,
);

test('the roles that infra/security.md lists are given are those that the templates give', () => {
  expect(given.length).toBeGreaterThan(4);
  expect([...new Set(documented)].sort()).toEqual([...new Set(given)].sort());
});

test('the identity of a policy has the roles that the policy requires', () => {
  const asked = [...readTree('infra/policy/*.json').values()].flatMap(rolesIn);
  expect(asked.length).toBeGreaterThan(0);
  for (const role of asked) expect(documented).toContain(`${role} · policy-roles.bicep`);
});

test('an unknown role id would be seen', () => {
  expect(rolesIn(`name: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635'`)).toEqual([
    'a role without a name here: 8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
  ]);
});

/** Roles whose actions begin with `*`: below their scope they open every table of a workspace. */
const readsEverything = ['Owner', 'Contributor', 'Reader', 'Monitoring Reader', 'Monitoring Contributor'].concat([
  'Log Analytics Reader',
  'Log Analytics Contributor',
]);

test('a read-only role never opens every table of the workspace', () => {
  const rows = [...readme.matchAll(/^\| (who opens [^|]+|`tableReaders`) \| ([^|]+) \| ([^|]+) \|/gm)];
  expect(rows.length).toBeGreaterThan(1);
  for (const [, who = '', roles = '', scopes = ''] of rows) {
    const wide = roles.split('; ').filter((role, n) => {
      const scope = scopes.split('; ')[n] ?? scopes;
      return readsEverything.some((name) => role.includes(`*${name}*`)) && /workspace|group|subscription/.test(scope);
    });
    expect(wide, who).toEqual([]);
  }
});
