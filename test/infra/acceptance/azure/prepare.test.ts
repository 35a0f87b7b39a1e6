import { expect, test } from 'vitest';
import { prepareSteps } from '../../../../infra/acceptance/azure/prepare.ts';
import { missingActions } from '../../../../infra/acceptance/azure/rights.ts';
import { fleetOf, type Size, sizesFor } from '../../../../infra/acceptance/azure/sizes.ts';
import type { Step } from '../../../../infra/acceptance/step.ts';
import { createContext, type Reply, refuse, subscriptionId } from './step-context.ts';

const steps = prepareSteps({ against: 'azure', windows: true });
const stepNamed = (id: string): Step => steps.find((step) => step.id === id) as Step;

/** https://learn.microsoft.com/cli/azure/account#az-account-show */
const account = {
  environmentName: 'AzureCloud',
  id: subscriptionId,
  name: 'Contoso test',
  state: 'Enabled',
  tenantId: '44444444-4444-4444-8444-444444444444',
  user: { name: 'ann@contoso.com', type: 'user' },
};
const loginReplies: readonly Reply[] = [
  { to: /^version$/, with: { 'azure-cli': '2.80.0', extensions: {} } },
  { to: 'bicep version', with: 'Bicep CLI version 0.38.5 (2f2f2f2f2f)' },
  { to: 'account show', with: account },
  { to: 'ad signed-in-user show', with: { id: '55555555-5555-4555-8555-555555555555' } },
];

test('login finds who is logged in', async () => {
  const { context } = createContext(loginReplies);
  await stepNamed('login').run(context);
  expect(context.found.get('login')).toEqual({
    tenantId: account.tenantId,
    subscriptionName: 'Contoso test',
    principalId: '55555555-5555-4555-8555-555555555555',
    principalType: 'User',
  });
});

test('login looks a service principal up by its client id', async () => {
  const user = { name: '66666666-6666-4666-8666-666666666666', type: 'servicePrincipal' };
  const { context } = createContext([
    { to: 'account show', with: { ...account, user } },
    { to: `ad sp show --id ${user.name}`, with: { id: 'object' } },
    ...loginReplies,
  ]);
  await stepNamed('login').run(context);
  expect(context.found.get('login')).toMatchObject({ principalId: 'object', principalType: 'ServicePrincipal' });
});

test.for<[string, Reply, string]>([
  [
    'an old CLI',
    { to: /^version$/, with: { 'azure-cli': '2.67.0' } },
    'The Azure CLI is version 2.67.0, but 2.68.0 or newer is needed',
  ],
  [
    'an old Bicep',
    { to: 'bicep version', with: 'Bicep CLI version 0.33.93 (a)' },
    'Bicep is version 0.33.93, but 0.34.1 or newer',
  ],
  ['a disabled subscription', { to: 'account show', with: { ...account, state: 'Warned' } }, 'Contoso test is Warned'],
  ['another subscription', { to: 'account show', with: { ...account, id: 'other' } }, `instead of ${subscriptionId}`],
])('login fails with %s', async ([, reply, message]) => {
  const { context } = createContext([reply, ...loginReplies]);
  await expect(stepNamed('login').run(context)).rejects.toThrow(message);
});

test('providers registers only those that are missing', async () => {
  const all = [
    'AlertsManagement',
    'EventHub',
    'Insights',
    'ManagedIdentity',
    'Network',
    'OperationalInsights',
    'Storage',
  ];
  const known = [
    ...all.map((name) => ({ name: `microsoft.${name.toLowerCase()}`, state: 'Registered' })),
    { name: 'Microsoft.Compute', state: 'NotRegistered' },
  ];
  const { context, calls, said } = createContext([
    { to: 'provider list', with: known },
    { to: 'provider register', with: null },
  ]);
  await stepNamed('providers').run(context);
  expect(calls.slice(1)).toEqual([
    `provider register --subscription ${subscriptionId} --namespace Microsoft.Compute --wait`,
  ]);
  expect(said.at(-1)).toBe('registered: Microsoft.Compute');
});

