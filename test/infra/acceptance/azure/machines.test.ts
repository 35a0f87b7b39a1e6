import { expect, test } from 'vitest';
import { AzError } from '../../../../infra/acceptance/az.ts';
import { isOutOfCapacity } from '../../../../infra/acceptance/azure/capacity.ts';
import { machineSteps } from '../../../../infra/acceptance/azure/machines.ts';
import { contradictionsIn } from '../../../../infra/acceptance/azure/vm-facts.ts';
import type { Step } from '../../../../infra/acceptance/step.ts';
import {
  createContext,
  createTools,
  inTurn,
  packagesFound,
  platformFound,
  printedOnLinux,
  type Reply,
  refuse,
  subscriptionId,
} from './step-context.ts';

const group = 'rg-seb-acceptance-k3x2ab-machines';
const idOf = (type: string, name: string): string =>
  `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/Microsoft.Compute/${type}/${name}`;
const sizes = ['Standard_B2s_v2', 'Standard_D2as_v5'];
const found = {
  packages: packagesFound,
  platform: platformFound,
  network: { subnetResourceId: '/subscriptions/a/subnets/vms' },
  quota: { single: sizes, uniform: sizes, flexible: sizes, spot: ['Standard_D2as_v5', 'Standard_D2s_v5'] },
  gallery: { linuxVersion: '/subscriptions/a/versions/0.2.0', windowsVersion: null },
};

const stepNamed = (id: string, tools = createTools()): Step =>
  machineSteps({ against: 'azure', windows: true }, tools).find((step) => step.id === id) as Step;

/** What runs on a VM, by the name of the script's file; a running bridge, and metadata as of the VM. */
const onMachine = (instance: object, more: readonly Reply[] = []): readonly Reply[] => [
  ...more,
  {
    to: 'run-command.sh',
    with: {
      value: [
        {
          code: 'ProvisioningState/succeeded',
          message: `Enable succeeded: \n[stdout]\n${'1999\n'.repeat(800)}root\n\n[stderr]\n`,
        },
      ],
    },
  },
  { to: 'instance.sh', with: printedOnLinux(JSON.stringify(instance), 0) },
  {
    to: 'unknown-version.sh',
    with: printedOnLinux(
      '{ "error": "Bad request. api-version is invalid", "newest-versions": ["2023-11-15"] }\n400',
      0,
    ),
  },
  { to: 'first-request.sh', with: printedOnLinux('200 97.42', 0) },
  {
    to: '-status.sh',
    with: printedOnLinux('{"installed":true,"version":"0.2.0","service":{"active":"active","pid":1,"since":"a"}}', 0),
  },
  { to: '-check.sh', with: printedOnLinux('No problems found.', 0) },
  { to: 'install-deb.sh', with: printedOnLinux('', 0) },
];

const tagsList = [{ name: 'scheduled-events-bridge-acceptance', value: 'k3x2ab' }];
const vmMetadata = (size: string) => ({
  name: 'vm-k3x2ab',
  vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
  resourceId: idOf('virtualMachines', 'vm-k3x2ab'),
  vmScaleSetName: '',
  vmSize: size,
  tagsList,
});

/** https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-sku-not-available */
const noRoom = {
  target: {
    id: idOf('virtualMachines', 'vm-k3x2ab'),
    resourceType: 'Microsoft.Compute/virtualMachines',
    resourceName: 'vm-k3x2ab',
  },
  status: {
    error: {
      code: 'SkuNotAvailable',
      message: "The requested VM size 'Standard_B2s_v2' is not available in the current region.",
    },
  },
};
const failed = refuse('DeploymentFailed', 'At least one resource deployment operation failed.');
const vmDeployed = { properties: { outputs: { resourceId: { value: idOf('virtualMachines', 'vm-k3x2ab') } } } };

