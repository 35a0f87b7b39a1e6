import { readFileSync } from 'node:fs';
import { evaluateFile } from '../tools/bicep/evaluate.ts';
import { textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';

type Body = Readonly<Record<string, unknown>>;
const under = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((one, name) => (one as Body | undefined)?.[name], value);
const text = (value: unknown, ...path: readonly string[]): string => String(under(value, ...path));

/** What a module deploys, given these parameters. */
const deployed = (module: string, name: string, given: Body): unknown =>
  evaluateFile(createProject(textOf, null), `bicep/modules/${module}.bicep`, given).bodies(name)[0];

/**
 * The VM application, as `vm-application.bicep` publishes it: command lines for /bin/bash or cmd.exe, and under which names the
 * files come.
 */
export function applicationCommands(target: 'linux-x64' | 'win-x64' = 'linux-x64') {
  const published = deployed('vm-application', 'applicationVersion', {
    galleryName: 'gallery',
    platformName: 'europe',
    targets: [target],
    versions: [{ name: '1.0.0', packages: { [target]: 'https://x' }, configurationUri: 'https://y' }],
    location: 'westeurope',
    regions: [],
    replicasPerRegion: 1,
  });
  const profile = under(published, 'properties', 'publishingProfile');
  return {
    install: text(profile, 'manageActions', 'install'),
    update: text(profile, 'manageActions', 'update'),
    remove: text(profile, 'manageActions', 'remove'),
    packageFileName: text(profile, 'settings', 'packageFileName'),
    configFileName: text(profile, 'settings', 'configFileName'),
  };
}

export const scriptModules = ['vm-extension', 'scale-set-extension'] as const;

interface Script {
  readonly osType?: 'Linux' | 'Windows';
  /** Its path in the container `packages`. */
  readonly packageFile: string;
  /** A file. */
  readonly configuration: string;
}

/** The Custom Script extension of a VM or a scale set, and its command line, for /bin/sh or cmd.exe. */
export function scriptCommand(
  module: (typeof scriptModules)[number],
  { osType = 'Linux', packageFile, configuration }: Script,
) {
  const extension = deployed(module, 'extension', {
    osType,
    packageUri: `https://store.blob.core.windows.net/packages/${packageFile}`,
    identityClientId: 'id',
    configuration: readFileSync(configuration, 'utf8'),
    virtualMachineName: 'vm',
    scaleSetName: 'set',
    provisionAfterExtensions: [],
  });
  return {
    name: text(extension, 'name'),
    handler: ['publisher', 'type', 'typeHandlerVersion'].map((key) => text(extension, 'properties', key)).join(' '),
    settings: under(extension, 'properties', 'protectedSettings') as Body,
    line: text(extension, 'properties', 'protectedSettings', 'commandToExecute'),
  };
}
