import { expect, test } from 'vitest';
import { AzError } from '../../../infra/acceptance/az.ts';
import { groupPrefix, tagName } from '../../../infra/acceptance/begin.ts';
import { cleanUp } from '../../../infra/acceptance/clean-up.ts';
import type { Entry, Journal, Left, RunEvent } from '../../../infra/acceptance/journal.ts';
import type { OutsideGroups } from '../../../infra/acceptance/step.ts';
import {
  createFakeAzure,
  emptyState,
  type FakeAzure,
  type FakeState,
  groupId,
  resourceId,
  subscriptionId,
  workspaceId,
} from './fake-azure.ts';

const runId = 'k3x9ab';
const ours = { [tagName]: runId };
const platform = `${groupPrefix(runId)}platform`;
const machines = `${groupPrefix(runId)}machines`;
const group = (name: string, tags: FakeState['groups'][number]['tags']) => ({ id: groupId(name), name, tags });
const resource = (inGroup: string, name: string, tags: FakeState['groups'][number]['tags'] = null) => ({
  id: resourceId(inGroup, name),
  name,
  tags,
});

/** What other people have in the same subscription, some of it with similar names and tags. */
const others = (): FakeState => ({
  groups: [
    group('rg-production', { owner: 'web' }),
    group('rg-other-run', { [tagName]: 'zzzzzz' }),
    group(`${groupPrefix('k3x9abc')}platform`, { [tagName]: 'k3x9abc' }),
    group('rg-same-word', { [tagName.toUpperCase()]: 'other', note: runId }),
  ],
  resources: [resource('rg-production', 'web', { owner: 'web' }), resource('rg-production', 'untagged')],
  deployments: [
    { name: 'content-bhq3v6x4tdrce', state: 'Succeeded', correlationId: 'of-others' },
    { name: 'vm-lifecycle', state: 'Running' },
    { name: `seb-${runId}x-platform`, state: 'Succeeded' },
    { name: `production-seb-${runId}-platform`, state: 'Succeeded' },
  ],
  roleAssignments: [`${groupId('rg-production')}/providers/Microsoft.Authorization/roleAssignments/1`],
  deletedWorkspaces: [workspaceId('rg-production', 'log-production')],
});

/** What a run has, beside what others have. */
function withRun(state: FakeState): FakeState {
  state.groups.push(group(platform, ours), group(machines, ours));
  state.resources.push(
    resource(platform, 'hub', ours),
    { id: workspaceId(platform, 'log-seb'), name: 'log-seb', tags: ours },
    resource(machines, 'vm'),
  );
  state.deployments.push(
    { name: `seb-${runId}-platform`, state: 'Succeeded', correlationId: 'of-the-run' },
    // Of a module; Bicep chooses the name.
    { name: 'content-ahq3v6x4tdrce', state: 'Succeeded', correlationId: 'of-the-run' },
  );
  return state;
}

interface Cleaned {
  readonly left: readonly Left[];
  readonly events: readonly RunEvent[];
}

async function cleaned(azure: FakeAzure, created: readonly OutsideGroups[] = []): Promise<Cleaned> {
  const entries: Entry[] = created.map((item) => ({ at: '', event: 'will-create', item }));
  const journal: Journal = { entries, write: (event) => void entries.push({ at: '', ...event }), close: () => {} };
  const wait = () => Promise.resolve();
  const left = await cleanUp({ az: azure, runId, subscription: subscriptionId, journal, say: () => {}, wait });
  return { left, events: entries };
}

test('keeps the record of a deployment, and names both, while one that is nested in it cannot be removed', async () => {
  const azure = createFakeAzure(withRun(others()));
  azure.refuse(`deployment sub delete --subscription ${subscriptionId} --name content-`, 'The deployment is locked.');
  const { left } = await cleaned(azure);
  expect(left.map(({ what }) => what)).toEqual([
    `the record of the deployment seb-${runId}-platform, which costs nothing`,
    'the record of the deployment content-ahq3v6x4tdrce, which costs nothing',
  ]);
});

test('removes everything of the run, and nothing of others', async () => {
  const azure = createFakeAzure(withRun(others()));
  expect((await cleaned(azure)).left).toEqual([]);
  expect(azure.state).toEqual(others());
});

test('purges the workspace before its group, so that Azure does not keep it', async () => {
  const azure = createFakeAzure(withRun(emptyState()));
  await cleaned(azure);
  expect(azure.state.deletedWorkspaces).toEqual([]);
});

