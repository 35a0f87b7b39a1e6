import { describe, expect, test } from 'vitest';
import { linuxInstallSteps } from '../../../../infra/acceptance/azure/install.ts';
import { windowsInstallSteps } from '../../../../infra/acceptance/azure/install-windows.ts';
import { configurationOf } from '../../../../infra/acceptance/azure/packages.ts';
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
const vmOf = (name: string, os: 'linux' | 'windows' = 'linux') => ({
  machines: [
    {
      name,
      role: 'single',
      os,
      scaleSet: null,
      resourceId: `/vm/${name}`,
      resourceGroup: group,
      instanceId: null,
      size: 'Standard_B2s_v2',
    },
  ],
});
const found = {
  packages: { ...packagesFound, windowsArchive: 'https://sebpkgk3x2ab.blob.core.windows.net/packages/b-win-x64.zip' },
  platform: platformFound,
  gallery: { linuxVersion: '/v/0.2.0', windowsVersion: '/w/0.2.0' },
  vm: vmOf('vm-k3x2ab'),
  'spot-vm': vmOf('spot-k3x2ab'),
  'windows-vm': vmOf('win-k3x2ab', 'windows'),
};

const stepNamed = (id: string, tools = createTools()): Step =>
  [...linuxInstallSteps(tools), ...windowsInstallSteps(tools)].find((step) => step.id === id) as Step;

const status = (pid: number) =>
  printedOnLinux(`{"installed":true,"version":"0.2.0","service":{"active":"active","pid":${pid},"since":"a"}}`, 0);
/** A VM on which everything works. */
const working: readonly Reply[] = [
  { to: '-status.', with: status(7) },
  { to: '-check.', with: printedOnLinux('No problems found.', 0) },
  { to: /(remove|install-deb)\./, with: printedOnLinux('', 0) },
  { to: 'leftovers.', with: printedOnLinux('', 0) },
  { to: 'vm extension delete', with: undefined },
  { to: 'last-run.', with: printedOnLinux('1763842000.1', 0) },
  { to: 'vm get-instance-view', with: [] },
  { to: 'vm application set', with: {} },
];

const failed = refuse('DeploymentFailed', 'At least one resource deployment operation failed.');
/** https://learn.microsoft.com/azure/virtual-machines/extensions/custom-script-linux#troubleshooting */
const extensionFailure = (message: string) => ({
  to: 'deployment operation',
  with: [
    {
      target: {
        id: '/x',
        resourceType: 'Microsoft.Compute/virtualMachines/extensions',
        resourceName: 'vm-k3x2ab/scheduled-events-bridge',
      },
      status: { error: { code: 'VMExtensionProvisioningError', message } },
    },
  ],
});
const wrongOption =
  'Enable failed: failed to execute command: command terminated with exit status=53\n[stderr]\nsinks.eventHub is not known.';
const deployed = { properties: { outputs: {} } };

