import { existsSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  DeploymentError,
  deployTemplate,
  previewAgain,
  whatIfOf,
} from '../../../../infra/acceptance/azure/deployment.ts';
import { createContext, inTurn, refuse, subscriptionId } from './step-context.ts';

const group = 'rg-seb-acceptance-k3x2ab-machines';
const template = {
  name: 'seb-k3x2ab-vm',
  scope: { group },
  template: 'infra/vm.bicep',
  parameters: { name: 'vm-k3x2ab' },
} as const;

/** https://learn.microsoft.com/rest/api/resources/deployments/create-or-update#deploymentextended */
const deployed = { properties: { outputs: { resourceId: { type: 'String', value: '/subscriptions/a/vm' } } } };
const failed = refuse('DeploymentFailed', 'At least one resource deployment operation failed.');

test('returns the values of the outputs, and keeps the parameters', async () => {
  const { context, saved } = createContext([{ to: 'deployment group create', with: deployed }]);
  expect(await deployTemplate(context, template)).toEqual({ resourceId: '/subscriptions/a/vm' });
  expect(JSON.parse(saved.get('seb-k3x2ab-vm.parameters.json') ?? '')).toMatchObject({
    contentVersion: '1.0.0.0',
    parameters: { name: { value: 'vm-k3x2ab' } },
  });
});

test('passes secrets by a file that only the owner can read, and removes it, also after a failure', async () => {
  let file = '';
  const { context, calls } = createContext([
    {
      to: 'deployment group create',
      with: (args: readonly string[]) => {
        file = args.at(-1)?.slice(1) ?? '';
        expect(statSync(file).mode & 0o777).toBe(0o600);
        expect(readFileSync(file, 'utf8')).toContain('open sesame');
        return failed(args);
      },
    },
    { to: 'deployment operation', with: [] },
  ]);
  const secret = { ...template, secrets: { adminPassword: 'open sesame' } };
  await expect(deployTemplate(context, secret)).rejects.toThrow('At least one resource');
  expect(file).toMatch(/seb-k3x2ab-vm\.secrets\.json$/);
  expect(existsSync(file)).toBe(false);
  expect(calls.join('\n')).not.toContain('open sesame');
});

test('records a deployment to the subscription before it is created', async () => {
  const { context, outside, calls } = createContext([
    {
      to: 'deployment sub create',
      with: () => {
        expect(outside).toEqual([{ kind: 'deployment', name: 'seb-k3x2ab-vm' }]);
        return deployed;
      },
    },
  ]);
  await deployTemplate(context, { ...template, scope: { location: 'westeurope' } });
  expect(calls).toHaveLength(1);
});

/** https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-sku-not-available */
const sku = {
  target: {
    id: `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/Microsoft.Compute/virtualMachines/vm-k3x2ab`,
    resourceType: 'Microsoft.Compute/virtualMachines',
    resourceName: 'vm-k3x2ab',
  },
  status: {
    error: {
      code: 'SkuNotAvailable',
      message: "The requested size for resource 'vm' is currently not available in location 'westeurope'.",
    },
  },
};

test('reports what failed in the deployment of a module, by its innermost error', async () => {
  const nested = {
    target: {
      id: `/subscriptions/${subscriptionId}/resourceGroups/rg-other/providers/Microsoft.Resources/deployments/extension-abc`,
      resourceType: 'Microsoft.Resources/deployments',
      resourceName: 'extension-abc',
    },
    status: { error: { code: 'DeploymentFailed', message: 'At least one resource deployment operation failed.' } },
  };
  const wrappedError = {
    target: { ...sku.target, resourceType: 'Microsoft.EventHub/namespaces', resourceName: 'evhns' },
    status: {
      error: {
        code: 'ResourceDeploymentFailure',
        message: 'The resource write operation failed to complete successfully.',
        details: [{ code: 'QuotaExceeded', message: 'The quota\n  of 1 is exceeded.' }],
      },
    },
  };
  const { context } = createContext([
    { to: 'deployment group create', with: failed },
    { to: '--name extension-abc --resource-group rg-other', with: [sku] },
    { to: `--name seb-k3x2ab-vm --resource-group ${group}`, with: [nested, wrappedError] },
  ]);
  const error = await deployTemplate(context, template).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(DeploymentError);
  expect((error as DeploymentError).message).toBe(
    "The deployment seb-k3x2ab-vm failed: Microsoft.Compute/virtualMachines/vm-k3x2ab: SkuNotAvailable: The requested size for resource 'vm' is currently not available in location 'westeurope'.; Microsoft.EventHub/namespaces/evhns: QuotaExceeded: The quota of 1 is exceeded.",
  );
});

test('reports the error of the call where the template was refused as a whole', async () => {
  const { context } = createContext([
    { to: 'deployment group create', with: refuse('InvalidTemplate', 'Deployment template validation failed.') },
    { to: 'deployment operation', with: refuse('DeploymentNotFound', 'Deployment could not be found.') },
  ]);
  await expect(deployTemplate(context, template)).rejects.toThrow(
    '(InvalidTemplate) Deployment template validation failed.',
  );
});

/** https://learn.microsoft.com/rest/api/resources/deployments/what-if#whatifoperationresult */
const vmId = `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/Microsoft.Compute/virtualMachines/vm-k3x2ab`;
const change = (changeType: string, more: object = {}) => ({ resourceId: vmId, changeType, ...more });

