import { argumentsOf, type InSubscription, tagWords } from './arguments.ts';

/** Argument lists for the Azure CLI: the storage account of the packages, and the gallery that publishes them. */

interface Named {
  readonly group: string;
  readonly name: string;
}

interface Created extends Named {
  readonly location: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** Reached with tokens only: no key, no anonymous access. */
export const createStorageAccount = (
  { subscription }: InSubscription,
  { group, name, location, tags }: Created,
): readonly string[] =>
  argumentsOf('storage account create', {
    subscription,
    'resource-group': group,
    name,
    location,
    sku: 'Standard_LRS',
    kind: 'StorageV2',
    'allow-blob-public-access': 'false',
    'allow-shared-key-access': 'false',
    'min-tls-version': 'TLS1_2',
    tags: tagWords(tags),
  });

/** By the control plane, which needs no role for the data. */
export const createContainer = (
  { subscription }: InSubscription,
  { group, account, name }: { group: string; account: string; name: string },
): readonly string[] =>
  argumentsOf('storage container-rm create', {
    subscription,
    'resource-group': group,
    'storage-account': account,
    name,
  });

/** With the token of the account that is logged in; needs *Storage Blob Data Contributor*. */
export const uploadBlob = (
  { subscription }: InSubscription,
  { account, container, name, file }: { account: string; container: string; name: string; file: string },
): readonly string[] =>
  argumentsOf('storage blob upload', {
    subscription,
    'auth-mode': 'login',
    'account-name': account,
    'container-name': container,
    name,
    file,
    overwrite: true,
    'no-progress': true,
  });

export const createIdentity = (
  { subscription }: InSubscription,
  { group, name, location, tags }: Created,
): readonly string[] =>
  argumentsOf('identity create', { subscription, 'resource-group': group, name, location, tags: tagWords(tags) });

interface ApplicationVersion {
  readonly group: string;
  readonly gallery: string;
  readonly application: string;
  readonly version: string;
}

/** An application of a gallery. */
export const createApplication = (
  { subscription }: InSubscription,
  { group, gallery, application, location }: Omit<ApplicationVersion, 'version'> & { location: string },
): readonly string[] =>
  argumentsOf('sig gallery-application create', {
    subscription,
    'resource-group': group,
    'gallery-name': gallery,
    name: application,
    location,
    'os-type': 'Linux',
  });

/** A version that does nothing when it is installed and removed. */
export const createVersion = (
  { subscription }: InSubscription,
  {
    group,
    gallery,
    application,
    version,
    location,
    address,
  }: ApplicationVersion & { location: string; address: string },
): readonly string[] =>
  argumentsOf('sig gallery-application version create', {
    subscription,
    'resource-group': group,
    'gallery-name': gallery,
    'application-name': application,
    'version-name': version,
    location,
    'package-file-link': address,
    'install-command': 'true',
    'remove-command': 'true',
  });

/** Takes the protection from a version: https://learn.microsoft.com/azure/virtual-machines/vm-applications-how-to */
export const allowDeletionOfVersion = ({ subscription }: InSubscription, versionId: string): readonly string[] =>
  argumentsOf('resource update', {
    subscription,
    ids: versionId,
    'api-version': '2024-03-03',
    set: 'properties.safetyProfile.allowDeletionOfReplicatedLocations=true',
  });

export const deleteVersion = (
  { subscription }: InSubscription,
  { group, gallery, application, version }: ApplicationVersion,
): readonly string[] =>
  argumentsOf('sig gallery-application version delete', {
    subscription,
    'resource-group': group,
    'gallery-name': gallery,
    'application-name': application,
    'version-name': version,
    yes: true,
  });

export const listVersions = (
  { subscription }: InSubscription,
  { group, gallery, application }: Omit<ApplicationVersion, 'version'>,
): readonly string[] =>
  argumentsOf('sig gallery-application version list', {
    subscription,
    'resource-group': group,
    'gallery-name': gallery,
    'application-name': application,
    query: '[].{name: name, state: provisioningState}',
  });