test('vm tries the next size where Azure has no room, and deletes what the first attempt left', async () => {
  const { context, calls, findings, saved } = createContext(
    [
      ...onMachine(vmMetadata('Standard_D2as_v5')),
      { to: 'deployment group create', with: inTurn(failed, vmDeployed) },
      { to: 'deployment operation', with: [noRoom] },
      // There is no VM yet: the template was refused before.
      { to: 'vm delete', with: refuse('ResourceNotFound', 'The Resource was not found.') },
      { to: 'what-if', with: { changes: [{ resourceId: '/a', changeType: 'NoChange' }] } },
    ],
    found,
  );
  await stepNamed('vm').run(context);
  expect(context.found.get('vm')).toMatchObject({
    machines: [{ name: 'vm-k3x2ab', role: 'single', size: 'Standard_D2as_v5' }],
  });
  expect(calls.filter((line) => line.startsWith('vm delete'))).toHaveLength(1);
  expect(JSON.parse(saved.get('seb-k3x2ab-vm-k3x2ab.parameters.json') ?? '').parameters).toMatchObject({
    size: { value: 'Standard_D2as_v5' },
    delivery: { value: 'script' },
    userInitiatedEvents: { value: 'acceptDelay' },
    source: { value: packagesFound.linuxArchive },
    sshPublicKey: { value: expect.stringMatching(/^ssh-rsa AAAAB3NzaC1yc2E/) },
  });
  expect(findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
    'bicep-idempotent proven',
    'install-run-command proven',
    'imds-instance-fields proven',
    'imds-instance-old-host proven',
  ]);
});

test('vm fails with the errors of the last size, and deletes nothing after another failure', async () => {
  const full = createContext(
    [
      { to: 'deployment group create', with: failed },
      { to: 'deployment operation', with: [noRoom] },
      { to: 'vm delete', with: undefined },
    ],
    found,
  );
  await expect(stepNamed('vm').run(full.context)).rejects.toThrow('SkuNotAvailable');
  expect(full.calls.filter((line) => line.startsWith('deployment group create'))).toHaveLength(2);
  const extension = {
    ...noRoom,
    status: { error: { code: 'VMExtensionProvisioningError', message: 'Enable failed: exit status=53' } },
  };
  const broken = createContext(
    [
      { to: 'deployment group create', with: failed },
      { to: 'deployment operation', with: [extension] },
    ],
    found,
  );
  await expect(stepNamed('vm').run(broken.context)).rejects.toThrow('exit status=53');
  expect(broken.calls.filter((line) => line.startsWith('deployment group create'))).toHaveLength(1);
});

test('vm repeats the deployment while the identity may not read the package yet', async () => {
  const refused = {
    ...noRoom,
    status: {
      error: {
        code: 'VMExtensionProvisioningError',
        message: 'failed to download file: 403 This request is not authorized',
      },
    },
  };
  const tools = createTools();
  const { context, calls } = createContext(
    [
      ...onMachine(vmMetadata('Standard_B2s_v2')),
      { to: 'deployment group create', with: inTurn(failed, vmDeployed) },
      { to: 'deployment operation', with: [refused] },
      { to: 'vm extension delete', with: undefined },
      { to: 'what-if', with: { changes: [{ resourceId: '/a', changeType: 'NoChange' }] } },
    ],
    found,
  );
  await stepNamed('vm', tools).run(context);
  expect(tools.slept).toEqual([120]);
  expect(calls.filter((line) => line.startsWith('vm extension delete'))).toHaveLength(1);
});

test('a step without a size fails before it creates anything', async () => {
  const { context, calls } = createContext([], { ...found, quota: { single: [] } });
  await expect(stepNamed('vm').run(context)).rejects.toThrow('No size is available');
  expect(calls).toEqual([]);
});

test('windows-vm says what to install where no package for Windows was built', async () => {
  const { context } = createContext([], { ...found, quota: { windows: sizes } });
  await expect(stepNamed('windows-vm').run(context)).rejects.toThrow('install gcc-mingw-w64-x86-64');
});

