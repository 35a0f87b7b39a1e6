import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gzipOf, tar } from '../../../infra/package/tar.ts';
import { applicationCommands, scriptCommand, scriptModules } from '../../host-install/azure-commands.ts';
import { deployedBy } from '../../tools/bicep/deployed.ts';
import { evaluateFile } from '../../tools/bicep/evaluate.ts';
import { textOf } from '../../tools/bicep/files.ts';
import { createProject } from '../../tools/bicep/project.ts';
import { moment, newFolder } from './harness.ts';

const commands = applicationCommands();
const printingScript = (name: string, code = 0): string =>
  `#!/bin/sh\necho "${name} $*"; cat "$1" 2>/dev/null\nexit ${code}\n`;

/** The package as it arrives on a machine: its scripts only print how they are called. */
async function packageFile(into: string, name: string, code = 0): Promise<void> {
  const scripts = ['install.sh', 'update.sh'].map((path) => ({
    path,
    mode: 0o755 as const,
    content: Buffer.from(printingScript(path, code)),
  }));
  writeFileSync(
    join(into, name),
    await gzipOf(tar(scripts, { top: 'scheduled-events-bridge-1.2.3-linux-x64/', at: moment })),
  );
}

function runIn(folder: string, shell: '/bin/bash' | '/bin/sh', line: string) {
  const { status, stdout } = spawnSync(shell, ['-c', line], { cwd: folder, encoding: 'utf8' });
  return { status, output: stdout.trim() };
}

test.for(['install', 'update'] as const)(
  'a VM application can %s with its configuration, repeatedly',
  async (action) => {
    const folder = newFolder();
    await packageFile(folder, commands.packageFileName);
    writeFileSync(join(folder, commands.configFileName), 'the configuration');
    const expected = { status: 0, output: `${action}.sh config.json\nthe configuration` };
    for (const _ of [1, 2]) expect(runIn(folder, '/bin/bash', commands[action])).toEqual(expected);
  },
);

test.for(['install', 'update'] as const)(
  'a VM application fails when its %s fails, with the same code',
  async (action) => {
    const folder = newFolder();
    await packageFile(folder, commands.packageFileName, 53);
    expect(runIn(folder, '/bin/bash', commands[action]).status).toBe(53);
    writeFileSync(join(folder, commands.packageFileName), 'cut off');
    expect(runIn(folder, '/bin/bash', commands[action]).status).not.toBe(0);
  },
);

const removals: readonly { name: string; remover: number | null; status: number; output: string }[] = [
  { name: 'is removed by the version that runs', remover: 0, status: 0, output: 'remove.sh' },
  { name: 'that cannot be removed fails', remover: 22, status: 22, output: 'remove.sh' },
  { name: 'that was refused, or removed manually, can be removed', remover: null, status: 0, output: '' },
];

test.for(removals)('a VM application $name', ({ remover, status, output }) => {
  const root = newFolder();
  const line = commands.remove.replaceAll('/opt/', '"$PWD"/opt/');
  const home = join(root, 'opt/scheduled-events-bridge');
  mkdirSync(home, { recursive: true });
  if (remover !== null) writeFileSync(join(home, 'remove.sh'), printingScript('remove.sh', remover), { mode: 0o755 });
  expect(runIn(root, '/bin/bash', line)).toEqual({ status, output });
});

test.for(scriptModules)(
  '%s brings package and configuration, and fails where one of them does not come',
  async (module) => {
    const name = 'scheduled-events-bridge-1.2.3-linux-x64.tar.gz';
    const folder = newFolder();
    const configuration = join(newFolder(), 'config.json');
    const text = '{ "observer": { "computer": "it\'s $HOME, \\"quoted\\"" } }';
    writeFileSync(configuration, text);
    const { line } = scriptCommand(module, { packageFile: name, configuration });
    expect(runIn(folder, '/bin/sh', line).status).not.toBe(0);
    expect(existsSync(join(folder, 'config.json'))).toBe(false);
    await packageFile(folder, name);
    for (const _ of [1, 2])
      expect(runIn(folder, '/bin/sh', line)).toEqual({ status: 0, output: `install.sh config.json\n${text}` });
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(text);
    await packageFile(folder, name, 22);
    expect(runIn(folder, '/bin/sh', line).status).toBe(22);
  },
);

