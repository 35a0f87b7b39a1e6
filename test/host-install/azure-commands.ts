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

/** The VM application, as `vm-application.bicep` publishes it: command lines for /bin/bash, and under which names the files come. */
export function applicationCommands() {
  const published = deployed('vm-application', 'applicationVersion', {
    galleryName: 'gallery',
    platformName: 'europe',
    architectures: ['x64'],
    versions: [{ name: '1.0.0', packages: { x64: 'https://x' }, configurationUri: 'https://y' }],
    location: 'westeurope',
    regions: [],
    replicasPerRegion: 1,
    osType: 'Linux',
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

/** The Custom Script extension of a VM or a scale set: its name, and the command line for /bin/sh. `configuration`: a file. */
export function scriptCommand(
  module: (typeof scriptModules)[number],
  { packageFile, configuration }: { readonly packageFile: string; readonly configuration: string },
) {
  const extension = deployed(module, 'extension', {
    packageUri: `https://store.blob.core.windows.net/packages/${packageFile}`,
    identityClientId: 'id',
    configuration: '',
    virtualMachineName: 'vm',
    scaleSetName: 'set',
    provisionAfterExtensions: [],
  });
  const command = text(extension, 'properties', 'protectedSettings', 'commandToExecute');
  return {
    name: text(extension, 'name'),
    // What Azure makes of base64(), the reader of Bicep leaves as it stands.
    line: command.replace(/«base64\(.*\)»/, readFileSync(configuration).toString('base64')),
  };
}
