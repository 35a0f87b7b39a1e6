import type { ServiceStatus } from '../../../src/service/status.ts';
import type { StepContext } from '../step.ts';
import { bridgeCommand, installDebianPackage, listLeftovers, removeBridge } from './bridge-scripts.ts';
import { DeploymentError, deployTemplate, isNotFound } from './deployment.ts';
import { foundBy, type MachineFound } from './found.ts';
import { deleteExtension, setApplications } from './machine-commands.ts';
import { namesOf } from './names.ts';
import { configurationOf } from './packages.ts';
import { runOn } from './run-script.ts';
import { type AzureTools, retry } from './tools.ts';

/** Of the extension, in `bicep/modules/vm-extension.bicep`. */
export const extensionName = 'scheduled-events-bridge';

/** Until the role of the bridges' identity on the container is known everywhere, the extension cannot download the package. */
const isDownloadRefused = (error: unknown): boolean =>
  error instanceof DeploymentError &&
  error.failures.some(({ message }) => /AuthorizationPermissionMismatch|\b403\b|not authorized/i.test(message));

/** Repeats a deployment with the extension while its download is refused; in between, the extension that failed is removed. */
export const whileExtensionIsRefused = <T>(
  context: StepContext,
  tools: AzureTools,
  attempt: () => Promise<T>,
  removeExtension: () => Promise<unknown>,
): Promise<T> =>
  retry(
    context,
    tools,
    { what: 'the role of the identity on the packages', everySeconds: 120, limitMinutes: 30 },
    () =>
      attempt().catch(async (error: unknown) => {
        if (isDownloadRefused(error)) await removeExtension();
        throw error;
      }),
    isDownloadRefused,
  );

/** Installs the bridge on a VM by the Custom Script extension; `configuration` replaces that of the run. */
export async function deployExtension(
  context: StepContext,
  tools: AzureTools,
  machine: MachineFound,
  configuration = JSON.stringify(configurationOf(context.found)),
): Promise<void> {
  const { run, found } = context;
  const { linuxArchive, windowsArchive } = foundBy(found, 'packages');
  await whileExtensionIsRefused(
    context,
    tools,
    () =>
      deployTemplate(context, {
        name: namesOf(run).deployment(`extension-${machine.name}`),
        scope: { group: machine.resourceGroup },
        template: 'bicep/modules/vm-extension.bicep',
        parameters: {
          virtualMachineName: machine.name,
          location: run.location,
          osType: machine.os === 'windows' ? 'Windows' : 'Linux',
          packageUri: machine.os === 'windows' ? windowsArchive : linuxArchive,
          identityClientId: foundBy(found, 'platform').settings.identityClientId,
          configuration,
          tags: run.tags,
        },
      }),
    () => removeExtension(context, machine),
  );
}

/** Removes the extension, which leaves the bridge on the VM. */
export async function removeExtension({ az, run }: StepContext, machine: MachineFound): Promise<void> {
  try {
    await az.call(deleteExtension(run, { group: machine.resourceGroup, name: machine.name }, extensionName));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Downloads the `.deb` on the VM, installs it and configures the service. */
export async function installDeb(context: StepContext, tools: AzureTools, machine: MachineFound): Promise<void> {
  const { found } = context;
  const script = installDebianPackage({
    address: foundBy(found, 'packages').debianPackage,
    identityClientId: foundBy(found, 'platform').settings.identityClientId,
    // The same in every cloud: https://learn.microsoft.com/azure/storage/blobs/authorize-access-azure-active-directory#microsoft-authentication-library-msal
    audience: 'https://storage.azure.com',
    configuration: JSON.stringify(configurationOf(found)),
  });
  const { exitCode, stdout, stderr } = await runOn(context, tools, machine, { name: 'install-deb', script });
  if (exitCode !== 0) {
    throw new Error(
      `The .deb could not be installed on ${machine.name} (${exitCode}): ${lastLine(stderr) ?? lastLine(stdout)}`,
    );
  }
}

export const setApplication = async (
  { az, run }: StepContext,
  machine: MachineFound,
  versions: readonly string[],
): Promise<void> => {
  await az.call(setApplications(run, { group: machine.resourceGroup, name: machine.name }, versions), {
    timeoutMinutes: 45,
  });
};

/** Identifies one start of the service. */
export type RunningBridge = Pick<NonNullable<ServiceStatus['service']>, 'pid' | 'since'>;

/** Verifies by `service status` and `check` that the bridge runs and reaches both destinations. */
export async function verifyBridge(
  context: StepContext,
  tools: AzureTools,
  machine: MachineFound,
  way: string,
): Promise<RunningBridge> {
  const { save, say } = context;
  const status = await runOn(context, tools, machine, {
    name: `${way}-status`,
    script: bridgeCommand(machine.os, 'service status --json'),
  });
  save(`${machine.name}.${way}-status.json`, `${status.stdout}\n`);
  const { installed, service, version } = statusIn(status.stdout);
  if (!installed || service?.active !== 'active') {
    throw new Error(
      `After the installation by ${way}, the bridge on ${machine.name} is ${installed ? (service?.active ?? 'without a service manager') : 'not installed'}: ${lastLine(status.stderr) ?? status.stdout}`,
    );
  }
  const check = await retry(
    context,
    tools,
    { what: `the roles of the identity, as seen on ${machine.name}`, everySeconds: 60, limitMinutes: 30 },
    async () => {
      const result = await runOn(context, tools, machine, {
        name: `${way}-check`,
        script: bridgeCommand(machine.os, 'check'),
      });
      if (result.exitCode !== 0) throw new CheckFailed(machine.name, result);
      return result;
    },
    (error) => error instanceof CheckFailed,
  );
  save(`${machine.name}.${way}-check.txt`, `${check.stdout}\n`);
  say(`${machine.name}: ${version} installed by ${way}; the service is active and check finds no problem`);
  return { pid: service.pid, since: service.since };
}

/** Thrown while `check` on a VM finds problems. */
class CheckFailed extends Error {
  constructor(
    machine: string,
    { exitCode, stdout, stderr }: { exitCode: number | null; stdout: string; stderr: string },
  ) {
    super(`check on ${machine} ends with ${exitCode}: ${lastLine(stderr) ?? lastLine(stdout) ?? 'without output'}`);
  }
}

/** What `service status --json` printed. */
function statusIn(stdout: string): Pick<ServiceStatus, 'installed' | 'service' | 'version'> {
  try {
    return JSON.parse(stdout);
  } catch {
    return { installed: false, service: null, version: null };
  }
}

/** Removes the bridge from a VM, however it was installed. */
export async function removeAll(context: StepContext, tools: AzureTools, machine: MachineFound): Promise<void> {
  // First, since Azure may refuse to change a VM with an extension that failed.
  await removeExtension(context, machine);
  await setApplication(context, machine, []);
  const { exitCode, stderr } = await runOn(context, tools, machine, {
    name: 'remove',
    script: removeBridge(machine.os),
  });
  if (exitCode !== 0)
    throw new Error(`The bridge could not be removed from ${machine.name} (${exitCode}): ${lastLine(stderr)}`);
  await verifyRemoved(context, tools, machine);
}

export async function verifyRemoved(context: StepContext, tools: AzureTools, machine: MachineFound): Promise<void> {
  const { stdout } = await runOn(context, tools, machine, { name: 'leftovers', script: listLeftovers(machine.os) });
  if (stdout !== '')
    throw new Error(`After the removal, ${machine.name} still has ${stdout.split(/\s*\n/).join(', ')}.`);
}

const lastLine = (text: string): string | undefined =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .at(-1);
