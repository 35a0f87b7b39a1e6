import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import type { DestinationFault, Destinations } from '../target.ts';
import type { DataHalf } from './data-half.ts';
import { readHub } from './read-hub.ts';
import { noRows, openEngine, ownTables, runLocally, type WorkspaceRows } from './workspace-rows.ts';

const streamOf = (table: string): string => `Custom-${table}`;

/**
 * Reads the hub of the simulator with the real client, and answers queries by the KQL engine of the tests over the rows that it holds.
 *
 * @param start gives the simulator, started with the columns of the tables (`src/azure-simulator/cli/streams.ts`)
 */
export function createSimulatorData(start: () => Promise<AzureSimulator>): DataHalf {
  const closed = new AbortController();
  return {
    async readHub(since) {
      const { EventHubConsumerClient } = await import('@azure/event-hubs');
      const { connectionString, eventHubName } = (await start()).eventHubs;
      const client = new EventHubConsumerClient('$Default', connectionString, eventHubName);
      try {
        return await readHub(client, since, closed.signal);
      } finally {
        await client.close();
      }
    },
    query: async (text) => runLocally(await openEngine(), text, rowsOf(await start()), new Date()),
    async breakDestination(fault) {
      const azure = await start();
      const { breakIt, repair } = faults[fault];
      breakIt(azure);
      return async () => repair(azure);
    },
    destinations: async () => simulatorDestinations(await start()),
    async close() {
      closed.abort();
    },
  };
}

/** Rows with their time of arrival. The tables of Azure have none. */
const rowsOf = ({ logAnalytics }: AzureSimulator): WorkspaceRows => ({
  ...noRows,
  ...Object.fromEntries(
    Object.keys(ownTables).map((table) => {
      const arrivals = logAnalytics.arrivals(streamOf(table));
      const rows = logAnalytics.rows(streamOf(table));
      return [
        table,
        rows.map((row, index) => ({ ...row, 'ingestion_time()': arrivals[index]?.toISOString() ?? null })),
      ];
    }),
  ),
});

interface SimulatedFault {
  readonly breakIt: (azure: AzureSimulator) => void;
  readonly repair: (azure: AzureSimulator) => void;
}

const faults: Readonly<Record<DestinationFault, SimulatedFault>> = {
  'hub-role-removed': {
    breakIt({ eventHubs }) {
      eventHubs.fault('unauthorized');
      // A link that is open keeps its right until its token is renewed.
      eventHubs.dropConnections();
    },
    repair: ({ eventHubs }) => eventHubs.fault(null),
  },
  'rule-role-removed': {
    breakIt: ({ logAnalytics }) => logAnalytics.authorize([]),
    repair: ({ logAnalytics }) => logAnalytics.authorize(null),
  },
  throttled: {
    breakIt: ({ logAnalytics }) => logAnalytics.limit({ requestsPerMinute: 0 }),
    repair: ({ logAnalytics }) => logAnalytics.limit(null),
  },
};

/** Addresses of a simulator, with tokens of its managed identity. */
export function simulatorDestinations({ imds, eventHubs, logAnalytics, ca }: AzureSimulator): Destinations {
  const audiences = { hub: 'https://eventhubs.azure.net', logs: 'https://monitor.azure.com' };
  return {
    logs: { endpoint: logAnalytics.endpoint, ruleId: logAnalytics.ruleId, streamName: logAnalytics.streamName },
    hub: {
      endpoint: eventHubs.websocketEndpoint.replace('wss:', 'https:'),
      eventHubName: eventHubs.eventHubName,
      fullyQualifiedNamespace: eventHubs.fullyQualifiedNamespace,
      connectionString: eventHubs.connectionString,
    },
    ca,
    async token(audience) {
      const query = new URLSearchParams({ 'api-version': '2018-02-01', resource: audiences[audience] });
      const answer = await fetch(`${imds.url}/metadata/identity/oauth2/token?${query}`, {
        headers: { Metadata: 'true' },
      });
      const given = (await answer.json()) as { readonly access_token: string; readonly expires_on: string };
      return { token: given.access_token, expiresOnTimestamp: Number(given.expires_on) * 1000 };
    },
  };
}