describe('install-custom-script', () => {
  const run = async (replies: readonly Reply[]) => {
    const prepared = createContext([...replies, ...working], found);
    await stepNamed('install-custom-script').run(prepared.context);
    return prepared;
  };
  const installations = (): Reply => ({
    to: 'deployment group create',
    with: inTurn(deployed, deployed, failed, deployed),
  });

  test('proves that the same settings do nothing, and that a wrong configuration fails with 53', async () => {
    const { findings, calls } = await run([installations(), extensionFailure(wrongOption)]);
    expect(findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
      'deploy-vm proven',
      'install-custom-script proven',
    ]);
    const order = calls
      .filter((line) => /remove\.sh|leftovers\.sh|extension delete|group create/.test(line))
      .map((line) => line.split(' ')[1]);
    expect(order).toEqual(['group', 'group', 'group', 'extension', 'run-command', 'run-command', 'group']);
  });

  test('is refuted by an extension that ran its command again', async () => {
    const { findings } = await run([
      { to: 'last-run.', with: inTurn(printedOnLinux('1763842000.1', 0), printedOnLinux('1763842200.9', 0)) },
      installations(),
      extensionFailure(wrongOption),
    ]);
    expect(findings.at(-1)).toMatchObject({ verdict: 'refuted' });
  });

  test('is refuted by a service that was started again for the same settings', async () => {
    const { findings } = await run([
      { to: '-status.', with: inTurn(status(7), status(7), status(8)) },
      installations(),
      extensionFailure(wrongOption),
    ]);
    expect(findings.at(-1)).toMatchObject({
      verdict: 'refuted',
      evidence: expect.stringContaining('ran the command or restarted the service'),
    });
  });

  test.for([
    ['an accepted configuration', (): Reply => ({ to: 'deployment group create', with: deployed })],
    ['a failure without the exit code', installations],
  ] as const)('is refuted by %s', async ([, answers]) => {
    const { findings } = await run([
      answers(),
      extensionFailure('VM has reported a failure when processing the extension.'),
    ]);
    expect(findings.at(-1)).toMatchObject({
      verdict: 'refuted',
      evidence: expect.stringContaining('was not reported with 53'),
    });
  });

  test.for<[string, Reply, string]>([
    [
      'a service that does not run',
      { to: '-status.', with: printedOnLinux('{"installed":true,"service":{"active":"failed"}}', 20) },
      'is failed',
    ],
    [
      'no service',
      { to: '-status.', with: printedOnLinux('{"installed":false,"service":null}', 4, 'not installed') },
      'is not installed: not installed',
    ],
    [
      'something that the removal leaves',
      { to: 'leftovers.', with: printedOnLinux('/etc/scheduled-events-bridge', 0) },
      'still has /etc/scheduled-events-bridge',
    ],
    [
      'a removal that fails',
      { to: 'remove.', with: printedOnLinux('', 22, 'busy') },
      'could not be removed from vm-k3x2ab (22): busy',
    ],
  ])('fails with %s', async ([, reply, message]) => {
    await expect(run([reply, installations(), extensionFailure(wrongOption)])).rejects.toThrow(message);
  });

  test('waits up to half an hour for the roles of the identity', async () => {
    const refusing = printedOnLinux('', 13, 'Event Hubs refuses the identity');
    const tools = createTools();
    const { context } = createContext(
      [
        { to: '-check.', with: inTurn(refusing, refusing, printedOnLinux('No problems found.', 0)) },
        installations(),
        extensionFailure(wrongOption),
        ...working,
      ],
      found,
    );
    await stepNamed('install-custom-script', tools).run(context);
    expect(tools.slept).toEqual([60, 60]);
    const never = createContext([{ to: '-check.', with: refusing }, ...working], found);
    await expect(stepNamed('install-custom-script').run(never.context)).rejects.toThrow(
      'check on vm-k3x2ab ends with 13: Event Hubs refuses the identity',
    );
  });
});

describe('install-custom-script-second', () => {
  const refused = refuse('BadRequest', "Multiple VMExtensions per handler not supported for OS type 'Linux'.");

  test('proves that Azure refuses it', async () => {
    const { context, findings } = createContext([{ to: 'vm extension set', with: refused }, ...working], found);
    await stepNamed('install-custom-script-second').run(context);
    expect(findings).toMatchObject([{ verdict: 'proven', evidence: expect.stringContaining('Multiple VMExtensions') }]);
  });

  test('is refuted by one that is accepted, which it removes', async () => {
    const { context, findings, calls } = createContext([{ to: 'vm extension set', with: {} }, ...working], found);
    await stepNamed('install-custom-script-second').run(context);
    expect(findings).toMatchObject([{ verdict: 'refuted' }]);
    expect(calls.some((line) => /vm extension delete .*--name second/.test(line))).toBe(true);
  });

  test('proves nothing by another failure', async () => {
    const { context, findings } = createContext(
      [{ to: 'vm extension set', with: refuse('AuthorizationFailed', 'may not') }, ...working],
      found,
    );
    await expect(stepNamed('install-custom-script-second').run(context)).rejects.toThrow('may not');
    expect(findings).toEqual([]);
  });
});

