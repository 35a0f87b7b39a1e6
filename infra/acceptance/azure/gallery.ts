import { join } from 'node:path';
import { AzError } from '../az.ts';
import type { Run, Step, StepContext, StepOptions } from '../step.ts';
import { assignRole } from './commands.ts';
import { DeploymentError, deployTemplate, previewAgain, type TemplateDeployment } from './deployment.ts';
import { foundBy, type GalleryFound } from './found.ts';
import { namesOf } from './names.ts';
import { configurationOf } from './packages.ts';
import { free } from './prices.ts';
import {
  allowDeletionOfVersion,
  createApplication,
  createIdentity,
  createVersion,
  deleteVersion,
  listVersions,
  uploadBlob,
} from './storage-commands.ts';
import { type AzureTools, retry } from './tools.ts';

/** Part of the names of the applications. */
const platformName = 'acceptance';

type ShortName = 'x64' | 'win-x64';
type VersionRole = 'first' | 'next' | 'refused';

/** The versions of each application: one to install, one to update to, and one whose configuration the bridge refuses. They have three numbers. */
export function versionsOf(packageVersion: string): Readonly<Record<VersionRole, string>> {
  const [major = 0, minor = 0, patch = 0] = packageVersion.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  const of = (add: number): string => `${major}.${minor}.${patch + add}`;
  return { first: of(0), next: of(1), refused: of(2) };
}

/** A configuration with an option that does not exist: the installation ends with 53. */
export const refusedConfiguration = '{"sinks":{"eventHub":{}}}';

/** The configuration of the version to update to: that of the run, and an option that changes nothing but the log. */
export const nextConfiguration = (found: StepContext['found']) => ({
  ...configurationOf(found),
  log: { level: 'debug' },
});

const applicationOf = (run: Run, shortName: ShortName, version: string) => ({
  group: run.groups.platform,
  gallery: namesOf(run).gallery,
  application: applicationName(shortName),
  version,
});

export const applicationName = (shortName: ShortName): string => `scheduled-events-bridge-${platformName}-${shortName}`;

/** An application beside that of the bridge, which does nothing. */
const otherApplication = 'other';

const galleryId = (run: Run): string =>
  `/subscriptions/${run.subscription}/resourceGroups/${run.groups.platform}/providers/Microsoft.Compute/galleries/${namesOf(run).gallery}`;

/** Resource id of a version of the application. */
export function versionId({ run, found }: StepContext, shortName: ShortName, role: VersionRole): string {
  const version = versionsOf(foundBy(found, 'packages').version)[role];
  return `${galleryId(run)}/applications/${applicationName(shortName)}/versions/${version}`;
}

/** Publishes it, and returns the resource id of its version. */
export async function publishOther({ az, run, found }: StepContext): Promise<string> {
  const address = foundBy(found, 'packages').configuration;
  const other = { group: run.groups.platform, gallery: namesOf(run).gallery, application: otherApplication };
  await az.call(createApplication(run, { ...other, location: run.location }));
  await az.call(createVersion(run, { ...other, version: '1.0.0', location: run.location, address }));
  return otherVersionId(run);
}

const otherVersionId = (run: Run): string => `${galleryId(run)}/applications/${otherApplication}/versions/1.0.0`;

export const gallery = (_: StepOptions, tools: AzureTools): Step => ({
  id: 'gallery',
  title: 'publish the VM application',
  phase: 'deploy',
  needs: ['packages'],
  creates: ['a gallery with the VM application in two versions, and the identity with which it reads packages'],
  rights: ['Contributor on the subscription', 'Role Based Access Control Administrator on the subscription'],
  cost: free('the packages are counted in the step packages'),
  minutes: 20,
  proves: ['bicep-idempotent'],
  run: async (context) => {
    const { az, run, found } = context;
    const names = namesOf(run);
    const at = { group: run.groups.platform, location: run.location, tags: run.tags };
    const packages = foundBy(found, 'packages');
    const identity = (await az.call(createIdentity(run, { ...at, name: names.galleryIdentity }))) as {
      id: string;
      principalId: string;
    };
    await az.call(
      assignRole(run, {
        principalId: identity.principalId,
        principalType: 'ServicePrincipal',
        role: 'Storage Blob Data Contributor',
        scope: packages.accountResourceId,
      }),
    );
    const configurations = {
      'refused.json': refusedConfiguration,
      'next.json': JSON.stringify(nextConfiguration(found)),
    };
    for (const [name, text] of Object.entries(configurations)) {
      const file = join(run.folder, context.save(name, text));
      await az.call(uploadBlob(run, { account: packages.account, container: packages.container, name, file }));
    }
    await deployTemplate(context, {
      name: names.deployment('gallery'),
      scope: { group: run.groups.platform },
      template: 'bicep/modules/gallery.bicep',
      parameters: {
        name: names.gallery,
        location: run.location,
        publisherIdentityResourceId: identity.id,
        tags: run.tags,
      },
    });
    const template = applicationTemplate(context);
    await publish(context, tools, template);
    await previewAgain(context, template);
    found.set('gallery', {
      resourceId: galleryId(run),
      linuxVersion: versionId(context, 'x64', 'first'),
      windowsVersion: packages.windowsArchive === null ? null : versionId(context, 'win-x64', 'first'),
    } satisfies GalleryFound);
  },
});

