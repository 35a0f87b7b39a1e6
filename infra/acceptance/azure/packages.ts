import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bridgeConfiguration } from '../../bridge-configuration.ts';
import { AzError } from '../az.ts';
import type { Step, StepContext, StepOptions } from '../step.ts';
import { assignRole } from './commands.ts';
import { foundBy, type PackagesFound } from './found.ts';
import { namesOf } from './names.ts';
import { forPackages } from './prices.ts';
import { createContainer, createStorageAccount, uploadBlob } from './storage-commands.ts';
import { type AzureTools, retry } from './tools.ts';

/** The configuration of the bridges: only a person approves events, so that notices last as long as Azure says. */
export const configurationOf = (found: StepContext['found']) =>
  bridgeConfiguration(foundBy(found, 'platform').settings, 'acceptDelay');

/** As `npm run package` names them. */
const archivePattern = /^scheduled-events-bridge-(.+)-(linux-x64\.tar\.gz|win-x64\.zip)$/;
const debianPattern = /^scheduled-events-bridge_.+_amd64\.deb$/;

/** Azure's answers until a new role is known everywhere. https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes */
export const isNotYetPermitted = (error: unknown): boolean =>
  error instanceof AzError &&
  /AuthorizationPermissionMismatch|AuthorizationFailure|do not have the required permissions|not authorized to perform/i.test(
    `${error.code} ${error.message}`,
  );

export const packages = (options: StepOptions, tools: AzureTools): Step => ({
  id: 'packages',
  title: 'build the packages and upload them',
  phase: 'deploy',
  needs: ['platform'],
  creates: ['a storage account with the packages and a configuration'],
  rights: ['Contributor on the subscription', 'Role Based Access Control Administrator on the subscription'],
  cost: forPackages(),
  minutes: 10,
  proves: [],
  run: async (context) => {
    const { az, run, found, signal, say, save } = context;
    const folder = join(run.folder, 'packages');
    save(
      'build.txt',
      await tools.buildPackages(folder, options.windows ? ['linux-x64', 'win-x64'] : ['linux-x64'], signal),
    );
    const built = packagesIn(readdirSync(folder));
    if (options.windows && built.windows === null) say('no package for Windows could be built: build.txt says why');

    const names = namesOf(run);
    const account = (await az.call(
      createStorageAccount(run, {
        group: run.groups.platform,
        name: names.storageAccount,
        location: run.location,
        tags: run.tags,
      }),
    )) as { id: string };
    await az.call(
      createContainer(run, { group: run.groups.platform, account: names.storageAccount, name: names.container }),
    );
    const login = foundBy(found, 'login');
    await az.call(
      assignRole(run, {
        principalId: login.principalId,
        principalType: login.principalType,
        role: 'Storage Blob Data Contributor',
        scope: account.id,
      }),
    );
    await az.call(
      assignRole(run, {
        principalId: foundBy(found, 'platform').identityPrincipalId,
        principalType: 'ServicePrincipal',
        role: 'Storage Blob Data Reader',
        scope: `${account.id}/blobServices/default/containers/${names.container}`,
      }),
    );
    const configuration = join(run.folder, save('config.json', JSON.stringify(configurationOf(found))));
    const files = [
      ...[built.linux, built.debian, ...(built.windows === null ? [] : [built.windows])].map((name) => ({
        name,
        file: join(folder, name),
      })),
      { name: 'config.json', file: configuration },
    ];
    for (const { name, file } of files) {
      await retry(
        context,
        tools,
        { what: 'the role on the storage account', everySeconds: 30, limitMinutes: 30 },
        () => az.call(uploadBlob(run, { account: names.storageAccount, container: names.container, name, file })),
        isNotYetPermitted,
      );
    }
    const address = (name: string): string =>
      `https://${names.storageAccount}.blob.core.windows.net/${names.container}/${name}`;
    found.set('packages', {
      account: names.storageAccount,
      accountResourceId: account.id,
      container: names.container,
      version: built.version,
      configuration: address('config.json'),
      linuxArchive: address(built.linux),
      debianPackage: address(built.debian),
      windowsArchive: built.windows === null ? null : address(built.windows),
    } satisfies PackagesFound);
    say(`uploaded ${files.length} files of version ${built.version}`);
  },
});

/** Names and version of the packages in a folder. */
export function packagesIn(names: readonly string[]) {
  const archive = (ending: string): string | undefined =>
    names.find((name) => archivePattern.exec(name)?.[2] === ending);
  const linux = archive('linux-x64.tar.gz');
  const debian = names.find((name) => debianPattern.test(name));
  if (linux === undefined || debian === undefined) {
    throw new Error(`The packages for Linux are not among the files that were built: ${names.join(', ')}.`);
  }
  return {
    version: archivePattern.exec(linux)?.[1] as string,
    linux,
    debian,
    windows: archive('win-x64.zip') ?? null,
  };
}