describe('install-debian-package', () => {
  test('proves it on both releases', async () => {
    const { context, findings, calls } = createContext(working, found);
    await stepNamed('install-debian-package').run(context);
    expect(findings).toMatchObject([{ assumption: 'install-deb-ubuntu', verdict: 'proven' }]);
    expect(calls.some((line) => line.includes('spot-k3x2ab.deb-check.sh'))).toBe(true);
  });

  test('proves nothing without the Spot VM', async () => {
    const { 'spot-vm': _, ...others } = found;
    const { context, findings, said } = createContext(working, others);
    await stepNamed('install-debian-package').run(context);
    expect(findings).toEqual([]);
    expect(said.at(-1)).toContain('not tried on Ubuntu 22.04');
  });

  test('fails with the last line of apt', async () => {
    const apt = printedOnLinux('', 100, 'Reading package lists...\nE: Unable to locate package');
    const { context } = createContext([{ to: 'install-deb.', with: apt }, ...working], found);
    await expect(stepNamed('install-debian-package').run(context)).rejects.toThrow(
      'The .deb could not be installed on vm-k3x2ab (100): E: Unable to locate package',
    );
  });
});

/** https://learn.microsoft.com/azure/virtual-machines/vm-applications#troubleshooting-vm-applications */
const applicationFailure = refuse(
  'VMExtensionProvisioningError',
  'Error: scheduled-events-bridge-acceptance-x64: install failed with exit status 53',
);
const configuration = (value: unknown): Reply => ({
  to: 'configuration.sh',
  with: printedOnLinux(JSON.stringify(value), 0),
});
const wanted = configurationOf(new Map(Object.entries({ platform: platformFound })));

describe('install-vm-application', () => {
  const run = async (replies: readonly Reply[]) => {
    const prepared = createContext([...replies, ...working], found);
    await stepNamed('install-vm-application').run(prepared.context);
    return prepared;
  };
  const isRefusedVersion = /vm application set .*versions\/0\.2\.2/;

  test('proves that a wrong configuration fails with 53, and that the published one arrives', async () => {
    const { findings, calls } = await run([{ to: isRefusedVersion, with: applicationFailure }, configuration(wanted)]);
    expect(findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
      'install-vm-application proven',
      'install-vm-application-config proven',
    ]);
    const versions = calls
      .filter((line) => line.startsWith('vm application set'))
      .map((line) => /versions\/(\S+)/.exec(line)?.[1] ?? 'none');
    expect(versions).toEqual(['none', '0.2.2', 'none', '0.2.0', 'none', '0.2.0']);
  });

  /** https://learn.microsoft.com/rest/api/compute/virtual-machines/instance-view#virtualmachineextensioninstanceview */
  test('finds the exit code also in what the extension reports', async () => {
    const failure = refuse(
      'VMExtensionProvisioningError',
      'VM has reported a failure when processing extension VMAppExtension.',
    );
    const view = [
      {
        name: 'VMAppExtension',
        substatuses: [{ time: '2026-11-22T20:53:10Z', message: 'install failed with exit code 53' }],
      },
    ];
    const { findings } = await run([
      { to: isRefusedVersion, with: failure },
      { to: 'vm get-instance-view', with: view },
      configuration(wanted),
    ]);
    expect(findings[0]).toMatchObject({ verdict: 'proven' });
    const silent = [
      { name: 'VMAppExtension', substatuses: [{ time: '2026-11-22T20:53:10Z', message: 'install failed' }] },
    ];
    const other = await run([
      { to: isRefusedVersion, with: failure },
      { to: 'vm get-instance-view', with: silent },
      configuration(wanted),
    ]);
    expect(other.findings[0]).toMatchObject({ verdict: 'refuted' });
  });

  test('is refuted by a wrong configuration that is accepted, and by another configuration on the VM', async () => {
    const { findings } = await run([configuration({ ...wanted, approve: {} })]);
    expect(findings.map(({ verdict }) => verdict)).toEqual(['refuted', 'refuted']);
  });
});

