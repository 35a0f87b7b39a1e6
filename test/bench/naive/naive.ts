import { EventHubProducerClient } from '@azure/event-hubs';
import { ManagedIdentityCredential } from '@azure/identity';
import { LogsIngestionClient } from '@azure/monitor-ingestion';
import type { Configuration } from '../azure-program.ts';

/**
 * What a user would write instead of the bridge, from the samples of the three libraries: poll once a second, and send each event that is
 * new to both destinations. Without a disk, without retries of its own, without an order; it forgets what it saw when it ends.
 */
const { vm, imds, sinks }: Pick<Configuration, 'imds' | 'sinks'> & { readonly vm: string } = JSON.parse(
  process.env.NAIVE ?? '{}',
);
const { fullyQualifiedNamespace, eventHubName, customEndpoint } = sinks.eventHubs;
const { endpoint, ruleId, streamName } = sinks.logAnalytics;

const credential = new ManagedIdentityCredential();
const hub = new EventHubProducerClient(fullyQualifiedNamespace, eventHubName, credential, {
  customEndpointAddress: customEndpoint,
});
const table = new LogsIngestionClient(endpoint, credential);
const url = `${imds.endpoint}/metadata/scheduledevents?api-version=2020-07-01`;
let known = new Set<string>();

async function sendToHub(partitionKey: string, record: object): Promise<void> {
  const batch = await hub.createBatch({ partitionKey });
  batch.tryAdd({ body: record });
  await hub.sendBatch(batch);
}

async function poll(): Promise<void> {
  const response = await fetch(url, { headers: { metadata: 'true' } });
  const { Events: events } = (await response.json()) as { Events: { EventId: string }[] };
  for (const event of events) {
    if (known.has(event.EventId)) continue;
    void sendToHub(event.EventId, { vmName: vm, ...event });
    void table.upload(ruleId, streamName, [{ TimeGenerated: new Date(), VmName: vm, ...event }]);
  }
  known = new Set(events.map(({ EventId: id }) => id));
}

setInterval(() => void poll().catch((error) => console.error(error)), 1000);
