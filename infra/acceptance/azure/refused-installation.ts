import { AzError } from '../az.ts';
import { isAnswer } from '../az-errors.ts';
import type { StepContext } from '../step.ts';
import { DeploymentError } from './deployment.ts';
import type { MachineFound } from './found.ts';
import { refusedConfiguration, versionId } from './gallery.ts';
import { deployExtension, setApplication } from './install-ways.ts';
import { showExtensions } from './machine-commands.ts';
import type { AzureTools } from './tools.ts';

/** What Azure says of an installation that must fail; null if it succeeds. Other failures are thrown. */
export async function refusalOf(attempt: () => Promise<unknown>): Promise<string | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    if (error instanceof DeploymentError || (error instanceof AzError && isAnswer(error))) return error.message;
    throw error;
  }
}

/** How Azure shows the exit code of an installation whose configuration is wrong: `exit status=53`, `exit code of: '53'`. */
const wrongConfiguration = /(code|status)[^\d\n]{0,10}53\b/i;

/** Installs with a wrong configuration by the Custom Script extension; returns what Azure says, and whether it shows the exit code. */
export async function refusedByExtension(context: StepContext, tools: AzureTools, machine: MachineFound) {
  const message = await refusalOf(() => deployExtension(context, tools, machine, refusedConfiguration));
  const file = context.save(`${machine.name}.custom-script-refused.txt`, `${message ?? 'it was accepted'}\n`);
  return { file, isShown: message !== null && wrongConfiguration.test(message) };
}

/** Assigns the version with a wrong configuration; returns where what Azure says is kept, and whether it fails and shows the exit code. */
export async function refusedByApplication(context: StepContext, machine: MachineFound, shortName: 'x64' | 'win-x64') {
  const { az, run, save } = context;
  const message = await refusalOf(() => setApplication(context, machine, [versionId(context, shortName, 'refused')]));
  const extensions = await az.call(showExtensions(run, { group: machine.resourceGroup, name: machine.name }));
  const text = `${message ?? 'it was accepted'}\n${JSON.stringify(extensions, null, 2)}\n`;
  return {
    file: save(`${machine.name}.vm-application-refused.txt`, text),
    isShown: message !== null && wrongConfiguration.test(text),
  };
}