test('what-if names each resource that would change, with the paths of its properties', async () => {
  const modified = change('Modify', {
    delta: [
      { path: 'tags.owner', propertyChangeType: 'Delete', before: 'a' },
      {
        path: 'properties.securityProfile',
        propertyChangeType: 'Modify',
        children: [{ path: 'uefiSettings', propertyChangeType: 'Create', after: {} }],
      },
    ],
  });
  const unsupported = change('Unsupported', { unsupportedReason: 'The name cannot be calculated.' });
  const { context } = createContext([
    {
      to: 'what-if',
      with: { status: 'Succeeded', changes: [change('NoChange'), change('Ignore'), modified, unsupported] },
    },
  ]);
  expect(await whatIfOf(context, template, 'before')).toEqual({
    changes: [
      'Modify Microsoft.Compute/virtualMachines/vm-k3x2ab (tags.owner, properties.securityProfile.uefiSettings)',
    ],
    noise: [],
    unchanged: 1,
    unknown: ['Microsoft.Compute/virtualMachines/vm-k3x2ab: The name cannot be calculated.'],
    file: 'seb-k3x2ab-vm.what-if-before.json',
  });
});

/** As in `az-stand-in/stand-in.test.ts`, where the Azure CLI prints it. */
const shortCircuited = {
  level: 'Warning',
  code: 'NestedDeploymentShortCircuited',
  message: 'A nested deployment got short-circuited and all its resources got skipped from validation.',
  target: `/subscriptions/${subscriptionId}/providers/Microsoft.Resources/deployments/content`,
};

test('a second what-if names what it could not evaluate', async () => {
  const answer = {
    changes: [change('NoChange')],
    potentialChanges: [change('Create'), change('Unsupported', { unsupportedReason: 'Its name is not known.' })],
    diagnostics: [shortCircuited],
  };
  const { context, findings, said } = createContext([{ to: 'what-if', with: answer }]);
  await previewAgain(context, template);
  expect(findings.map(({ evidence }) => evidence)).toEqual([
    'After the deployment of infra/vm.bicep, what-if finds 1 resource unchanged, 0 that differ only in properties that Azure has set or that it cannot compute, and 3 that it cannot evaluate.',
  ]);
  expect(said).toEqual([
    'what-if after seb-k3x2ab-vm cannot show Microsoft.Compute/virtualMachines/vm-k3x2ab: Its name is not known.',
    'what-if after seb-k3x2ab-vm cannot show Create Microsoft.Compute/virtualMachines/vm-k3x2ab, which may be deployed or not',
    `what-if after seb-k3x2ab-vm cannot show Microsoft.Resources/deployments/content: NestedDeploymentShortCircuited: ${shortCircuited.message}`,
  ]);
});

test('a second what-if proves that nothing changes, or refutes it with each difference', async () => {
  const { context, findings } = createContext([
    {
      to: 'what-if',
      with: inTurn({ changes: [change('NoChange')] }, { changes: [change('Create'), change('Delete')] }),
    },
  ]);
  await previewAgain(context, template);
  await previewAgain(context, template);
  expect(findings.map(({ assumption, verdict, evidence }) => [assumption, verdict, evidence])).toEqual([
    [
      'bicep-idempotent',
      'proven',
      'After the deployment of infra/vm.bicep, what-if finds 1 resource unchanged, 0 that differ only in properties that Azure has set or that it cannot compute, and 0 that it cannot evaluate.',
    ],
    [
      'bicep-idempotent',
      'refuted',
      'After the deployment of infra/vm.bicep, what-if shows 2 changes: Create Microsoft.Compute/virtualMachines/vm-k3x2ab; Delete Microsoft.Compute/virtualMachines/vm-k3x2ab.',
    ],
  ]);
});

/** https://learn.microsoft.com/azure/azure-resource-manager/bicep/deploy-what-if#see-results */
const setByAzure = {
  path: 'properties.osProfile.requireGuestProvisionSignal',
  propertyChangeType: 'Delete',
  before: true,
};
const notComputed = { path: 'id', propertyChangeType: 'Modify', before: 'a', after: "[reference('b').c]" };

test.for([
  { delta: [setByAzure], verdict: 'proven' },
  { delta: [notComputed], verdict: 'proven' },
  { delta: [{ path: 'a', propertyChangeType: 'NoEffect', after: 1 }], verdict: 'proven' },
  { delta: [{ path: 'a', propertyChangeType: 'Modify', children: [setByAzure, notComputed] }], verdict: 'proven' },
  {
    delta: [setByAzure, { path: 'sku.name', propertyChangeType: 'Modify', before: 'a', after: 'b' }],
    verdict: 'refuted',
  },
  {
    delta: [
      {
        path: 'tags',
        propertyChangeType: 'Array',
        children: [{ path: '0', propertyChangeType: 'Create', after: 'x' }],
      },
    ],
    verdict: 'refuted',
  },
  { delta: [], verdict: 'refuted' },
])('after a second what-if with the changes $delta it is $verdict', async ({ delta, verdict }) => {
  const { context, findings, said } = createContext([
    { to: 'what-if', with: { changes: [change('NoChange'), change('Modify', { delta })] } },
  ]);
  await previewAgain(context, template);
  expect(findings).toMatchObject([{ assumption: 'bicep-idempotent', verdict }]);
  expect(said.some((line) => line.includes('shows what is no change'))).toBe(verdict === 'proven');
});

test.for([
  { name: 'nothing', changes: [] },
  { name: 'only what it cannot show', changes: [change('Unsupported'), change('Ignore')] },
])('a second what-if with $name proves nothing', async ({ changes }) => {
  const { context, findings, said } = createContext([{ to: 'what-if', with: { changes } }]);
  await previewAgain(context, template);
  expect(findings).toEqual([]);
  expect(said.at(-1)).toContain('has compared nothing');
});
