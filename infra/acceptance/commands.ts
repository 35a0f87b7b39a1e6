import { argumentsOf, type InSubscription } from './azure/arguments.ts';

/** Argument lists for the Azure CLI of the run itself: what it verifies before the steps, and what it removes after them. */

/** A command in a message. Its words need no quotes. */
export const shown = (args: readonly string[]): string => `az ${args.join(' ')}`;

export const logIn = (): readonly string[] => ['login'];

export const installBicep = (): readonly string[] => ['bicep', 'install'];

/** Makes a subscription, and its tenant, the one of commands that name none. */
export const setAccount = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('account set', { subscription });

export const listAccounts = (): readonly string[] => argumentsOf('account list', { output: 'table' });

/** Names of the regions of a subscription. By a request: `az account list-locations` knows only the default subscription. */
export const listLocations = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('rest', {
    method: 'get',
    url: `/subscriptions/${subscription}/locations?api-version=2022-12-01`,
    query: 'value[].name',
  });

const withTags = '[].{id: id, name: name, type: type, tags: tags}';

/** Resource groups with a tag; with every value of it if none is given. */
export const listTaggedGroups = ({ subscription }: InSubscription, tag: string, value?: string): readonly string[] =>
  argumentsOf('group list', { subscription, tag: value === undefined ? tag : `${tag}=${value}`, query: withTags });

/** Resource groups with this beginning of their name, whatever their tags are. */
export const listNamedGroups = ({ subscription }: InSubscription, prefix: string): readonly string[] =>
  argumentsOf('group list', {
    subscription,
    query: `[?starts_with(name, '${prefix}')].{id: id, name: name, type: type, tags: tags}`,
  });

/** Resources of any group with a tag. */
export const listTaggedResources = ({ subscription }: InSubscription, tag: string, value: string): readonly string[] =>
  argumentsOf('resource list', { subscription, tag: `${tag}=${value}`, query: withTags });

/** Returns when the group and everything in it is gone. VMs are not shut down first, which takes minutes each; the CLI takes one type only. */
export const deleteGroup = ({ subscription }: InSubscription, name: string): readonly string[] =>
  argumentsOf('group delete', {
    subscription,
    name,
    'force-deletion-types': 'Microsoft.Compute/virtualMachines',
    yes: true,
  });

/** Ids of the versions of VM applications in a group. */
export const listApplicationVersions = ({ subscription }: InSubscription, group: string): readonly string[] =>
  argumentsOf('resource list', {
    subscription,
    'resource-group': group,
    'resource-type': 'Microsoft.Compute/galleries/applications/versions',
    query: '[].id',
  });

export const deleteResource = ({ subscription }: InSubscription, id: string): readonly string[] =>
  argumentsOf('resource delete', { subscription, ids: id });

export const deleteRoleAssignment = ({ subscription }: InSubscription, id: string): readonly string[] =>
  argumentsOf('role assignment delete', { subscription, ids: id });

/** Deployments to the subscription, with their state, and with what those that are nested in another have in common with it. */
export const listDeployments = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('deployment sub list', {
    subscription,
    query: '[].{name: name, state: properties.provisioningState, correlationId: properties.correlationId}',
  });

/** A deployment that is not canceled could create again what was removed. */
export const cancelDeployment = ({ subscription }: InSubscription, name: string): readonly string[] =>
  argumentsOf('deployment sub cancel', { subscription, name });

export const deleteDeployment = ({ subscription }: InSubscription, name: string): readonly string[] =>
  argumentsOf('deployment sub delete', { subscription, name });

export const listWorkspaces = ({ subscription }: InSubscription, group: string): readonly string[] =>
  argumentsOf('monitor log-analytics workspace list', {
    subscription,
    'resource-group': group,
    query: '[].name',
  });

/**
 * Deletes a workspace for good; without `--force` Azure would keep it for 14 days.
 * https://learn.microsoft.com/azure/azure-monitor/logs/delete-workspace
 */
export const purgeWorkspace = ({ subscription }: InSubscription, group: string, name: string): readonly string[] =>
  argumentsOf('monitor log-analytics workspace delete', {
    subscription,
    'resource-group': group,
    'workspace-name': name,
    force: 'true',
    yes: true,
  });

/** Ids of the workspaces that are deleted, and that Azure still keeps. */
export const listDeletedWorkspaces = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('monitor log-analytics workspace list-deleted-workspaces', { subscription, query: '[].id' });
