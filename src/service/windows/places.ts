import { join } from 'node:path';
import { serviceName } from '../names.ts';

/** Where everything of an installation is. */
export type WindowsPlaces = ReturnType<typeof windowsPlaces>;

export const hostName = `${serviceName}-service.exe`;
export const definitionName = 'windows-service.json';

/** The folders of this machine; as a 64-bit program sees them, also where a 32-bit one has started this. */
export function foldersOf(env: NodeJS.ProcessEnv) {
  return {
    programFiles: env.ProgramW6432 ?? env.ProgramFiles ?? 'C:\\Program Files',
    programData: env.ProgramData ?? 'C:\\ProgramData',
  };
}

/** Only administrators can write below `programFiles`; any user can create folders in `programData`. */
export function windowsPlaces({
  programFiles,
  programData,
}: {
  readonly programFiles: string;
  readonly programData: string;
}) {
  const home = join(programFiles, serviceName);
  const data = join(programData, serviceName);
  const logs = join(data, 'logs');
  return {
    programFiles,
    home,
    /** One folder per version: the present one, which the image path of the service names, and the one before. */
    versions: join(home, 'versions'),
    command: join(home, `${serviceName}.cmd`),
    remover: join(home, 'remove.cmd'),
    /** What ran last and was ready: see `InstallationRecord`. Not readable by all users: it has a hash of the configuration. */
    record: join(home, 'installed.json'),
    /** The definition that the service was created with, or changed to: a copy of that of a version. */
    definition: join(home, definitionName),
    data,
    configuration: join(data, 'config.json'),
    /** The configuration before, until the new one has proven itself. */
    keptConfiguration: join(data, 'config.json.previous'),
    state: join(data, 'state'),
    cache: join(data, 'cache'),
    logs,
    log: join(logs, 'bridge.log'),
    /** What the service host reports of the service. */
    serviceState: join(logs, 'service.state'),
    /** Files that are in use are renamed into it, and deleted when they are not. */
    removed: join(programFiles, `${serviceName}.removed`),
    lock: join(programFiles, `${serviceName}-install.lock`),
    // assumption: install-arc
    /** The agent of Azure Arc, on machines outside of Azure. https://learn.microsoft.com/azure/azure-arc/servers/agent-overview */
    arcAgent: join(programFiles, 'AzureConnectedMachineAgent', 'himds.exe'),
  } as const;
}
