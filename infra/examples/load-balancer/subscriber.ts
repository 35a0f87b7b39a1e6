/**
 * Takes a VM out of the pool of an Azure load balancer when an event is announced, and returns it after the last of its events.
 *
 *   EVENT_HUBS_NAMESPACE=contoso.servicebus.windows.net POOL_ID=/subscriptions/…/backendAddressPools/web node subscriber.ts
 */
import { EventHubConsumerClient } from '@azure/event-hubs';
import { DefaultAzureCredential } from '@azure/identity';
import { ContainerClient } from '@azure/storage-blob';
// In a project of your own: npm install scheduled-events-bridge-consumer
import {
  actOnce,
  blobStore,
  ConsumerGroupNotFoundError,
  fileStore,
  followHub,
  StateConflictError,
  type StateStore,
} from '../../../src/consumer/index.ts';
import { Pool } from './pool.ts';
import { ResourceManager } from './resource-manager.ts';

const {
  EVENT_HUBS_NAMESPACE: namespace = '',
  EVENT_HUBS_CUSTOM_ENDPOINT: customEndpointAddress, // sb://host:port, where the namespace is reached: the simulator
  EVENT_HUB_NAME: hub = 'vm-lifecycle',
  CONSUMER_GROUP: group = '$Default', // one subscriber for each
  POOL_ID: id = '', // resource id of the backend address pool
  MIN_IN_SERVICE: minInService = '1', // 0: the last VM may be taken out as well
  RESOURCE_MANAGER: endpoint = 'https://management.azure.com',
  STATE_CONTAINER: containerUrl, // https://account.blob.core.windows.net/container; otherwise two files in the working directory
  STORAGE_CONNECTION_STRING: storage, // instead of the URL: then STATE_CONTAINER is a name
} = process.env;

function fail(message: string, exitCode: number): never {
  console.error(message);
  process.exit(exitCode);
}
function reasonOf({ name, message, errors }: Error & { errors?: Error[] }): string {
  if (name === 'AggregateAuthenticationError') return 'no identity: sign in with az login, or use a managed identity';
  return errors?.[0] ? reasonOf(errors[0]) : message; // one for each attempt
}
if (namespace === '' || !/\/backendAddressPools\/[^/]+$/i.test(id) || !/^\d+$/.test(minInService))
  fail(
    'Set EVENT_HUBS_NAMESPACE, POOL_ID to the id of a backend address pool, and MIN_IN_SERVICE to a number or not at all.',
    2,
  );

const credential = new DefaultAzureCredential();
function store(name: string): StateStore {
  if (containerUrl === undefined) return fileStore(name);
  const container = storage
    ? new ContainerClient(storage, containerUrl)
    : new ContainerClient(containerUrl, credential);
  return blobStore(container.getBlockBlobClient(name));
}

const arm = new ResourceManager(endpoint, credential);
const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);
const pool = await Pool.open(arm, { id, minInService: Number(minInService), store: store('pool.json'), log });
const actions = await actOnce(store('subscriber.json'), {
  drain: (vm) => pool.takeOut(vm),
  restore: (vm) => pool.putBack(vm),
  onError(error) {
    if (error instanceof ConsumerGroupNotFoundError || error instanceof StateConflictError) fail(error.message, 1);
    console.error(reasonOf(error as Error));
  },
});
const client = new EventHubConsumerClient(group, namespace, hub, credential, {
  ...(customEndpointAddress && { customEndpointAddress }),
  retryOptions: { retryDelayInMs: 1_000 }, // the default, 30 s, is all the notice a Spot VM gets
});
await followHub(client, actions).catch((error) => fail(`Cannot read the event hub ${hub}: ${reasonOf(error)}`, 1));
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => client.close());
