import type { Step, StepContext } from '../step.ts';
import { machineOf, onExistingMachines } from './existing-machine.ts';
import { foundBy, type MachineFound } from './found.ts';
import { deployExtension, removeAll, setApplication, verifyBridge } from './install-ways.ts';
import { refusedByApplication, refusedByExtension } from './refused-installation.ts';
import { runOn } from './run-script.ts';
import type { AzureTools } from './tools.ts';

const installOnWindows = (tools: AzureTools): Step => ({
  ...onExistingMachines,
  id: 'install-windows',
  lane: 'windows',
  title:
    'verify the installation on Windows by the Custom Script extension, refuse and remove it, and install the VM application',
  needs: ['windows-vm', 'gallery'],
  minutes: 40,
  proves: ['windows-package-custom-script', 'windows-package-signature'],
  run: async (context) => {
    const machine = machineOf(context, 'windows-vm');
    await verifyBridge(context, tools, machine, 'custom-script');
    await verifySignature(context, tools, machine);
    const { file, isShown } = await refusedByExtension(context, tools, machine);
    await removeAll(context, tools, machine);
    await deployExtension(context, tools, machine);
    await verifyBridge(context, tools, machine, 'custom-script-reinstalled');
    context.report({
      assumption: 'windows-package-custom-script',
      verdict: isShown ? 'proven' : 'refuted',
      evidence: `${machine.name}: the service runs; a wrong configuration ${isShown ? 'failed the deployment with 53' : 'was not reported with 53'}; it was removed and installed again.`,
      file,
    });
    const { windowsVersion } = foundBy(context.found, 'gallery');
    if (windowsVersion === null) throw new Error('No version of the VM application for Windows was published.');
    await removeAll(context, tools, machine);
    const refusal = await refusedByApplication(context, machine, 'win-x64');
    if (!refusal.isShown) {
      throw new Error(
        `Azure does not show that the VM application with a wrong configuration ended with 53: see ${refusal.file}.`,
      );
    }
    await setApplication(context, machine, []);
    await setApplication(context, machine, [windowsVersion]);
    await verifyBridge(context, tools, machine, 'vm-application');
  },
});

const signatureScript =
  '(Get-AuthenticodeSignature -FilePath (Get-Item -Path "$env:ProgramW6432\\scheduled-events-bridge\\versions\\*\\node.exe")[0].FullName).Status.ToString()';

async function verifySignature(context: StepContext, tools: AzureTools, machine: MachineFound): Promise<void> {
  const { stdout, stderr } = await runOn(context, tools, machine, { name: 'signature', script: signatureScript });
  if (stdout === '') throw new Error(`The signature of node.exe could not be read: ${stderr}`);
  context.report({
    assumption: 'windows-package-signature',
    verdict: stdout === 'Valid' ? 'proven' : 'refuted',
    evidence: `Windows says of the signature of node.exe on ${machine.name}: ${stdout}.`,
  });
}

export const windowsInstallSteps = (tools: AzureTools): readonly Step[] => [installOnWindows(tools)];
