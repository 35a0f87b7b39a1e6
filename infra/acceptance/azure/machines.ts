import type { Step, StepContext, StepOptions } from '../step.ts';
import type { Machine } from '../target.ts';
import { withAvailableSize } from './capacity.ts';
import { deployTemplate, previewAgain, type TemplateDeployment } from './deployment.ts';
import { foundBy, type MachineFound, type MachinesFound } from './found.ts';
import { extensionName, installDeb, verifyBridge, whileExtensionIsRefused } from './install-ways.ts';
import {
  createScaleSet,
  createSpotVm,
  deleteExtension,
  deleteScaleSet,
  deleteVm,
  listInstances,
  listVmsOfSet,
  reimage,
  scale,
  setScaleSetApplications,
  showScaleSet,
  showVm,
} from './machine-commands.ts';
import { namesOf } from './names.ts';
import { oneTimePassword, oneTimePublicKey } from './one-time-credentials.ts';
import { configurationOf } from './packages.ts';
import { forMachines } from './prices.ts';
import type { AzureTools } from './tools.ts';
import { compareInstanceMetadata, measureFirstRequest, probeRunCommand, requestUnknownVersion } from './vm-facts.ts';

const common = {
  phase: 'deploy',
  rights: ['Contributor on the subscription'],
  needs: ['quota', 'platform', 'packages', 'network'],
} as const;

/** One VM by `vm.bicep`, with the bridge by the Custom Script extension. */
function vmTemplate(
  { run, found }: StepContext,
  { name, os, size }: { readonly name: string; readonly os: 'linux' | 'windows'; readonly size: string },
): TemplateDeployment {
  const { linuxArchive, windowsArchive } = foundBy(found, 'packages');
  if (os === 'windows' && windowsArchive === null) {
    throw new Error('No package for Windows was built: install gcc-mingw-w64-x86-64, and run it again.');
  }
  return {
    name: namesOf(run).deployment(name),
    scope: { group: run.groups.machines },
    template: 'infra/vm.bicep',
    parameters: {
      location: run.location,
      name,
      settings: foundBy(found, 'platform').settings,
      userInitiatedEvents: 'acceptDelay',
      delivery: 'script',
      source: os === 'windows' ? windowsArchive : linuxArchive,
      subnetResourceId: foundBy(found, 'network').subnetResourceId,
      size,
      tags: run.tags,
      osType: os === 'windows' ? 'Windows' : 'Linux',
      ...(os === 'windows' ? {} : { sshPublicKey: oneTimePublicKey() }),
    },
    ...(os === 'windows' ? { secrets: { adminPassword: oneTimePassword() } } : {}),
  };
}

const vmStep = (
  tools: AzureTools,
  { id, role, os }: { readonly id: string; readonly role: Machine['role']; readonly os: 'linux' | 'windows' },
): Step => ({
  ...common,
  id,
  lane: role,
  title: `deploy one ${os === 'windows' ? 'Windows' : 'Linux'} VM with the bridge by infra/vm.bicep`,
  creates: [`a ${os === 'windows' ? 'Windows' : 'Linux'} VM of 2 cores with its disk`],
  cost: forMachines(1, os),
  minutes: os === 'windows' ? 12 : 8,
  proves:
    os === 'windows'
      ? ['bicep-idempotent', 'install-run-command']
      : ['bicep-idempotent', 'imds-instance-fields', 'imds-instance-old-host', 'install-run-command'],
  run: async (context) => {
    const { az, run, found } = context;
    const name = os === 'windows' ? namesOf(run).windowsVm : namesOf(run).vm;
    const at = { group: run.groups.machines, name };
    const attempt = async (size: string): Promise<MachineFound> => {
      const template = vmTemplate(context, { name, os, size });
      const outputs = await whileExtensionIsRefused(
        context,
        tools,
        () => deployTemplate(context, template),
        () => az.call(deleteExtension(run, at, extensionName)),
      );
      await previewAgain(context, template);
      const resourceId = String(outputs.resourceId);
      return { name, role, os, scaleSet: null, resourceId, resourceGroup: at.group, instanceId: null, size };
    };
    const machine = await withAvailableSize(context, role, attempt, () => az.call(deleteVm(run, at)));
    found.set(id, { machines: [machine] } satisfies MachinesFound);
    await probeRunCommand(context, tools, machine);
    if (os === 'windows') return;
    await compareInstanceMetadata(context, tools, machine);
    await requestUnknownVersion(context, tools, machine);
  },
});

