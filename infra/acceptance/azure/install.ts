import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Step, StepContext } from '../step.ts';
import { bridgeCommand } from './bridge-scripts.ts';
import { deployTemplate } from './deployment.ts';
import { machineOf, onExistingMachines } from './existing-machine.ts';
import type { MachineFound } from './found.ts';
import { applicationName, nextConfiguration, publishOther, versionId } from './gallery.ts';
import { deployExtension, installDeb, removeAll, setApplication, verifyBridge, verifyRemoved } from './install-ways.ts';
import { addSecondExtension, deleteExtension, listApplications, secondExtension } from './machine-commands.ts';
import { namesOf } from './names.ts';
import { configurationOf } from './packages.ts';
import { refusalOf, refusedByApplication, refusedByExtension } from './refused-installation.ts';
import { runOn } from './run-script.ts';
import { type AzureTools, retry, root } from './tools.ts';

/** When the extension last ran its command: the newest of the files with its output. */
const lastRunOfExtension =
  "find /var/lib/waagent/custom-script/download -name stdout -printf '%T@\\n' | sort --numeric-sort | tail -n 1";

const installCustomScript = (tools: AzureTools): Step => ({
  ...onExistingMachines,
  id: 'install-custom-script',
  lane: 'single',
  title: 'verify the installation by the Custom Script extension, and repeat, refuse, remove and install it again',
  needs: ['vm'],
  minutes: 30,
  proves: ['deploy-vm', 'install-custom-script'],
  run: async (context) => {
    const machine = machineOf(context, 'vm');
    const lastRun = async (): Promise<string> =>
      (await runOn(context, tools, machine, { name: 'last-run', script: lastRunOfExtension })).stdout;
    await verifyBridge(context, tools, machine, 'custom-script');
    context.report({
      assumption: 'deploy-vm',
      verdict: 'proven',
      evidence: `vm.bicep deployed ${machine.name} as ${machine.size}; the service is active, and check finds no problem.`,
    });
    // Twice, because vm.bicep may spell the same configuration otherwise.
    await deployExtension(context, tools, machine);
    const first = { ...(await verifyBridge(context, tools, machine, 'custom-script-same')), ran: await lastRun() };
    await deployExtension(context, tools, machine);
    const second = { ...(await verifyBridge(context, tools, machine, 'custom-script-again')), ran: await lastRun() };
    const isUntouched = isDeepStrictEqual(first, second);
    const { file, isShown } = await refusedByExtension(context, tools, machine);
    await removeAll(context, tools, machine);
    await deployExtension(context, tools, machine);
    await verifyBridge(context, tools, machine, 'custom-script-reinstalled');
    context.report({
      assumption: 'install-custom-script',
      verdict: isUntouched && isShown ? 'proven' : 'refuted',
      evidence: `${machine.name}: the same settings again ${isUntouched ? 'ran nothing' : 'ran the command or restarted the service'}; a wrong configuration ${isShown ? 'failed with 53' : 'was not reported with 53'}; it was removed and installed again.`,
      file,
    });
  },
});

const installSecond = (tools: AzureTools): Step => ({
  ...onExistingMachines,
  id: 'install-custom-script-second',
  lane: 'single',
  title: 'add a second Custom Script extension, which Azure must refuse',
  needs: ['install-custom-script'],
  minutes: 4,
  proves: ['install-custom-script-one'],
  run: async (context) => {
    const { az, run, report, save } = context;
    const machine = machineOf(context, 'vm');
    const at = { group: machine.resourceGroup, name: machine.name };
    const message = await refusalOf(() => az.call(addSecondExtension(run, at)));
    const file = save('second-extension.txt', `${message ?? 'it was accepted'}\n`);
    if (message === null) await az.call(deleteExtension(run, at, secondExtension));
    else if (!/Multiple VMExtensions per handler/i.test(message)) throw new Error(message);
    await verifyBridge(context, tools, machine, 'custom-script-second');
    report({
      assumption: 'install-custom-script-one',
      verdict: message === null ? 'refuted' : 'proven',
      evidence: message === null ? 'Azure accepted a second Custom Script extension.' : `Azure refused it: ${message}`,
      file,
    });
  },
});

const installDebianPackage = (tools: AzureTools): Step => ({
  ...onExistingMachines,
  id: 'install-debian-package',
  lane: 'single',
  title: 'install the .deb on Ubuntu 24.04, and verify it there and on the Spot VM with 22.04',
  needs: ['vm'],
  minutes: 10,
  proves: ['install-deb-ubuntu'],
  run: async (context) => {
    const machine = machineOf(context, 'vm');
    await removeAll(context, tools, machine);
    await installDeb(context, tools, machine);
    await verifyBridge(context, tools, machine, 'deb');
    if (!context.found.has('spot-vm'))
      return context.say('there is no Spot VM, so the .deb was not tried on Ubuntu 22.04');
    const older = machineOf(context, 'spot-vm');
    await verifyBridge(context, tools, older, 'deb');
    context.report({
      assumption: 'install-deb-ubuntu',
      verdict: 'proven',
      evidence: `On ${machine.name} (24.04) and ${older.name} (22.04) the service is active, and check reaches both destinations.`,
    });
  },
});

const readConfiguration = 'cat /etc/scheduled-events-bridge/config.json';

async function configurationOn(context: StepContext, tools: AzureTools, machine: MachineFound): Promise<unknown> {
  const { stdout } = await runOn(context, tools, machine, { name: 'configuration', script: readConfiguration });
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
}