test.for([
  ['SkuNotAvailable', 'The requested size is currently not available in location westeurope.', true],
  [
    'OperationNotAllowed',
    "Virtual Machine Scale Sets with Flexible Orchestration Mode cannot use VM Size 'Standard_B2s_v2'",
    true,
  ],
  ['RequestDisallowedByPolicy', 'Resource vm was disallowed by policy.', false],
] as const)('another size may work after %s: %s', ([code, message, isTried]) => {
  expect(isOutOfCapacity(new AzError(message, { args: [], code, exitCode: 1 }))).toBe(isTried);
});

test('spot-vm measures the first request before the bridge is installed', async () => {
  const { context, calls, findings, measured } = createContext(
    [
      ...onMachine({}),
      {
        to: 'vm create',
        with: inTurn(refuse('SkuNotAvailable', 'The requested size is currently not available.'), {}),
      },
      { to: 'vm delete', with: undefined },
      { to: 'vm show', with: { id: idOf('virtualMachines', 'spot-k3x2ab') } },
    ],
    found,
  );
  await stepNamed('spot-vm').run(context);
  expect(calls.findIndex((line) => line.includes('first-request'))).toBeLessThan(
    calls.findIndex((line) => line.includes('install-deb')),
  );
  expect(measured).toEqual([['first request for Scheduled Events', 97.42]]);
  expect(findings).toMatchObject([{ assumption: 'imds-first-request', verdict: 'proven' }]);
  expect(context.found.get('spot-vm')).toMatchObject({ machines: [{ role: 'spot', size: 'Standard_D2s_v5' }] });
});

/** https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-terminate-notification */
const withNotice = {
  virtualMachineProfile: {
    scheduledEventsProfile: { terminateNotificationProfile: { enable: true, notBeforeTimeout: 'PT5M' } },
  },
};
const uniform = (instance: string) => ({
  id: idOf('virtualMachineScaleSets', `uni-k3x2ab/virtualMachines/${instance}`),
  name: `uni-k3x2ab_${instance}`,
  instanceId: instance,
});
const uniformMetadata = (args: readonly string[]) => {
  const instance = args[args.indexOf('--instance-id') + 1] ?? '';
  const { id, name } = uniform(instance);
  return printedOnLinux(
    JSON.stringify({ ...vmMetadata('Standard_B2s_v2'), name, resourceId: id, vmScaleSetName: 'uni-k3x2ab' }),
    0,
  );
};

test('scale-set-uniform puts the extension into the model before there are instances, and reimages one', async () => {
  const { context, calls, findings } = createContext(
    [
      { to: 'instance.sh', with: uniformMetadata },
      ...onMachine({}),
      { to: 'vmss show', with: withNotice },
      { to: 'vmss list-instances', with: [uniform('0'), uniform('2')] },
      { to: /vmss (create|scale|reimage)|deployment group create/, with: { properties: {} } },
    ],
    found,
  );
  await stepNamed('scale-set-uniform').run(context);
  expect(context.found.get('scale-set-uniform')).toMatchObject({
    machines: [
      { name: 'uni-k3x2ab_0', role: 'uniform', scaleSet: 'uni-k3x2ab', instanceId: '0' },
      { name: 'uni-k3x2ab_2', instanceId: '2' },
    ],
  });
  const changes = calls
    .filter((line) => /^(vmss (create|scale|reimage)|deployment)/.test(line))
    .map((line) => line.split(' --')[0]);
  expect(changes).toEqual(['vmss create', 'deployment group create', 'vmss scale', 'vmss reimage']);
  expect(findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
    'imds-instance-fields proven',
    'imds-instance-fields proven',
    'install-custom-script-set proven',
  ]);
});

test('a scale set without a terminate notice fails', async () => {
  const { context } = createContext(
    [
      { to: 'vmss create', with: {} },
      { to: 'vmss show', with: {} },
    ],
    found,
  );
  await expect(stepNamed('scale-set-uniform').run(context)).rejects.toThrow('has no terminate notice of 5 minutes');
});

