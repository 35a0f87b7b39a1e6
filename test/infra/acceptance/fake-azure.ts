import { type Az, AzError } from '../../../infra/acceptance/az.ts';

/** Something in a subscription, as far as the clean-up sees it. */
export interface FakeResource {
  readonly id: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>> | null;
}

/** What is in the subscription. */
export interface FakeState {
  groups: FakeResource[];
  resources: FakeResource[];
  /** Of the subscription, with their state. */
  deployments: { name: string; state: string; correlationId?: string }[];
  roleAssignments: string[];
  /** Ids of workspaces that Azure keeps after their deletion. */
  deletedWorkspaces: string[];
}

/** A subscription in memory: answers the commands of the run itself, and those that steps of tests call (`test create …`). */
export interface FakeAzure extends Az {
  readonly state: FakeState;
  /** The words of every call. */
  readonly calls: readonly (readonly string[])[];
  /** Fails the calls whose words begin so, with this message. */
  refuse(command: string, message: string): void;
  /** Called before and after each call has its effect. */
  onCall: () => void;
}

export const subscriptionId = '6a7b8c9d-0000-4000-8000-0000000000aa';
export const groupId = (name: string): string => `/subscriptions/${subscriptionId}/resourceGroups/${name}`;
export const resourceId = (group: string, name: string): string =>
  `${groupId(group)}/providers/Microsoft.Test/things/${name}`;
const workspaceType = '/providers/Microsoft.OperationalInsights/workspaces/';
export const workspaceId = (group: string, name: string): string => `${groupId(group)}${workspaceType}${name}`;

export const emptyState = (): FakeState => ({
  groups: [],
  resources: [],
  deployments: [],
  roleAssignments: [],
  deletedWorkspaces: [],
});

export function createFakeAzure(state: FakeState = emptyState()): FakeAzure {
  const calls: (readonly string[])[] = [];
  const refusals = new Map<string, string>();

  function answer(args: readonly string[]): unknown {
    const firstOption = args.findIndex((arg) => arg.startsWith('--'));
    const command = args.slice(0, firstOption < 0 ? args.length : firstOption).join(' ');
    const option = (name: string): string => args[args.indexOf(`--${name}`) + 1] ?? '';
    const refused = [...refusals].find(([start]) => args.join(' ').startsWith(start));
    if (refused !== undefined) throw new AzError(`az ${command}: ${refused[1]}`, { args, code: 'Test', exitCode: 1 });
    const withTag = (ones: readonly FakeResource[]): readonly FakeResource[] => {
      const [name = '', value] = option('tag').split('=');
      return ones.filter(({ tags }) => tags?.[name] !== undefined && (value === undefined || tags[name] === value));
    };
    const prefix = /starts_with\(name, '([^']*)'\)/.exec(option('query'))?.[1] ?? '';
    switch (command) {
      case 'version':
        return { 'azure-cli': '2.80.0' };
      case 'bicep version':
        return 'Bicep CLI version 0.38.5 (2f2f2f2f2f)';
      case 'account show':
        if (option('subscription') === 'gone') throw notFound(args);
        if (option('subscription') === 'of a guest') return { ...account, id: 'of a guest', tenantId: 'of another' };
        if (option('subscription') === 'in China') return { ...account, environmentName: 'AzureChinaCloud' };
        return account;
      case 'rest':
        return ['westeurope', 'northeurope'];
      case 'group list':
        return args.includes('--tag')
          ? withTag(state.groups)
          : state.groups.filter(({ name }) => name.startsWith(prefix));
      case 'group delete':
        return removeGroup(option('name'), args);
      case 'resource list':
        return withTag(state.resources);
      case 'resource delete':
        state.resources = state.resources.filter(({ id }) => id !== option('ids'));
        return undefined;
      case 'role assignment delete':
        state.roleAssignments = state.roleAssignments.filter((id) => id !== option('ids'));
        return undefined;
      case 'deployment sub list':
        return state.deployments.map((one) => ({ correlationId: null, ...one }));
      case 'deployment sub cancel':
        state.deployments = state.deployments.map((one) =>
          one.name === option('name') ? { ...one, state: 'Canceled' } : one,
        );
        return undefined;
      case 'deployment sub delete': {
        const one = state.deployments.find(({ name }) => name === option('name'));
        if (one?.state === 'Running')
          throw new AzError('the deployment is running', { args, code: 'DeploymentActive', exitCode: 1 });
        state.deployments = state.deployments.filter((other) => other !== one);
        return undefined;
      }
      case 'monitor log-analytics workspace list':
        return workspacesIn(option('resource-group')).map(({ name }) => name);
      case 'monitor log-analytics workspace delete': {
        const id = workspaceId(option('resource-group'), option('workspace-name'));
        state.resources = state.resources.filter((one) => one.id !== id);
        if (option('force') !== 'true') state.deletedWorkspaces.push(id);
        return undefined;
      }
      case 'monitor log-analytics workspace list-deleted-workspaces':
        return state.deletedWorkspaces;
      default:
        throw new Error(`the fake subscription does not know: az ${args.join(' ')}`);
    }
  }

  const workspacesIn = (group: string): readonly FakeResource[] =>
    state.resources.filter(({ id }) => id.startsWith(`${groupId(group)}${workspaceType}`));

  /** A workspace that goes with its group is kept by Azure. */
  function removeGroup(name: string, args: readonly string[]): undefined {
    if (!state.groups.some((group) => group.name === name)) throw notFound(args);
    state.deletedWorkspaces.push(...workspacesIn(name).map(({ id }) => id));
    state.groups = state.groups.filter((group) => group.name !== name);
    state.resources = state.resources.filter(({ id }) => !id.startsWith(`${groupId(name)}/`));
  }

  const fake: FakeAzure = {
    state,
    calls,
    onCall: () => {},
    refuse: (command, message) => void refusals.set(command, message),
    async call(args, { signal } = {}) {
      signal?.throwIfAborted();
      calls.push(args);
      fake.onCall();
      const value = answer(args);
      fake.onCall();
      return structuredClone(value);
    },
  };
  return fake;
}

const account = { id: subscriptionId, name: 'Contoso test', state: 'Enabled', tenantId: 'own' };

const notFound = (args: readonly string[]): AzError =>
  new AzError("az: The subscription or group doesn't exist", { args, code: 'NotFound', exitCode: 3 });