test.for(scriptModules)(
  '%s leaves one copy of the runtime on the VM: the unpacked one goes, and comes again with the next run',
  async (module) => {
    const folder = newFolder();
    const files = ['install.sh', 'node'].map((path) => ({
      path,
      mode: 0o755 as const,
      content: Buffer.from(printingScript(path)),
    }));
    const archive = await gzipOf(tar(files, { top: 'scheduled-events-bridge-1.2.3-linux-x64/', at: moment }));
    writeFileSync(join(folder, 'package.tar.gz'), archive);
    const { line } = scriptCommand(module, { packageFile: 'package.tar.gz', configuration: '/dev/null' });
    for (const _ of [1, 2]) {
      expect(runIn(folder, '/bin/sh', line).status).toBe(0);
      expect(readdirSync(folder).toSorted()).toEqual(['config.json', 'install.sh', 'package.tar.gz']);
    }
  },
);

test.for(scriptModules)('%s installs nothing where its configuration cannot be written', async (module) => {
  const name = 'package.tar.gz';
  const folder = newFolder();
  await packageFile(folder, name);
  mkdirSync(join(folder, 'config.json'));
  const { line } = scriptCommand(module, { packageFile: name, configuration: '/dev/null' });
  const { status, output } = runIn(folder, '/bin/sh', line);
  expect(output).toBe('');
  expect(status).not.toBe(0);
});

// Azure refuses another command for a version that is published, so a fleet that is deployed again with another one fails.
test('the commands of a VM application for Linux are those of the first release', () => {
  expect(commands).toEqual({
    packageFileName: 'scheduled-events-bridge.tar.gz',
    configFileName: 'config.json',
    install: 'tar -xzf scheduled-events-bridge.tar.gz --strip-components=1 && ./install.sh config.json',
    update: 'tar -xzf scheduled-events-bridge.tar.gz --strip-components=1 && ./update.sh config.json',
    remove: 'test ! -e /opt/scheduled-events-bridge/remove.sh || /opt/scheduled-events-bridge/remove.sh',
  });
});

const forWindows = JSON.parse(textOf('infra/package/windows/commands.json') ?? '');

test('a VM application for Windows has the commands of the package', () => {
  const { customScript, ...actions } = forWindows;
  expect(applicationCommands('win-x64')).toEqual(actions);
  expect(customScript).toContain('<package>');
  // cmd.exe /C takes away the first quotation mark and the last where a command begins with one.
  expect(Object.values(forWindows).filter((command) => String(command).startsWith('"'))).toEqual([]);
});

test.for(scriptModules)('%s installs on Windows by the extension for Windows', (module) => {
  const folder = newFolder();
  const configuration = join(folder, 'config.json');
  const text = '{ "observer": { "computer": "it\'s %PATH% & é" } }';
  writeFileSync(configuration, text);
  const packageFile = 'bridge/1.2.3/scheduled-events-bridge-1.2.3-win-x64.zip';
  const { handler, settings, line } = scriptCommand(module, { osType: 'Windows', packageFile, configuration });
  expect(handler).toBe('Microsoft.Compute CustomScriptExtension 1.10');
  expect(settings).toMatchObject({
    managedIdentity: { clientId: 'id' },
    fileUris: [`https://store.blob.core.windows.net/packages/${packageFile}`],
  });
  const [, path, base64 = ''] = /-LiteralPath '([^']*\.zip)'.*FromBase64String\('([^']*)'\)/.exec(line) ?? [];
  expect(path).toBe(packageFile);
  expect(Buffer.from(base64, 'base64').toString()).toBe(text);
  expect(line).not.toMatch(/<\w+>/);
});

// https://learn.microsoft.com/troubleshoot/windows-client/shell-experience/command-line-string-limitation
test.for(scriptModules)('%s has a command line for Windows that 5,000 bytes of configuration fit into', (module) => {
  const folder = newFolder();
  const configuration = join(folder, 'config.json');
  writeFileSync(configuration, 'x'.repeat(5000));
  const packageFile = `${'f/'.repeat(64)}scheduled-events-bridge-10.20.30-win-x64.zip`;
  const { line } = scriptCommand(module, { osType: 'Windows', packageFile, configuration });
  expect(line.length).toBeLessThan(8191);
});

test.for(scriptModules)('%s installs on Linux by the extension for Linux', (module) => {
  const { handler } = scriptCommand(module, { packageFile: 'x.tar.gz', configuration: '/dev/null' });
  expect(handler).toBe('Microsoft.Azure.Extensions CustomScript 2.1');
});

type Body = Readonly<Record<string, unknown>>;

/** What a parameter file deploys of one type; `change` turns its text. */
function bodiesOf(parameterFile: string, type: string, change = (text: string) => text): readonly Body[] {
  const read = (path: string) => (path === parameterFile ? change(textOf(path) ?? '') : textOf(path));
  return deployedBy(createProject(read, null), parameterFile).flatMap((one) => (one.type === type ? [one.body] : []));
}