/** https://learn.microsoft.com/rest/api/compute/usage/list */
const usage = (value: string, currentValue: number, limit: number) => ({
  name: { value },
  currentValue: String(currentValue),
  limit,
});
const size = (name: string, family: string, ...restrictions: Size['restrictions']): Size => ({
  name,
  family,
  restrictions,
});
const bs = 'StandardBsv2Family';
const da = 'standardDASv5Family';

test('sizes are those that the region offers and for which cores are left, in the order of their price', () => {
  const offered = [size('Standard_D2as_v5', da), size('Standard_B2s_v2', bs)];
  const usages = [usage('cores', 0, 100), usage('lowPriorityCores', 0, 2), usage(bs, 0, 6), usage(da, 0, 100)];
  expect(sizesFor(fleetOf(true), offered, usages)).toEqual({
    single: ['Standard_B2s_v2', 'Standard_D2as_v5'],
    uniform: ['Standard_B2s_v2', 'Standard_D2as_v5'],
    // No B: there is no Spot for them.
    spot: ['Standard_D2as_v5'],
    // The six cores of the first family are used up.
    flexible: ['Standard_D2as_v5'],
    windows: ['Standard_D2as_v5'],
  });
});

test('a size that the subscription cannot use in the region is left out, one without a zone is not', () => {
  const restricted = [
    size('Standard_B2s_v2', bs, { type: 'Location', reason: 'NotAvailableForSubscription' }),
    size('Standard_D2as_v5', da, { type: 'Zone', reason: 'NotAvailableForSubscription' }),
  ];
  const usages = [usage('cores', 0, 100), usage(bs, 0, 10), usage(da, 0, 10)];
  expect(sizesFor([{ role: 'single', count: 1 }], restricted, usages)).toEqual({ single: ['Standard_D2as_v5'] });
});

test('the quota of the region limits all families together', () => {
  const offered = [size('Standard_B2s_v2', bs), size('Standard_D2as_v5', da)];
  const usages = [usage('cores', 7, 10), usage(bs, 0, 10), usage(da, 0, 10)];
  const fleet = [
    { role: 'single', count: 1 },
    { role: 'uniform', count: 1 },
  ] as const;
  expect(sizesFor(fleet, offered, usages)).toEqual({ single: ['Standard_B2s_v2', 'Standard_D2as_v5'], uniform: [] });
});

test('quota fails where not even one VM fits, and says what is used', async () => {
  const { context } = createContext([
    { to: 'vm list-usage', with: [usage('cores', 10, 10), usage(bs, 0, 10)] },
    { to: 'vm list-skus', with: [size('Standard_B2s_v2', bs)] },
  ]);
  await expect(stepNamed('quota').run(context)).rejects.toThrow(
    'No size is available in westeurope for a first VM (cores of the region: 10 of 10 used; Spot: unknown): request quota for 14 cores',
  );
});

/** https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/privileged#contributor and #role-based-access-control-administrator */
const contributor = {
  actions: ['*'],
  notActions: [
    'Microsoft.Authorization/*/Delete',
    'Microsoft.Authorization/*/Write',
    'Microsoft.Authorization/elevateAccess/Action',
    'Microsoft.Blueprint/blueprintAssignments/write',
    'Microsoft.Blueprint/blueprintAssignments/delete',
    'Microsoft.Compute/galleries/share/action',
    'Microsoft.Purview/consents/write',
    'Microsoft.Purview/consents/delete',
  ],
};
const accessAdministrator = {
  actions: [
    'Microsoft.Authorization/roleAssignments/write',
    'Microsoft.Authorization/roleAssignments/delete',
    '*/read',
    'Microsoft.Support/*',
  ],
  notActions: [],
};

test.for([
  { name: 'Owner', permissions: [{ actions: ['*'], notActions: [] }], missing: [] },
  { name: 'Contributor and access administrator', permissions: [contributor, accessAdministrator], missing: [] },
  {
    name: 'Contributor',
    permissions: [contributor],
    missing: ['Microsoft.Authorization/roleAssignments/write', 'Microsoft.Authorization/roleAssignments/delete'],
  },
])('rights: $name', ({ permissions, missing }) => {
  expect(missingActions(permissions).map(({ action }) => action)).toEqual(missing);
});