test('scale-set-flexible finds its VMs, and is made again with the next size where Azure has no room', async () => {
  const vms = ['flex-k3x2ab_a', 'flex-k3x2ab_b'].map((name) => ({ id: idOf('virtualMachines', name), name }));
  const metadata = (args: readonly string[]) => {
    const name = args[args.indexOf('--name') + 1] ?? '';
    const scaleSet = { id: idOf('virtualMachineScaleSets', 'flex-k3x2ab') };
    return printedOnLinux(
      JSON.stringify({
        ...vmMetadata('Standard_D2as_v5'),
        name,
        resourceId: idOf('virtualMachines', name),
        virtualMachineScaleSet: scaleSet,
      }),
      0,
    );
  };
  const { context, calls, findings } = createContext(
    [
      { to: 'instance.sh', with: metadata },
      ...onMachine({}),
      { to: 'vmss show', with: withNotice },
      { to: 'vmss scale', with: inTurn(refuse('AllocationFailed', 'Allocation failed.'), {}) },
      { to: 'vm list ', with: vms },
      { to: /vmss (create|delete|application set)/, with: {} },
    ],
    found,
  );
  await stepNamed('scale-set-flexible').run(context);
  expect(calls.filter((line) => /^vmss (create|delete)/.test(line)).map((line) => line.split(' ')[1])).toEqual([
    'create',
    'delete',
    'create',
  ]);
  expect(context.found.get('scale-set-flexible')).toMatchObject({
    machines: [{ instanceId: null, scaleSet: 'flex-k3x2ab', size: 'Standard_D2as_v5' }, {}],
  });
  expect(findings.every(({ verdict }) => verdict === 'proven')).toBe(true);
});

const machine = {
  name: 'vm-k3x2ab',
  role: 'single',
  os: 'linux',
  scaleSet: null,
  resourceId: idOf('virtualMachines', 'vm-k3x2ab'),
  resourceGroup: group,
  instanceId: null,
  size: 'Standard_B2s_v2',
} as const;
const seen = vmMetadata('standard_b2s_V2');
const tags = { 'scheduled-events-bridge-acceptance': 'k3x2ab' };

test.for([
  { what: 'nothing', metadata: seen, expected: [] },
  { what: 'another name', metadata: { ...seen, name: 'other' }, expected: ['the name is other instead of vm-k3x2ab'] },
  {
    what: 'a scale set',
    metadata: { ...seen, vmScaleSetName: 'uni' },
    expected: ['the scale set is uni instead of null'],
  },
  {
    what: 'no tags',
    metadata: { ...seen, tagsList: [] },
    expected: ['the tag scheduled-events-bridge-acceptance is missing'],
  },
  { what: 'no id', metadata: { ...seen, vmId: '' }, expected: ['there is no vmId'] },
])('instance metadata contradicts the control plane by $what', ({ metadata, expected }) => {
  expect(contradictionsIn(metadata, machine, tags)).toEqual(expected);
});

test.for([
  { answer: '200 140.2', verdicts: ['refuted'] },
  { answer: '200 3.1', verdicts: ['proven'] },
  // Says nothing about how long the service takes.
  { answer: '404 0.1', verdicts: [] },
  // The script was ended.
  { answer: '', verdicts: [] },
])('the first request: $answer', async ({ answer, verdicts }) => {
  const { context, findings } = createContext(
    [
      { to: 'first-request.sh', with: printedOnLinux(answer, 0) },
      ...onMachine({}),
      { to: 'vm create', with: {} },
      { to: 'vm show', with: { id: 'x' } },
    ],
    found,
  );
  await stepNamed('spot-vm').run(context);
  expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts);
});

test.for(['\n000', ''])('a metadata service that does not answer refutes nothing: %j', async (answer) => {
  const { context, findings } = createContext(
    [
      { to: 'unknown-version.sh', with: printedOnLinux(answer, 0) },
      ...onMachine(vmMetadata('Standard_B2s_v2')),
      { to: 'deployment group create', with: { properties: { outputs: {} } } },
      { to: 'what-if', with: { changes: [] } },
    ],
    found,
  );
  await stepNamed('vm').run(context);
  expect(findings.map(({ assumption }) => assumption)).not.toContain('imds-instance-old-host');
});
