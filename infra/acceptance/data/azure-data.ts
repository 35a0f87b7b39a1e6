import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AzError } from '../az.ts';
import { assignRole } from '../azure/commands.ts';
import { foundBy, type PlatformFound } from '../azure/found.ts';
import { type AzureTools, toolsHere } from '../azure/tools.ts';
import type { CreateTarget, DestinationFault, Destinations, QueryResult } from '../target.ts';
import { azureCliTokens } from './cli-credential.ts';
import { listRoleAssignments, queryWorkspace, type RoleAt, removeRoleAssignment } from './commands.ts';
import type { DataHalf } from './data-half.ts';
import { QueryError, queryErrorIn, readQueryAnswer } from './query-answer.ts';
import { oncePermitted, readHub } from './read-hub.ts';
import { throttleRule } from './throttle-rule.ts';

const audiences = { hub: 'https://eventhubs.azure.net', logs: 'https://monitor.azure.com' } as const;
/** A change back is made also after Ctrl-C, which aborts every other call. */
const restoreMinutes = 5;

/**
 * Reads the hub and the workspace of the run with the account that is logged in with the Azure CLI, and changes the roles of the bridges. The
 * account needs the rights that the step `data-rights` gives it.
 */
export function createAzureData(
  { run, az, found, say }: Parameters<CreateTarget>[0],
  tools: Pick<AzureTools, 'sleep'> = toolsHere,
): DataHalf {
  const tokens = azureCliTokens();
  const tokenFor = (audience: keyof typeof audiences) => tokens.getToken(`${audiences[audience]}/.default`);
  const credential = { getToken: () => tokenFor('hub') };
  const closed = new AbortController();
  const platform = (): PlatformFound => foundBy(found, 'platform');
  let queries = 0;

  async function query(text: string): Promise<QueryResult> {
    queries += 1;
    const file = join(run.folder, 'queries', `${queries}.json`);
    mkdirSync(join(run.folder, 'queries'), { recursive: true });
    writeFileSync(file, JSON.stringify({ query: text }));
    try {
      return readQueryAnswer(await az.call(queryWorkspace(platform().workspaceId, file), { timeoutMinutes: 10 }));
    } catch (error) {
      throw error instanceof AzError ? new QueryError(queryErrorIn(error.message), { cause: error }) : error;
    }
  }

  /** Takes a role of the bridges away. Returns how to give it back. */
  async function removeRole(role: RoleAt): Promise<() => Promise<void>> {
    const listed = (await az.call(listRoleAssignments(run, role))) as readonly RoleAssignment[];
    const own = listed.filter(({ principalId }) => principalId === role.principalId);
    if (own.length === 0) throw new Error(`The bridges do not have the role ${role.role} on ${role.scope}.`);
    for (const { id } of own) await az.call(removeRoleAssignment(run, id));
    return async () => {
      const assignment = { ...role, principalType: 'ServicePrincipal' } as const;
      const signal = AbortSignal.timeout(restoreMinutes * 60_000);
      await az.call(assignRole(run, assignment), { signal });
    };
  }

  const faults: Readonly<Record<DestinationFault, () => Promise<() => Promise<void>>>> = {
    'hub-role-removed': () =>
      removeRole({
        role: 'Azure Event Hubs Data Sender',
        scope: platform().eventHubResourceId,
        principalId: platform().identityPrincipalId,
      }),
    'rule-role-removed': () =>
      removeRole({
        role: 'Monitoring Metrics Publisher',
        scope: platform().ruleResourceId,
        principalId: platform().identityPrincipalId,
      }),
    throttled: async () => throttleRule(await destinations(), closed.signal, say),
  };

  async function destinations(): Promise<Destinations> {
    const { fullyQualifiedNamespace, eventHubName, logsIngestionEndpoint, ruleId, streamName } = platform().settings;
    return {
      logs: { endpoint: logsIngestionEndpoint.replace(/\/$/, ''), ruleId, streamName },
      hub: {
        endpoint: `https://${fullyQualifiedNamespace}`,
        eventHubName,
        fullyQualifiedNamespace,
        connectionString: null,
      },
      ca: null,
      token: tokenFor,
    };
  }

  return {
    readHub: oncePermitted({ say, signal: closed.signal }, tools, async (since: Date) => {
      const { EventHubConsumerClient } = await import('@azure/event-hubs');
      const { fullyQualifiedNamespace, eventHubName } = platform().settings;
      const client = new EventHubConsumerClient('$Default', fullyQualifiedNamespace, eventHubName, credential);
      try {
        return await readHub(client, since, closed.signal);
      } finally {
        await client.close();
      }
    }),
    query,
    breakDestination: (fault) => faults[fault](),
    destinations,
    async close() {
      closed.abort();
    },
  };
}

/** What is used of `az role assignment list`. */
interface RoleAssignment {
  readonly id: string;
  readonly principalId: string;
}