test('a version is published for each processor, where the VMs are and the gallery is, and never as the latest', () => {
  const published = bodiesOf(
    'infra/params/fleet.bicepparam',
    'Microsoft.Compute/galleries/applications/versions',
    (text) => text.replace("region: 'westeurope'", "region: 'francecentral'"),
  );
  const at = 'https://examplepackages.blob.core.windows.net';
  const copy = { regionalReplicaCount: 1, storageAccountType: 'Standard_LRS' };
  const archives = [
    ['linux-x64.tar.gz', 'scheduled-events-bridge.tar.gz'],
    ['linux-arm64.tar.gz', 'scheduled-events-bridge.tar.gz'],
    ['win-x64.zip', 'scheduled-events-bridge.zip'],
  ];
  const expected = archives.map(([archive, packageFileName]) => ({
    publishingProfile: {
      source: {
        mediaLink: `${at}/packages/scheduled-events-bridge-1.0.0-${archive}`,
        defaultConfigurationLink: `${at}/configurations/europe-1.0.0.json`,
      },
      settings: {
        packageFileName,
        configFileName: 'config.json',
        // An installation that a reboot cut off is done again.
        scriptBehaviorAfterReboot: 'Rerun',
      },
      targetRegions: ['francecentral', 'westeurope', 'northeurope'].map((name) => ({ name, ...copy })),
      excludeFromLatest: true,
    },
    // A scale set that names a version needs it for every new instance.
    safetyProfile: { allowDeletionOfReplicatedLocations: false },
  }));
  expect(published.map(({ properties }) => properties)).toMatchObject(expected);
});

// Azure installs an application only on its own operating system, and neither that nor a name can be changed.
test('there is an application for each operating system and processor, and those for Linux keep their names', () => {
  const applications = bodiesOf('infra/params/fleet.bicepparam', 'Microsoft.Compute/galleries/applications');
  expect(applications.map(({ name, properties }) => [name, Object(properties).supportedOSType])).toEqual([
    ['scheduled-events-bridge-europe-x64', 'Linux'],
    ['scheduled-events-bridge-europe-arm64', 'Linux'],
    ['scheduled-events-bridge-europe-win-x64', 'Windows'],
  ]);
});

test.for([
  { file: 'vm', linux: true },
  { file: 'vm-windows', linux: false },
])('the VM of $file.bicepparam has what its operating system needs, and nothing of the other', ({ file, linux }) => {
  const [machine] = bodiesOf(`infra/params/${file}.bicepparam`, 'Microsoft.Compute/virtualMachines');
  const { osProfile, storageProfile } = Object(machine?.properties);
  expect({
    hasKeys: osProfile.linuxConfiguration !== null,
    hasPassword: osProfile.adminPassword !== null,
    hasWindows: osProfile.windowsConfiguration !== null,
    publisher: storageProfile.imageReference.publisher,
  }).toEqual({
    hasKeys: linux,
    hasPassword: !linux,
    hasWindows: !linux,
    publisher: linux ? 'Canonical' : 'MicrosoftWindowsServer',
  });
});

test('a VM deployed alone fails when its application does', () => {
  const [machine] = bodiesOf('infra/params/vm.bicepparam', 'Microsoft.Compute/virtualMachines', (text) =>
    text.replace("delivery = 'script'", "delivery = 'application'"),
  );
  expect(machine?.properties).toMatchObject({
    applicationProfile: {
      galleryApplications: [{ treatFailureAsDeploymentFailure: true, enableAutomaticUpgrade: false }],
    },
  });
});

// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftcompute
test('a VM with Windows has a host name of 15 characters at most, whatever its name', () => {
  const [machine] = bodiesOf('infra/params/vm-windows.bicepparam', 'Microsoft.Compute/virtualMachines', (text) =>
    text.replace("'vm-events-win'", "'vm-scheduled-events-in-westeurope'"),
  );
  expect(machine?.name).toBe('vm-scheduled-events-in-westeurope');
  expect(Object(machine?.properties).osProfile.computerName).toBe('vm-scheduled-ev');
});

test.for(scriptModules)('%s takes a configuration that no log of a deployment shows', (module) => {
  const source = textOf(`bicep/modules/${module}.bicep`);
  expect(source).toContain('@secure()\nparam configuration string\n');
});

test('other extensions of a scale set may wait for the one of the bridge', () => {
  const given = { scaleSetName: 's', packageUri: 'https://x/y', identityClientId: 'id', configuration: '{}' };
  const path = 'bicep/modules/scale-set-extension.bicep';
  const [extension] = evaluateFile(createProject(textOf, null), path, given).bodies('extension');
  // Azure does not wait for an extension without settings.
  expect(extension?.properties).toMatchObject({ settings: {}, provisionAfterExtensions: [] });
});