const spotVm = (tools: AzureTools): Step => ({
  ...common,
  id: 'spot-vm',
  lane: 'spot',
  title: 'create a Spot VM with Ubuntu 22.04, and install the .deb',
  creates: ['a Spot VM of 2 cores with its disk'],
  cost: forMachines(1),
  minutes: 10,
  proves: ['imds-first-request'],
  run: async (context) => {
    const { az, run, found } = context;
    const at = { group: run.groups.machines, name: namesOf(run).spotVm };
    const attempt = async (size: string): Promise<MachineFound> => {
      await az.call(createSpotVm(run, at, { ...machineOptions(context), size }));
      const { id } = (await az.call(showVm(run, at))) as { id: string };
      return {
        name: at.name,
        role: 'spot',
        os: 'linux',
        scaleSet: null,
        resourceId: id,
        resourceGroup: at.group,
        instanceId: null,
        size,
      };
    };
    const machine = await withAvailableSize(context, 'spot', attempt, () => az.call(deleteVm(run, at)));
    await measureFirstRequest(context, tools, machine);
    await installDeb(context, tools, machine);
    found.set('spot-vm', { machines: [machine] } satisfies MachinesFound);
  },
});

const machineOptions = ({ run, found }: StepContext) => ({
  location: run.location,
  subnetResourceId: foundBy(found, 'network').subnetResourceId,
  identityResourceId: foundBy(found, 'platform').settings.identityResourceId,
  sshPublicKey: oneTimePublicKey(),
  tags: run.tags,
});

/** A scale set without instances gets the bridge into its model, and then two instances, which get it from there. */
const scaleSet = (tools: AzureTools, role: 'uniform' | 'flexible'): Step => ({
  ...common,
  id: `scale-set-${role}`,
  lane: role,
  needs: role === 'flexible' ? [...common.needs, 'gallery'] : common.needs,
  title: `create a ${role} scale set of two with the bridge in its model, by ${role === 'uniform' ? 'the Custom Script extension' : 'the VM application'}`,
  creates: [`a ${role} scale set with two instances of 2 cores`],
  cost: forMachines(2),
  minutes: role === 'uniform' ? 25 : 15,
  proves: role === 'uniform' ? ['imds-instance-fields', 'install-custom-script-set'] : ['imds-instance-fields'],
  run: async (context) => {
    const { az, run, found } = context;
    const names = namesOf(run);
    const at = { group: run.groups.machines, name: role === 'uniform' ? names.uniform : names.flexible };
    const attempt = async (size: string): Promise<readonly MachineFound[]> => {
      const orchestration = role === 'uniform' ? 'Uniform' : 'Flexible';
      await az.call(createScaleSet(run, at, { ...machineOptions(context), size, orchestration }));
      await verifyTerminateNotice(context, at);
      if (role === 'uniform') await putExtensionIntoModel(context, at.name);
      else await az.call(setScaleSetApplications(run, at, [foundBy(found, 'gallery').linuxVersion]));
      await az.call(scale(run, at, 2), { timeoutMinutes: 45 });
      return role === 'uniform' ? uniformInstances(context, at, size) : flexibleInstances(context, at, size);
    };
    const machines = await withAvailableSize(context, role, attempt, () => az.call(deleteScaleSet(run, at)));
    if (machines.length !== 2)
      throw new Error(`The scale set ${at.name} has ${machines.length} instances instead of 2.`);
    found.set(`scale-set-${role}`, { machines } satisfies MachinesFound);
    for (const machine of machines) {
      await verifyBridge(context, tools, machine, role === 'uniform' ? 'custom-script' : 'vm-application');
      await compareInstanceMetadata(context, tools, machine);
    }
    if (role === 'uniform') await verifyReimage(context, tools, at, machines[0] as MachineFound);
  },
});