test('rights names an action and the roles that are missing, and keeps the list of all actions', async () => {
  const { context, saved } = createContext([
    { to: 'Microsoft.Authorization/permissions', with: { value: [contributor] } },
  ]);
  await expect(stepNamed('rights').run(context)).rejects.toThrow(
    'The account may not do Microsoft.Authorization/roleAssignments/write and 1 more action (missing-rights.txt) in the subscription: assign it Role Based Access Control Administrator there, and run this again.',
  );
  expect(saved.get('missing-rights.txt')).toBe(
    'Microsoft.Authorization/roleAssignments/write\nMicrosoft.Authorization/roleAssignments/delete\n',
  );
});

test('rights leaves the decision to later steps where Azure does not answer', async () => {
  const { context, said } = createContext([
    { to: 'Microsoft.Authorization/permissions', with: refuse('NotFound', 'No such scope.') },
  ]);
  await stepNamed('rights').run(context);
  expect(said).toEqual([expect.stringContaining('does not say what the account may do')]);
});

const noResults = { version: '2.1.0', runs: [{ tool: {}, results: [] }] };

test('compile proves that no template has a warning', async () => {
  const { context, findings, calls } = createContext([
    { to: 'bicep lint', with: noResults },
    { to: 'bicep build', with: { $schema: 'x' } },
  ]);
  await stepNamed('compile').run(context);
  expect(findings).toMatchObject([{ assumption: 'bicep-compiles', verdict: 'proven' }]);
  expect(calls.some((line) => line.includes('infra/fleet.bicep'))).toBe(true);
  expect(calls.some((line) => line.includes('infra/params/vm-windows.bicepparam'))).toBe(true);
});

test('a warning refutes that templates compile without one', async () => {
  const warning = { ruleId: 'BCP081', message: { text: 'Resource type "a" does not have types available.' } };
  const { context, findings } = createContext([
    { to: /lint .*infra\/vm\.bicep/, with: { runs: [{ results: [warning] }] } },
    { to: 'bicep lint', with: noResults },
    { to: 'bicep build', with: {} },
  ]);
  await stepNamed('compile').run(context);
  expect(findings).toMatchObject([
    { verdict: 'refuted', evidence: expect.stringContaining('0 errors and 1 warnings, first infra/vm.bicep: BCP081') },
  ]);
});

test('compile proves nothing where the linter prints no report, and fails where a template is refused', async () => {
  const silent = createContext([{ to: 'bicep', with: undefined }]);
  await stepNamed('compile').run(silent.context);
  expect(silent.findings).toEqual([]);
  const refusing = createContext([
    { to: /build --file .*infra\/main\.bicep/, with: refuse('BCP057', 'The name "x" does not exist.') },
    { to: 'bicep lint', with: noResults },
    { to: 'bicep', with: {} },
  ]);
  await expect(stepNamed('compile').run(refusing.context)).rejects.toThrow(
    /Bicep refuses 1 files, the first one infra\/main\.bicep: .*BCP057/,
  );
});

const vm = 'Microsoft.Compute/virtualMachines';
const set = 'Microsoft.Compute/virtualMachineScaleSets';

test('aliases: those of the policies are looked up whatever their case, and a missing one refutes', async () => {
  const replies: unknown[][] = [];
  const asked = createContext([{ to: 'provider show', with: () => replies.shift() }]);
  // Without a list every alias is missing: the failure names them all.
  replies.push([]);
  const failure = await stepNamed('aliases')
    .run(asked.context)
    .catch((error: Error) => error.message);
  expect(failure).toContain(`${vm}/scheduledEventsPolicy.userInitiatedReboot.automaticallyApprove`);
  expect(failure).toContain(
    `${set}/virtualMachineProfile.applicationProfile.galleryApplications[*].packageReferenceId`,
  );
  expect(failure).not.toContain('VMapplications');
  const named = String(failure)
    .replace(/^.*have: |\.$/g, '')
    .split(', ');
  replies.push(named.map((alias) => alias.toUpperCase()));
  await stepNamed('aliases').run(asked.context);
  expect(asked.findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
    'policy-aliases-scheduled-events refuted',
    'policy-windows-aliases refuted',
    'policy-aliases-scheduled-events proven',
    'policy-windows-aliases proven',
  ]);
});
