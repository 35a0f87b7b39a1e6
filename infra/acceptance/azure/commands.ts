import { argumentsOf, type InSubscription, tagWords } from './arguments.ts';

/**
 * Argument lists for the Azure CLI: subscription, resource groups, rights and deployments. Every call of these steps is made here, in
 * `machine-commands.ts` or in `storage-commands.ts`, so that a test can put all of them to the real parser.
 */

export const showVersion = (): readonly string[] => ['version'];

/** Prints the version of Bicep as text; fails where it is not installed. */
export const showBicepVersion = (): readonly string[] => ['bicep', 'version'];

export const showAccount = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('account show', { subscription });

/** That of commands that name no subscription. */
export const showCurrentAccount = (): readonly string[] => ['account', 'show'];

/** The person who is logged in; Microsoft Graph answers. */
export const showSignedInUser = (): readonly string[] => ['ad', 'signed-in-user', 'show'];

/** The service principal with this client id; Microsoft Graph answers. */
export const showServicePrincipal = (clientId: string): readonly string[] =>
  argumentsOf('ad sp show', { id: clientId });

// ---------------------------------------------------------------------------
// Resource providers, quota, rights
// ---------------------------------------------------------------------------

export const listProviders = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('provider list', { subscription, query: '[].{name: namespace, state: registrationState}' });

/** Takes minutes, and returns when the provider is registered. */
export const registerProvider = ({ subscription }: InSubscription, name: string): readonly string[] =>
  argumentsOf('provider register', { subscription, namespace: name, wait: true });

/** Aliases of the properties of virtual machines and scale sets, which a policy may name. */
export const listComputeAliases = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('provider show', {
    subscription,
    namespace: 'Microsoft.Compute',
    expand: 'resourceTypes/aliases',
    query:
      "resourceTypes[?resourceType == 'virtualMachines' || resourceType == 'virtualMachineScaleSets'].aliases[].name",
  });

/** Cores that are used and allowed, by family of sizes. */
export const listComputeUsage = ({ subscription }: InSubscription, location: string): readonly string[] =>
  argumentsOf('vm list-usage', { subscription, location });

/** Sizes of the region whose name begins so, with their family and restrictions. */
export const listSizes = ({ subscription }: InSubscription, location: string, size: string): readonly string[] =>
  argumentsOf('vm list-skus', {
    subscription,
    location,
    'resource-type': 'virtualMachines',
    size,
    all: true,
    query: '[].{name: name, family: family, restrictions: restrictions[].{type: type, reason: reasonCode}}',
  });

/** What the account that is logged in may do in the subscription, whatever gives it the right. */
export const listPermissions = ({ subscription }: InSubscription): readonly string[] =>
  argumentsOf('rest', {
    method: 'get',
    url: `/subscriptions/${subscription}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01`,
    subscription,
  });

interface Assignment {
  readonly principalId: string;
  readonly principalType: 'User' | 'ServicePrincipal';
  /** Name or id of a role. */
  readonly role: string;
  readonly scope: string;
}

export const assignRole = (
  { subscription }: InSubscription,
  { principalId, principalType, role, scope }: Assignment,
): readonly string[] =>
  argumentsOf('role assignment create', {
    subscription,
    'assignee-object-id': principalId,
    'assignee-principal-type': principalType,
    role,
    scope,
  });

// ---------------------------------------------------------------------------
// Resource groups and deployments
// ---------------------------------------------------------------------------

export const createGroup = (
  { subscription }: InSubscription,
  { name, location, tags }: { name: string; location: string; tags: Readonly<Record<string, string>> },
): readonly string[] => argumentsOf('group create', { subscription, name, location, tags: tagWords(tags) });

/** Compiles a template and prints the result. */
export const buildTemplate = (file: string): readonly string[] => argumentsOf('bicep build', { file, stdout: true });

/** Prints the warnings about a template as SARIF. */
export const lintTemplate = (file: string): readonly string[] =>
  argumentsOf('bicep lint', { file, 'diagnostics-format': 'sarif' });

/** Compiles a parameter file and prints the result. */
export const buildParameters = (file: string): readonly string[] =>
  argumentsOf('bicep build-params', { file, stdout: true });

/** A deployment: to a resource group, or to the subscription with its metadata in a region. */
export interface Deployment {
  readonly name: string;
  readonly scope: { readonly group: string } | { readonly location: string };
  readonly templateFile: string;
  /** Absolute paths of parameter files (JSON). */
  readonly parameterFiles: readonly string[];
}

const scopeOf = ({ scope }: Deployment): 'group' | 'sub' => ('group' in scope ? 'group' : 'sub');

const optionsOf = ({ name, scope, templateFile, parameterFiles }: Deployment) => ({
  name,
  ...('group' in scope ? { 'resource-group': scope.group } : { location: scope.location }),
  'template-file': templateFile,
  parameters: parameterFiles.map((file) => `@${file}`),
});

export const whatIf = ({ subscription }: InSubscription, deployment: Deployment): readonly string[] =>
  argumentsOf(`deployment ${scopeOf(deployment)} what-if`, {
    subscription,
    ...optionsOf(deployment),
    'no-pretty-print': true,
  });

export const deploy = ({ subscription }: InSubscription, deployment: Deployment): readonly string[] =>
  argumentsOf(`deployment ${scopeOf(deployment)} create`, { subscription, ...optionsOf(deployment) });

const operationFields =
  "[?properties.provisioningState == 'Failed'].{target: properties.targetResource, status: properties.statusMessage}";

/** The operations of a deployment that failed; `group` null for one to the subscription. */
export const listFailedOperations = (
  { subscription }: InSubscription,
  { name, group }: { name: string; group: string | null },
): readonly string[] =>
  argumentsOf(`deployment operation ${group === null ? 'sub' : 'group'} list`, {
    subscription,
    name,
    'resource-group': group ?? undefined,
    query: operationFields,
  });

// ---------------------------------------------------------------------------
// What the platform consists of
// ---------------------------------------------------------------------------

export const showWorkspace = (
  { subscription }: InSubscription,
  { group, workspace }: { group: string; workspace: string },
): readonly string[] =>
  argumentsOf('monitor log-analytics workspace show', {
    subscription,
    'resource-group': group,
    'workspace-name': workspace,
  });

export const showTable = (
  { subscription }: InSubscription,
  { group, workspace, table }: { group: string; workspace: string; table: string },
): readonly string[] =>
  argumentsOf('monitor log-analytics workspace table show', {
    subscription,
    'resource-group': group,
    'workspace-name': workspace,
    name: table,
  });

/** Of rules over a workspace. Older versions do not have the kind `SimpleLogAlert`, of which the rules are that look at each row. */
export const queryRuleVersion = '2026-03-01';

/** By a request: the commands for these rules are in an extension of the CLI. */
export const listAlertRules = ({ subscription }: InSubscription, group: string): readonly string[] =>
  argumentsOf('rest', {
    method: 'get',
    url: `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Insights/scheduledQueryRules?api-version=${queryRuleVersion}`,
    query: 'value[].{name: name, enabled: properties.enabled}',
    subscription,
  });

export const listMetricAlerts = ({ subscription }: InSubscription, group: string): readonly string[] =>
  argumentsOf('monitor metrics alert list', {
    subscription,
    'resource-group': group,
    query: '[].{name: name, enabled: enabled}',
  });

export const listActivityAlerts = ({ subscription }: InSubscription, group: string): readonly string[] =>
  argumentsOf('monitor activity-log alert list', {
    subscription,
    'resource-group': group,
    query: '[].{name: name, enabled: enabled}',
  });
