import { EventHubProducerClient } from '@azure/event-hubs';
import { DefaultAzureCredential } from '@azure/identity';
import { LogsIngestionClient } from '@azure/monitor-ingestion';

/**
 * What a user would write instead of the bridge, from the samples of the three libraries: poll, `sendBatch`, `upload`. It keeps nothing on disk,
 * retries nothing itself and forgets what it saw when it ends.
 */
const {
  EVENTS_URL = '',
  NAMESPACE = '',
  HUB = '',
  HUB_ADDRESS = '',
  ENDPOINT = '',
  RULE = '',
  STREAM = '',
} = process.env;

const credential = new DefaultAzureCredential();
const hub = new EventHubProducerClient(NAMESPACE, HUB, credential, { customEndpointAddress: HUB_ADDRESS });
const table = new LogsIngestionClient(ENDPOINT, credential);
let last = 0;

async function poll(): Promise<void> {
  const response = await fetch(EVENTS_URL, { headers: { Metadata: 'true' } });
  const { DocumentIncarnation, Events } = (await response.json()) as {
    readonly DocumentIncarnation: number;
    readonly Events: readonly Record<string, unknown>[];
  };
  if (DocumentIncarnation === last || Events.length === 0) return;
  last = DocumentIncarnation;
  const batch = await hub.createBatch();
  for (const event of Events) batch.tryAdd({ body: event });
  await hub.sendBatch(batch);
  const rows = Events.map((event) => ({ TimeGenerated: new Date().toISOString(), ...event }));
  await table.upload(RULE, STREAM, rows);
}

setInterval(() => void poll().catch((error) => console.error(error)), 1000);