interface ScaleSet {
  readonly group: string;
  readonly name: string;
}

/** https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-terminate-notification */
async function verifyTerminateNotice({ az, run }: StepContext, at: ScaleSet): Promise<void> {
  const model = (await az.call(showScaleSet(run, at))) as {
    virtualMachineProfile?: {
      scheduledEventsProfile?: { terminateNotificationProfile?: { enable?: boolean; notBeforeTimeout?: string } };
    };
  };
  const notice = model.virtualMachineProfile?.scheduledEventsProfile?.terminateNotificationProfile;
  if (notice?.enable !== true || notice.notBeforeTimeout !== 'PT5M') {
    throw new Error(
      `The scale set ${at.name} has no terminate notice of 5 minutes: ${JSON.stringify(notice ?? null)}.`,
    );
  }
}

async function putExtensionIntoModel(context: StepContext, name: string): Promise<void> {
  const { run, found } = context;
  await deployTemplate(context, {
    name: namesOf(run).deployment(`extension-${name}`),
    scope: { group: run.groups.machines },
    template: 'bicep/modules/scale-set-extension.bicep',
    parameters: {
      scaleSetName: name,
      packageUri: foundBy(found, 'packages').linuxArchive,
      identityClientId: foundBy(found, 'platform').settings.identityClientId,
      configuration: JSON.stringify(configurationOf(found)),
    },
  });
}

/** An instance with a new disk gets the bridge from the model, as a new instance does. */
async function verifyReimage(
  context: StepContext,
  tools: AzureTools,
  at: ScaleSet,
  machine: MachineFound,
): Promise<void> {
  const { az, run, report } = context;
  await az.call(reimage(run, at, machine.instanceId ?? ''), { timeoutMinutes: 45, isRepeatable: false });
  await verifyBridge(context, tools, machine, 'custom-script-reimaged');
  report({
    assumption: 'install-custom-script-set',
    verdict: 'proven',
    evidence: `Both new instances of ${at.name}, and ${machine.name} after it was reimaged, run the bridge from the extension in the model.`,
  });
}

interface Instance {
  readonly id: string;
  readonly name: string;
  readonly instanceId?: string;
}

async function uniformInstances(
  { az, run }: StepContext,
  at: ScaleSet,
  size: string,
): Promise<readonly MachineFound[]> {
  const instances = (await az.call(listInstances(run, at))) as readonly Required<Instance>[];
  return instances.map(({ id, name, instanceId }) => ({
    name,
    role: 'uniform',
    os: 'linux',
    scaleSet: at.name,
    resourceId: id,
    resourceGroup: at.group,
    instanceId: String(instanceId),
    size,
  }));
}

async function flexibleInstances(
  { az, run }: StepContext,
  at: ScaleSet,
  size: string,
): Promise<readonly MachineFound[]> {
  const scaleSetResourceId = `/subscriptions/${run.subscription}/resourceGroups/${at.group}/providers/Microsoft.Compute/virtualMachineScaleSets/${at.name}`;
  const vms = (await az.call(listVmsOfSet(run, { group: at.group, scaleSetResourceId }))) as readonly Instance[];
  return vms.map(({ id, name }) => ({
    name,
    role: 'flexible',
    os: 'linux',
    scaleSet: at.name,
    resourceId: id,
    resourceGroup: at.group,
    instanceId: null,
    size,
  }));
}

export const machineSteps = ({ windows }: StepOptions, tools: AzureTools): readonly Step[] => [
  vmStep(tools, { id: 'vm', role: 'single', os: 'linux' }),
  scaleSet(tools, 'uniform'),
  scaleSet(tools, 'flexible'),
  spotVm(tools),
  ...(windows ? [vmStep(tools, { id: 'windows-vm', role: 'windows', os: 'windows' })] : []),
];
