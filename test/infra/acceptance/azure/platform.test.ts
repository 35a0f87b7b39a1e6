import { expect, test } from 'vitest';
import { network } from '../../../../infra/acceptance/azure/network.ts';
import { groups, platform, platformAgain } from '../../../../infra/acceptance/azure/platform.ts';
import { createContext, platformFound, type Reply, refuse, subscriptionId } from './step-context.ts';

const login = { principalId: 'ann', principalType: 'User' };
const alertNames = ['sebk3x2ab-A1', 'sebk3x2ab-A16-1', 'sebk3x2ab-A17-1', 'sebk3x2ab-A18-1', 'sebk3x2ab-A19'];
const workspaceResourceId = `/subscriptions/${subscriptionId}/resourceGroups/rg-seb-acceptance-k3x2ab-platform/providers/Microsoft.OperationalInsights/workspaces/log-sebk3x2ab`;
const outputs = {
  settings: platformFound.settings,
  workspaceResourceId,
  identityPrincipalId: 'p',
  workbookResourceId: '/workbook',
  queryPackResourceId: '/pack',
  alertNames,
};
const rule = (name: string) => ({ name, enabled: true });

const replies: readonly Reply[] = [
  { to: 'what-if', with: { changes: [{ resourceId: '/a/providers/B/c/d', changeType: 'Create' }] } },
  {
    to: 'deployment sub create',
    with: {
      properties: { outputs: Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, { value }])) },
    },
  },
  {
    to: 'deployment sub list',
    with: [
      { name: 'seb-k3x2ab-platform', correlationId: 'of-the-run' },
      { name: 'content-ahq3v6x4tdrce', correlationId: 'of-the-run' },
      { name: 'content-of-others', correlationId: 'of-others' },
    ],
  },
  // https://learn.microsoft.com/rest/api/loganalytics/workspaces/get
  { to: 'workspace show', with: { customerId: '77777777-7777-4777-8777-777777777777' } },
  // https://learn.microsoft.com/rest/api/loganalytics/tables/get
  { to: 'workspace table show', with: { provisioningState: 'Succeeded', plan: 'Analytics' } },
  { to: 'scheduledQueryRules', with: [rule('sebk3x2ab-A1')] },
  { to: 'metrics alert list', with: ['A16-1', 'A17-1', 'A18-1'].map((name) => rule(`sebk3x2ab-${name}`)) },
  { to: 'activity-log alert list', with: [rule('sebk3x2ab-A19')] },
];

test('groups have the tag of the run', async () => {
  const { context, calls } = createContext([{ to: 'group create', with: {} }]);
  await groups.run(context);
  expect(calls).toHaveLength(2);
  for (const call of calls) expect(call).toContain('--tags scheduled-events-bridge-acceptance=k3x2ab');
});

test('platform is previewed, deployed in its smallest form, and found', async () => {
  const { context, calls, findings, outside, saved } = createContext(replies, { login });
  await platform.run(context);
  // Both are in the journal before Azure has them.
  expect(outside).toEqual([
    { kind: 'workspace', group: 'rg-seb-acceptance-k3x2ab-platform', name: 'log-sebk3x2ab' },
    { kind: 'deployment', name: 'seb-k3x2ab-platform' },
  ]);
  expect(calls[0]).toMatch(/^deployment sub what-if /);
  expect(JSON.parse(saved.get('seb-k3x2ab-platform.parameters.json') ?? '').parameters).toMatchObject({
    name: { value: 'sebk3x2ab' },
    resourceGroupName: { value: 'rg-seb-acceptance-k3x2ab-platform' },
    tags: { value: { 'scheduled-events-bridge-acceptance': 'k3x2ab' } },
    eventHubSize: { value: { capacity: 1, maximumThroughputUnits: 0 } },
    readers: { value: [login] },
  });
  expect(context.found.get('platform')).toMatchObject({
    workspaceId: '77777777-7777-4777-8777-777777777777',
    namespaceResourceId: expect.stringMatching(/namespaces\/evhns-sebk3x2ab-1-abcdef$/),
    eventHubResourceId: expect.stringMatching(/eventhubs\/vm-lifecycle$/),
    ruleResourceId: expect.stringMatching(/dataCollectionRules\/dcr-sebk3x2ab-1$/),
  });
  expect(findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
    'bicep-existing-resource proven',
    'alert-unvalidated proven',
    'deploy-nested-records proven',
    'alert-metrics-of-rules proven',
  ]);
});

test.for<[string, Reply, string]>([
  [
    'a rule that Azure did not create',
    { to: 'activity-log alert list', with: [] },
    'Alert rules are missing after the deployment: sebk3x2ab-A19.',
  ],
  [
    'a table that is not ready',
    { to: 'workspace table show', with: { provisioningState: 'InProgress' } },
    'The table VmLifecycle_CL is InProgress',
  ],
])('platform fails with %s', async ([, reply, message]) => {
  const first = reply.to === 'workspace table show' ? replies.filter(({ to }) => to !== reply.to) : replies;
  const { context } = createContext([reply, ...first], { login });
  await expect(platform.run(context)).rejects.toThrow(message);
});

test.for([
  ['records of modules have ids of their own', 'of-the-module'],
  ['they have none', null],
] as const)('platform refutes, where %s, that the clean-up finds them', async ([, correlationId]) => {
  const listed = [
    { name: 'seb-k3x2ab-platform', correlationId: correlationId && 'of-the-run' },
    { name: 'content-ahq3v6x4tdrce', correlationId },
  ];
  const { context, findings } = createContext([{ to: 'deployment sub list', with: listed }, ...replies], { login });
  await platform.run(context);
  expect(findings.find(({ assumption }) => assumption === 'deploy-nested-records')?.verdict).toBe('refuted');
});

test('platform proves nothing where the deployment fails', async () => {
  const refused = refuse('InvalidTemplateDeployment', 'The template deployment is not valid.');
  const { context, findings } = createContext(
    [{ to: 'deployment sub create', with: refused }, { to: 'deployment operation', with: [] }, ...replies],
    { login },
  );
  await expect(platform.run(context)).rejects.toThrow('The template deployment is not valid.');
  expect(findings).toEqual([]);
});

test('platform-again refutes by each change that what-if still shows, and deploys again', async () => {
  const { context, findings } = createContext(replies, { login });
  await platformAgain.run(context);
  expect(findings).toMatchObject([
    {
      assumption: 'bicep-idempotent',
      verdict: 'refuted',
      evidence: expect.stringContaining('1 change: Create B/c/d'),
    },
    { assumption: 'bicep-functions-again', verdict: 'proven' },
  ]);
});

test('network gives the VMs a way out, and finds the subnet', async () => {
  const { context, calls } = createContext([
    { to: 'subnet create', with: { id: '/subnets/vms' } },
    { to: 'network', with: {} },
  ]);
  await network.run(context);
  expect(calls.at(-1)).toContain('--nat-gateway ng-k3x2ab --default-outbound-access false');
  expect(context.found.get('network')).toEqual({ subnetResourceId: '/subnets/vms' });
});