const installVmApplication = (tools: AzureTools): Step => ({
  ...onExistingMachines,
  id: 'install-vm-application',
  lane: 'single',
  title: 'install the VM application, after a version that is refused, and remove and install it again',
  needs: ['vm', 'gallery'],
  minutes: 25,
  proves: ['install-vm-application', 'install-vm-application-config'],
  run: async (context) => {
    const machine = machineOf(context, 'vm');
    const first = versionId(context, 'x64', 'first');
    await removeAll(context, tools, machine);
    const { file, isShown } = await refusedByApplication(context, machine, 'x64');
    await setApplication(context, machine, []);
    await setApplication(context, machine, [first]);
    await verifyBridge(context, tools, machine, 'vm-application');
    context.report({
      assumption: 'install-vm-application',
      verdict: isShown ? 'proven' : 'refuted',
      evidence: `A version with a wrong configuration ${isShown ? 'failed with 53' : 'was not reported with 53'}, one with a right one was installed.`,
      file,
    });
    const configuration = await configurationOn(context, tools, machine);
    const isPublished = isDeepStrictEqual(configuration, configurationOf(context.found));
    context.report({
      assumption: 'install-vm-application-config',
      verdict: isPublished ? 'proven' : 'refuted',
      evidence: `The configuration on ${machine.name} ${isPublished ? 'is' : 'is not'} the published one, which the gallery read from a private container.`,
      file: context.save('vm-application-config.json', `${JSON.stringify(configuration, null, 2)}\n`),
    });
    await setApplication(context, machine, []);
    await verifyRemoved(context, tools, machine);
    await setApplication(context, machine, [first]);
    await verifyBridge(context, tools, machine, 'vm-application-again');
  },
});

/** The template with which the policy changes the version of one application. */
function policyTemplate({ run, save }: StepContext): string {
  const policy = JSON.parse(readFileSync(join(root, 'infra/policy/update-virtual-machine.json'), 'utf8'));
  const { template } = policy.then.details.deployment.properties;
  return join(run.folder, save('update-virtual-machine.template.json', `${JSON.stringify(template, null, 2)}\n`));
}

const streamIdScript = `${bridgeCommand('linux', 'status --json')} | grep -o '"streamId": *"[^"]*"' | head -n 1`;

const installUpdate = (tools: AzureTools): Step => ({
  ...onExistingMachines,
  id: 'install-vm-application-update',
  lane: 'single',
  title: 'update the VM application as the policy does, beside another application',
  needs: ['install-vm-application'],
  minutes: 15,
  proves: ['install-vm-application-update', 'policy-update-one-application'],
  run: async (context) => {
    const { az, run, found, report, save } = context;
    const machine = machineOf(context, 'vm');
    const at = { group: machine.resourceGroup, name: machine.name };
    const streamId = async (): Promise<string> => {
      const { stdout, stderr } = await runOn(context, tools, machine, { name: 'stream-id', script: streamIdScript });
      if (stdout === '') throw new Error(`status on ${machine.name} shows no streamId: ${stderr}`);
      return stdout;
    };
    const other = await publishOther(context);
    await setApplication(context, machine, [versionId(context, 'x64', 'first'), other]);
    await verifyBridge(context, tools, machine, 'vm-application-beside');
    const before = await streamId();
    const next = versionId(context, 'x64', 'next');
    await deployTemplate(context, {
      name: namesOf(run).deployment('update-application'),
      scope: { group: machine.resourceGroup },
      template: policyTemplate(context),
      parameters: {
        virtualMachineName: machine.name,
        location: run.location,
        applicationName: applicationName('x64'),
        packageReferenceId: next,
      },
    });
    const answer = await az.call(listApplications(run, at));
    const file = save('applications-after-update.json', `${JSON.stringify(answer, null, 2)}\n`);
    const text = JSON.stringify(answer).toLowerCase();
    const [hasNext, hasOther] = [next, other].map((id) => text.includes(id.toLowerCase()));
    report({
      assumption: 'policy-update-one-application',
      verdict: hasNext && hasOther ? 'proven' : 'refuted',
      evidence: `After the template of the policy, the VM ${hasNext ? 'names' : 'does not name'} the next version, and ${hasOther ? 'still names' : 'no longer names'} the other application.`,
      file,
    });
    const wanted = nextConfiguration(found);
    await retry(
      context,
      tools,
      { what: `the update on ${machine.name}`, everySeconds: 30, limitMinutes: 15 },
      async () => {
        if (!isDeepStrictEqual(await configurationOn(context, tools, machine), wanted)) throw new NotUpdated();
      },
      (error) => error instanceof NotUpdated,
    );
    await verifyBridge(context, tools, machine, 'vm-application-updated');
    const after = await streamId();
    report({
      assumption: 'install-vm-application-update',
      verdict: before === after ? 'proven' : 'refuted',
      evidence: `The update brought the configuration of the next version; ${before} before, ${after} after it.`,
      file,
    });
  },
});

class NotUpdated extends Error {
  constructor() {
    super('The VM still has the configuration of the version before.');
  }
}

export const linuxInstallSteps = (tools: AzureTools): readonly Step[] => [
  installCustomScript(tools),
  installSecond(tools),
  installDebianPackage(tools),
  installVmApplication(tools),
  installUpdate(tools),
];