describe('install-vm-application-update', () => {
  const next = `/subscriptions/${subscriptionId}/resourceGroups/rg-seb-acceptance-k3x2ab-platform/providers/Microsoft.Compute/galleries/gal_seb_k3x2ab/applications/scheduled-events-bridge-acceptance-x64/versions/0.2.1`;
  const other = next.replace(/applications\/.*/, 'applications/other/versions/1.0.0');
  const applications = (...ids: readonly string[]) => ({
    galleryApplications: ids.map((packageReferenceId) => ({ packageReferenceId })),
  });
  const run = async (replies: readonly Reply[], tools = createTools()) => {
    const prepared = createContext(
      [
        ...replies,
        { to: /sig gallery-application/, with: {} },
        { to: 'deployment group create', with: deployed },
        { to: 'stream-id.', with: printedOnLinux('"streamId": "s1"', 0) },
        ...working,
      ],
      found,
    );
    await stepNamed('install-vm-application-update', tools).run(prepared.context);
    return prepared;
  };
  const updated = { ...wanted, log: { level: 'debug' } };

  test('proves that the template of the policy updates one application, and that the state stays', async () => {
    const tools = createTools();
    const old = printedOnLinux(JSON.stringify(wanted), 0);
    const { findings, saved } = await run(
      [
        { to: 'vm application list', with: applications(other.toUpperCase(), next) },
        { to: 'configuration.sh', with: inTurn(old, old, printedOnLinux(JSON.stringify(updated), 0)) },
      ],
      tools,
    );
    expect(tools.slept).toEqual([30, 30]);
    expect(findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
      'policy-update-one-application proven',
      'install-vm-application-update proven',
    ]);
    expect(JSON.parse(saved.get('update-virtual-machine.template.json') ?? '').resources).toMatchObject([
      { type: 'Microsoft.Compute/virtualMachines/VMapplications', apiVersion: '2021-07-01' },
    ]);
  });

  test('is refuted by an application that is gone, and by another stream', async () => {
    const { findings } = await run([
      { to: 'vm application list', with: applications(next) },
      configuration(updated),
      { to: 'stream-id.', with: inTurn(printedOnLinux('"streamId": "s1"', 0), printedOnLinux('"streamId": "s2"', 0)) },
    ]);
    expect(findings.map(({ verdict }) => verdict)).toEqual(['refuted', 'refuted']);
    expect(findings[0]?.evidence).toContain('no longer names the other application');
  });

  test('fails, and refutes nothing, where the stream cannot be read', async () => {
    await expect(run([{ to: 'stream-id.', with: printedOnLinux('', 0, 'no bridge') }])).rejects.toThrow(
      'shows no streamId: no bridge',
    );
  });

  test('fails where the update does not arrive in a quarter of an hour', async () => {
    await expect(
      run([{ to: 'vm application list', with: applications(next, other) }, configuration(wanted)]),
    ).rejects.toThrow('still has the configuration of the version before');
  });
});

describe('install-windows', () => {
  const signature = (text: string): Reply => ({ to: 'signature.ps1', with: printedOnLinux(text, 0) });

  test('proves the Custom Script extension and the signature, and leaves the VM application', async () => {
    const { context, findings, calls } = createContext(
      [
        signature('Valid'),
        { to: 'deployment group create', with: inTurn(failed, deployed) },
        extensionFailure("Command execution finished, but failed because it returned a non-zero exit code of: '53'"),
        { to: /vm application set .*versions\/0\.2\.2/, with: applicationFailure },
        ...working,
      ],
      found,
    );
    await stepNamed('install-windows').run(context);
    expect(findings.map(({ assumption, verdict }) => `${assumption} ${verdict}`)).toEqual([
      'windows-package-signature proven',
      'windows-package-custom-script proven',
    ]);
    expect(calls.filter((line) => line.startsWith('vm application set')).at(-1)).toContain('/w/0.2.0');
    expect(
      calls.filter((line) => line.includes('run-command')).every((line) => line.includes('RunPowerShellScript')),
    ).toBe(true);
  });

  test('is refuted by a signature that Windows does not trust', async () => {
    const { context, findings } = createContext(
      [signature('UnknownError'), { to: 'deployment group create', with: deployed }, ...working],
      found,
    );
    await expect(stepNamed('install-windows').run(context)).rejects.toThrow('does not show that the VM application');
    expect(findings.map(({ verdict }) => verdict)).toEqual(['refuted', 'refuted']);
  });
});
