import type { Az } from './az.ts';
import { namesOf } from './azure/names.ts';
import { allowDeletionOfVersion } from './azure/storage-commands.ts';
import { groupPrefix, tagName } from './begin.ts';
import {
  cancelDeployment,
  deleteDeployment,
  deleteGroup,
  deleteResource,
  deleteRoleAssignment,
  listApplicationVersions,
  listDeletedWorkspaces,
  listDeployments,
  listNamedGroups,
  listTaggedGroups,
  listTaggedResources,
  listWorkspaces,
  purgeWorkspace,
  shown,
} from './commands.ts';
import type { Entry, Journal, Left } from './journal.ts';
import { sentenceOf } from './runner.ts';
import type { OutsideGroups } from './step.ts';

export interface CleanUpParts {
  readonly az: Az;
  readonly runId: string;
  /** Id of the subscription. */
  readonly subscription: string;
  readonly journal: Journal;
  readonly say: (line: string) => void;
  /** Resolves after that number of seconds. */
  readonly wait: (seconds: number) => Promise<void>;
}

/** A resource or a resource group, as `az` lists it. */
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>> | null;
}

/** How often the removal is tried: what was being created can appear later, and lists of Azure can be minutes old. */
const rounds = 5;
const secondsBetweenRounds = 60;

/**
 * Removes everything that has the tag of a run, and what its journal names, and then lists what is left. It deletes no group and no
 * resource without the tag. It does not fail: what cannot be removed is in the result.
 */
export async function cleanUp(parts: CleanUpParts): Promise<readonly Left[]> {
  const { journal, say, wait } = parts;
  journal.write({ event: 'clean-up-begun' });
  let left: readonly Left[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const reasons = new Map<string, string>();
    await removeAll(parts, reasons);
    left = await listLeft(parts, reasons);
    if (left.every(({ command }) => command === null) || round === rounds) break;
    say(`clean-up: ${left.length} left; trying again in ${secondsBetweenRounds} s`);
    await wait(secondsBetweenRounds);
  }
  journal.write({ event: 'clean-up-ended', left });
  return left;
}

/** Removes what can be removed; `reasons` gets why something could not, by its id or name. */
async function removeAll(
  { az, runId, subscription, journal, say }: CleanUpParts,
  reasons: Map<string, string>,
): Promise<void> {
  const place = { subscription };
  const attempt = async (key: string, what: string, args: readonly string[], timeoutMinutes = 30): Promise<void> => {
    say(`clean-up: removing ${what}`);
    try {
      await az.call(args, { timeoutMinutes });
      journal.write({ event: 'removed', what });
    } catch (error) {
      reasons.set(key, sentenceOf(error));
      say(`clean-up: could not remove ${what}: ${sentenceOf(error)}`);
    }
  };
  const list = async <T>(args: readonly string[]): Promise<readonly T[]> => {
    try {
      return (await az.call(args)) as readonly T[];
    } catch (error) {
      say(`clean-up: ${sentenceOf(error)}`);
      return [];
    }
  };
  const isTagged = ({ tags }: Pick<Listed, 'tags'>): boolean => tags?.[tagName] === runId;

  const { own } = deploymentsOf(runId, await list<Deployment>(listDeployments(place)));
  for (const { name, state } of own.filter(isActive)) {
    await attempt(
      `cancel ${name}`,
      `what the deployment ${name} is still doing (${state})`,
      cancelDeployment(place, name),
    );
  }
  const groups = (await list<Listed>(listTaggedGroups(place, tagName, runId))).filter(isTagged);
  const removeGroup = async ({ name }: Listed): Promise<void> => {
    for (const workspace of await list<string>(listWorkspaces(place, name))) {
      await attempt(workspace, `the workspace ${workspace}, for good`, purgeWorkspace(place, name, workspace));
    }
    await attempt(name, `the group ${name} and everything in it`, deleteGroup(place, name), 60);
    if (!reasons.has(name)) return;
    // Versions of a VM application are published with a protection from deletion, which may hold their group.
    for (const version of await list<string>(listApplicationVersions(place, name))) {
      await attempt(version, `the protection of ${version}`, allowDeletionOfVersion(place, version));
    }
  };
  await Promise.all(groups.map(removeGroup));
  for (const { id, name } of (await list<Listed>(listTaggedResources(place, tagName, runId))).filter(isTagged)) {
    await attempt(id, `the resource ${name}`, deleteResource(place, id));
  }
  for (const item of outsideGroups(journal.entries)) {
    if (item.kind !== 'role-assignment') continue;
    await attempt(item.id, `the role assignment ${item.id}`, deleteRoleAssignment(place, item.id));
  }
  const records = deploymentsOf(runId, await list<Deployment>(listDeployments(place)));
  const removeRecord = ({ name }: Deployment): Promise<void> =>
    attempt(name, `the record of the deployment ${name}`, deleteDeployment(place, name));
  for (const one of records.nested) await removeRecord(one);
  // Only the record of a deployment shows which others are nested in it.
  const isLeft = ({ correlationId }: Deployment): boolean =>
    records.nested.some((one) => one.correlationId === correlationId && reasons.has(one.name));
  for (const one of records.own) {
    if (isLeft(one)) reasons.set(one.name, 'the record of a deployment that is nested in it could not be removed');
    else await removeRecord(one);
  }
}

