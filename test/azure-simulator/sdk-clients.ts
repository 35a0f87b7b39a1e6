import tls from 'node:tls';
import { EventHubConsumerClient, EventHubProducerClient, type ReceivedEventData } from '@azure/event-hubs';
import { ManagedIdentityCredential } from '@azure/identity';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';

/** Lets the real SDK clients of this process trust and find the simulator. Once per test file: the SDK freezes it. */
export function useSimulator({ ca, imds }: AzureSimulator): void {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
  process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST = imds.url;
}

const retryOptions = { maxRetries: 0, timeoutInMs: 20_000 };

export type Transport = 'tls' | 'websockets' | 'connection string';

function addressOf({ eventHubs }: AzureSimulator, way: Transport): object {
  if (way === 'tls') return { customEndpointAddress: eventHubs.customEndpoint };
  const customEndpointAddress = eventHubs.websocketEndpoint.replace('wss:', 'sb:');
  return { customEndpointAddress, webSocketOptions: { webSocket: globalThis.WebSocket } };
}

export function producer(
  azure: AzureSimulator,
  { way = 'tls' as Transport, hub = azure.eventHubs.eventHubName } = {},
): EventHubProducerClient {
  const { connectionString, fullyQualifiedNamespace } = azure.eventHubs;
  if (way === 'connection string') return new EventHubProducerClient(connectionString, hub, { retryOptions });
  const options = { ...addressOf(azure, way), retryOptions };
  return new EventHubProducerClient(fullyQualifiedNamespace, hub, new ManagedIdentityCredential(), options);
}

export function consumer(
  azure: AzureSimulator,
  { way = 'tls' as Transport, group = '$Default' } = {},
): EventHubConsumerClient {
  const { connectionString, fullyQualifiedNamespace, eventHubName } = azure.eventHubs;
  if (way === 'connection string')
    return new EventHubConsumerClient(group, connectionString, eventHubName, { retryOptions });
  const options = { ...addressOf(azure, way), retryOptions };
  return new EventHubConsumerClient(
    group,
    fullyQualifiedNamespace,
    eventHubName,
    new ManagedIdentityCredential(),
    options,
  );
}

/** Sends bodies of JSON under one key, as one batch. */
export async function send(
  client: EventHubProducerClient,
  bodies: readonly unknown[],
  partitionKey = 'key',
): Promise<void> {
  const batch = await client.createBatch({ partitionKey });
  for (const body of bodies) batch.tryAdd({ body: Buffer.from(JSON.stringify(body)), contentType: 'application/json' });
  await client.sendBatch(batch, { abortSignal: AbortSignal.timeout(5_000) });
}

/** Reads until `count` events have come. */
export async function receive(
  client: EventHubConsumerClient,
  count: number,
  startPosition: object,
): Promise<ReceivedEventData[]> {
  const received: ReceivedEventData[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const subscription = client.subscribe(
    {
      processEvents: async (events) => {
        received.push(...events);
        if (received.length >= count) resolve();
      },
      processError: async (error) => reject(error),
    },
    { startPosition, maxWaitTimeInSeconds: 1 },
  );
  if (count === 0) resolve();
  await promise.finally(() => subscription.close());
  return received;
}
