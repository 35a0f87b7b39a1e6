import { readFileSync } from 'node:fs';
import { EventHubProducerClient } from '@azure/event-hubs';
import { ManagedIdentityCredential } from '@azure/identity';
import { LogsIngestionClient } from '@azure/monitor-ingestion';
import { createCalls, type Handlers } from '../../src/sender/calls.ts';
import { parentPort } from '../../src/sender/channel.ts';
import { encodeEvent } from '../../src/sinks/event-hubs/encode.ts';
import { encodeRow } from '../../src/sinks/log-analytics/encode.ts';
import { type Entry, parsed } from '../../src/sinks/sink.ts';
import type { Configuration, Destination } from './azure-program.ts';
import { type Batch, readWaiting } from './waiting-records.ts';

/** The SDKs alone, with their defaults: they send the same bytes with the same keys, from memory. */
export type BareMethods = {
  load(file: string): void;
  send(to: { readonly sinks: Configuration['sinks']; readonly destinations: readonly Destination[] }): void;
};

/** As many sends at once as the bridge has. */
const inFlight = 16;
/** For one `upload`, which cuts them into requests, five of them at once. */
const rowsPerUpload = 5_000;

const credential = new ManagedIdentityCredential();
let loaded: readonly Batch[] = [];

/** A batch per event, as large as the SDK lets it be. */
async function sendToHub({ eventHubs }: Configuration['sinks']): Promise<void> {
  const { fullyQualifiedNamespace, eventHubName, customEndpoint } = eventHubs;
  const client = new EventHubProducerClient(fullyQualifiedNamespace, eventHubName, credential, {
    customEndpointAddress: customEndpoint,
  });
  const waiting = loaded.values();
  const send = async (): Promise<void> => {
    for (const { partitionKey, entries } of waiting) {
      let batch = await client.createBatch({ partitionKey });
      for (const event of entries.map((entry) => encodeEvent(parsed(entry)))) {
        if (batch.tryAdd(event)) continue;
        await client.sendBatch(batch);
        batch = await client.createBatch({ partitionKey });
        batch.tryAdd(event);
      }
      await client.sendBatch(batch);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, send));
  await client.close();
}

async function sendToTable({ logAnalytics }: Configuration['sinks']): Promise<void> {
  const { endpoint, ruleId, streamName } = logAnalytics;
  const client = new LogsIngestionClient(endpoint, credential);
  const entries: readonly Entry[] = loaded.flatMap((batch) => batch.entries);
  for (let from = 0; from < entries.length; from += rowsPerUpload) {
    const rows = entries.slice(from, from + rowsPerUpload).map((entry) => encodeRow(parsed(entry).record));
    await client.upload(ruleId, streamName, rows);
  }
}

const handlers: Handlers<BareMethods> = {
  async load(file) {
    loaded = readWaiting(readFileSync(file));
  },
  async send({ sinks, destinations }) {
    const send = { hub: sendToHub, table: sendToTable };
    await Promise.all(destinations.map((destination) => send[destination](sinks)));
  },
};

const port = parentPort();
if (port) createCalls(port, handlers);
// Also where the bench was interrupted.
process.once('disconnect', () => process.exit());