test('takes the protection from versions of a VM application that hold their group', async () => {
  const azure = createFakeAzure(withRun(others()));
  const version = resourceId(platform, 'gal_seb/applications/bridge/versions/1.0.0');
  let isProtected = true;
  const holding: FakeAzure = {
    ...azure,
    call: async (args, options) => {
      const words = args.join(' ');
      if (words.startsWith('resource list') && words.includes('applications/versions')) return [version];
      if (words.startsWith('resource update') && words.includes(version)) {
        isProtected = false;
        return undefined;
      }
      if (words.startsWith('group delete') && words.includes(platform) && isProtected) {
        throw new AzError('The version is blocked from deletion.', { args, code: 'Conflict', exitCode: 1 });
      }
      return azure.call(args, options);
    },
  };
  expect((await cleaned(holding)).left).toEqual([]);
  expect(azure.state).toEqual(others());
});

test('deletes no group that has only the name of the run, and reports it', async () => {
  const azure = createFakeAzure({ ...emptyState(), groups: [group(machines, { owner: 'web' })] });
  const { left } = await cleaned(azure);
  expect(azure.calls.filter((args) => args.includes('delete'))).toEqual([]);
  expect(left).toMatchObject([{ what: `the group ${machines}`, why: expect.stringContaining('not its tag') }]);
});

test('does not believe a list of Azure that ignores the tag', async () => {
  const azure = createFakeAzure(others());
  const ignoring: FakeAzure = {
    ...azure,
    call: (args) =>
      args[0] === 'group' && args[1] === 'list'
        ? Promise.resolve(azure.state.groups)
        : args[0] === 'resource' && args[1] === 'list'
          ? Promise.resolve(azure.state.resources)
          : azure.call(args),
  };
  await cleaned(ignoring);
  expect(azure.state).toEqual(others());
});

test('deletes a resource with the tag that is in a group of others, and keeps the group', async () => {
  const state = others();
  state.resources.push(resource('rg-production', 'stray', ours));
  const azure = createFakeAzure(state);
  expect((await cleaned(azure)).left).toEqual([]);
  expect(azure.state).toEqual(others());
});

test('cancels a deployment of the run that is still creating, before it deletes the groups', async () => {
  const state = withRun(others());
  state.deployments.push({ name: `seb-${runId}-machines`, state: 'Running' });
  const azure = createFakeAzure(state);
  expect((await cleaned(azure)).left).toEqual([]);
  const verbs = azure.calls.map((args) => args.slice(0, 3).join(' '));
  expect(verbs.indexOf('deployment sub cancel')).toBeLessThan(verbs.indexOf('group delete --subscription'));
  expect(azure.state).toEqual(others());
});

test('removes the role assignments that the journal names', async () => {
  const id = `/subscriptions/${subscriptionId}/providers/Microsoft.Authorization/roleAssignments/2`;
  const state = withRun(others());
  state.roleAssignments.push(id);
  const azure = createFakeAzure(state);
  expect((await cleaned(azure, [{ kind: 'role-assignment', id }])).left).toEqual([]);
  expect(azure.state).toEqual(others());
});

test('tries again when something appears after the first time', async () => {
  const azure = createFakeAzure(withRun(emptyState()));
  let calls = 0;
  azure.onCall = () => {
    calls += 1;
    if (azure.calls.at(-1)?.[1] === 'delete' && calls < 40) {
      azure.state.resources = azure.state.resources.filter(({ name }) => name !== 'late');
      azure.state.resources.push(resource('rg-production', 'late', ours));
    }
  };
  expect((await cleaned(azure)).left).toEqual([]);
  expect(azure.state.resources).toEqual([]);
});

test('reports what cannot be removed, why, and the command for it, and removes the rest', async () => {
  const azure = createFakeAzure(withRun(emptyState()));
  azure.refuse(`group delete --subscription ${subscriptionId} --name ${machines}`, 'ScopeLocked: the scope is locked');
  const { left, events } = await cleaned(azure);
  expect(left).toEqual([
    {
      what: `the group ${machines}`,
      why: 'az group delete: ScopeLocked: the scope is locked',
      command: expect.stringMatching(`^az group delete --subscription ${subscriptionId} --name ${machines} .*--yes$`),
    },
  ]);
  expect(azure.state.groups.map(({ name }) => name)).toEqual([machines]);
  expect(events.at(-1)).toMatchObject({ event: 'clean-up-ended', left });
});

test('reports a workspace that Azure keeps, without a command, and does not try again', async () => {
  const azure = createFakeAzure(withRun(emptyState()));
  azure.refuse('monitor log-analytics workspace delete', 'not allowed');
  const { left } = await cleaned(azure);
  expect(left).toEqual([
    expect.objectContaining({
      what: expect.stringContaining('log-seb'),
      why: expect.stringContaining('14 days'),
      command: null,
    }),
  ]);
});

test('reports that it does not know what is left when Azure cannot be asked', async () => {
  const azure = createFakeAzure(withRun(emptyState()));
  azure.refuse('group list', 'Please run az login');
  const { left } = await cleaned(azure);
  expect(left).toMatchObject([
    {
      what: expect.stringContaining(`${tagName}=${runId}`),
      why: expect.stringContaining('az login'),
      command: expect.stringContaining(`--clean-up ${runId}`),
    },
  ]);
});