function applicationTemplate({ run, found }: StepContext): TemplateDeployment {
  const { version, linuxArchive, windowsArchive, configuration } = foundBy(found, 'packages');
  const { first, next, refused } = versionsOf(version);
  const beside = (name: string): string => configuration.replace(/config\.json$/, name);
  const packages = { 'linux-x64': linuxArchive, ...(windowsArchive === null ? {} : { 'win-x64': windowsArchive }) };
  return {
    name: namesOf(run).deployment('application'),
    scope: { group: run.groups.platform },
    template: 'bicep/modules/vm-application.bicep',
    parameters: {
      galleryName: namesOf(run).gallery,
      location: run.location,
      platformName,
      regions: [run.location],
      targets: Object.keys(packages),
      versions: [
        { name: first, packages, configurationUri: configuration },
        { name: next, packages, configurationUri: beside('next.json') },
        { name: refused, packages, configurationUri: beside('refused.json') },
      ],
      tags: run.tags,
    },
  };
}

/** Until the role of the gallery is known everywhere, Azure cannot read the packages. A version that failed is deleted before the next attempt. */
async function publish(context: StepContext, tools: AzureTools, template: TemplateDeployment): Promise<void> {
  const { run, az, found } = context;
  const shortNames: readonly ShortName[] =
    foundBy(found, 'packages').windowsArchive === null ? ['x64'] : ['x64', 'win-x64'];
  const patience = { what: 'the role of the gallery on the storage account', everySeconds: 120, limitMinutes: 30 };
  await retry(
    context,
    tools,
    patience,
    async () => {
      try {
        await deployTemplate(context, template);
      } catch (error) {
        for (const name of shortNames) {
          for (const version of Object.values(versionsOf(foundBy(found, 'packages').version))) {
            await az.call(deleteVersion(run, applicationOf(run, name, version))).catch(ignoreRefusal);
          }
        }
        throw error;
      }
    },
    (error) =>
      error instanceof DeploymentError &&
      error.failures.every(({ message }) => /blob|access|permission|authoriz/i.test(message)),
  );
}

const ignoreRefusal = (error: unknown): void => {
  if (!(error instanceof AzError)) throw error;
};

export const galleryRemoveVersion: Step = {
  id: 'gallery-remove-version',
  title: 'delete a version of the VM application that no VM names',
  phase: 'install',
  needs: ['gallery'],
  creates: [],
  rights: ['Contributor on the subscription'],
  cost: free('only deletes'),
  minutes: 5,
  proves: ['gallery-delete-version'],
  run: async (context) => {
    const { az, run, found, report, save } = context;
    const { refused } = versionsOf(foundBy(found, 'packages').version);
    const version = applicationOf(run, 'x64', refused);
    const refusal = await az.call(deleteVersion(run, version), { isRepeatable: false }).then(
      () => null,
      (error: unknown) => {
        if (!(error instanceof AzError)) throw error;
        return error.code ?? error.message;
      },
    );
    if (refusal === null) {
      throw new Error(
        `Azure deleted version ${refused} although it was protected, so nothing is known about the way to delete it.`,
      );
    }
    await az.call(allowDeletionOfVersion(run, versionId(context, 'x64', 'refused')));
    await az.call(deleteVersion(run, version));
    const left = (await az.call(listVersions(run, version))) as readonly { name: string }[];
    const file = save('versions.json', `${JSON.stringify(left, null, 2)}\n`);
    const isThere = left.some(({ name }) => name === refused);
    report({
      assumption: 'gallery-delete-version',
      verdict: isThere ? 'refuted' : 'proven',
      evidence: isThere
        ? `Version ${refused} is still listed after its deletion.`
        : `Azure refused to delete version ${refused} (${refusal}), and deleted it after the property was set.`,
      file,
    });
  },
};