/** What is still there, each with the command that removes it. */
async function listLeft(
  { az, runId, subscription, journal }: CleanUpParts,
  reasons: ReadonlyMap<string, string>,
): Promise<readonly Left[]> {
  const place = { subscription };
  const why = (key: string): string => reasons.get(key) ?? 'it appeared after everything was removed';
  const prefix = groupPrefix(runId);
  const isTagged = ({ tags }: Pick<Listed, 'tags'>): boolean => tags?.[tagName] === runId;
  try {
    const tagged = (await az.call(listTaggedGroups(place, tagName, runId))) as readonly Listed[];
    const named = (await az.call(listNamedGroups(place, prefix))) as readonly Listed[];
    const resources = (await az.call(listTaggedResources(place, tagName, runId))) as readonly Listed[];
    const deployments = deploymentsOf(runId, (await az.call(listDeployments(place))) as readonly Deployment[]);
    const workspaces = (await az.call(listDeletedWorkspaces(place))) as readonly string[];
    const groupsLeft = tagged.filter(isTagged);
    return [
      ...groupsLeft.map(({ name }) => ({
        what: `the group ${name}`,
        why: why(name),
        command: shown(deleteGroup(place, name)),
      })),
      ...named
        .filter((group) => !isTagged(group))
        .map(({ name }) => ({
          what: `the group ${name}`,
          why: 'it has the name of this run, but not its tag, so it was not deleted',
          command: shown(deleteGroup(place, name)),
        })),
      // What is in a group that is left goes with it.
      ...resources
        .filter((one) => isTagged(one) && !groupsLeft.some((group) => isIn(one.id, group.id)))
        .map(({ id, name }) => ({
          what: `the resource ${name}`,
          why: why(id),
          command: shown(deleteResource(place, id)),
        })),
      ...outsideGroups(journal.entries).flatMap((item) =>
        item.kind === 'role-assignment' && reasons.has(item.id)
          ? [{ what: 'a role assignment', why: why(item.id), command: shown(deleteRoleAssignment(place, item.id)) }]
          : [],
      ),
      ...[...deployments.own, ...deployments.nested].map(({ name }) => ({
        what: `the record of the deployment ${name}, which costs nothing`,
        why: why(name),
        command: shown(deleteDeployment(place, name)),
      })),
      ...workspaces
        .filter((id) => id.toLowerCase().includes(`/resourcegroups/${prefix}`))
        .map((id) => ({
          what: `the deleted workspace ${id.split('/').at(-1)}, which costs nothing`,
          why: 'Azure keeps a deleted workspace for 14 days, and then removes it',
          command: null,
        })),
    ];
  } catch (error) {
    return [
      {
        what: `unknown: what has the tag ${tagName}=${runId}`,
        why: sentenceOf(error),
        command: `npm run acceptance -- --subscription ${subscription} --clean-up ${runId}`,
      },
    ];
  }
}

interface Deployment {
  readonly name: string;
  readonly state: string;
  /** The same of a deployment and of those nested in it. */
  readonly correlationId: string | null;
}

// assumption: deploy-nested-records
/** The records of a run in the subscription: those that it has named, and those of modules, which Bicep names and which have no tags. */
function deploymentsOf(runId: string, all: readonly Deployment[]) {
  const own = all.filter(({ name }) => name.startsWith(namesOf({ id: runId }).deployment('')));
  const ids = new Set(own.flatMap(({ correlationId }) => correlationId ?? []));
  const isNested = (one: Deployment): boolean =>
    !own.includes(one) && one.correlationId !== null && ids.has(one.correlationId);
  return { own, nested: all.filter(isNested) };
}

const isActive = ({ state }: Deployment): boolean => ['Accepted', 'Created', 'Creating', 'Running'].includes(state);

const isIn = (resourceId: string, groupId: string): boolean =>
  resourceId.toLowerCase().startsWith(`${groupId.toLowerCase()}/`);

/** What steps said that they would create outside of the groups. */
const outsideGroups = (entries: readonly Entry[]): readonly OutsideGroups[] =>
  entries.flatMap((entry) => (entry.event === 'will-create' ? [entry.item] : []));
