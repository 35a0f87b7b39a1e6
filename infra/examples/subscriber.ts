/**
 * Moves work off a VM when Azure announces an event that affects it, and back when the event has ended.
 *
 *   EVENT_HUBS_NAMESPACE=contoso.servicebus.windows.net EVENT_HUB_NAME=vm-lifecycle node subscriber.ts
 *
 * At each start it reads everything that the event hub holds, and then does what STATE_FILE does not list as done: it misses nothing, however
 * long it was down, unless the hub has dropped it. An action is repeated only if it failed, or if the process died before saving its outcome.
 */
import { EventHubConsumerClient } from '@azure/event-hubs';
import { DefaultAzureCredential } from '@azure/identity';
// In a project of your own: npm install scheduled-events-bridge-consumer
import {
  actOnce,
  ConsumerGroupNotFoundError,
  type EventState,
  fileStore,
  followHub,
  StateConflictError,
  type VmId,
} from '../../src/consumer/index.ts';

/** Your part. Both must be idempotent. */
async function drain(vm: VmId, { latest }: EventState): Promise<void> {
  console.log(`drain ${vm.name}: ${latest?.eventType}, not before ${latest?.notBefore ?? 'an unknown time'}`);
}
async function restore(vm: VmId, { latest, end }: EventState): Promise<void> {
  console.log(`restore ${vm.name}: ${latest?.eventType} ${end?.phase ?? 'is gone'}, ${end?.evidence.join(' ') ?? ''}`);
}

const {
  EVENT_HUBS_NAMESPACE: namespace = '',
  EVENT_HUBS_CONNECTION_STRING: connectionString, // instead of the namespace
  EVENT_HUBS_CUSTOM_ENDPOINT: customEndpointAddress, // sb://host:port, where the namespace is reached: the simulator
  EVENT_HUB_NAME: hub = 'vm-lifecycle',
  CONSUMER_GROUP: group = '$Default', // one subscriber for each
  STATE_FILE: stateFile = 'subscriber-state.json',
} = process.env;

function fail(message: string, exitCode = 2): never {
  console.error(message);
  process.exit(exitCode);
}

function createClient(): EventHubConsumerClient {
  const retryOptions = { retryDelayInMs: 1_000 }; // the default, 30 s, is all the notice a Spot VM gets
  const options = { ...(customEndpointAddress && { customEndpointAddress }), retryOptions };
  if (!connectionString)
    return new EventHubConsumerClient(group, namespace, hub, new DefaultAzureCredential(), options);
  try {
    return new EventHubConsumerClient(group, connectionString, hub, options);
  } catch (error) {
    return fail(`EVENT_HUBS_CONNECTION_STRING is unusable: ${(error as Error).message}`);
  }
}

if (namespace === '' && !connectionString) fail('Set EVENT_HUBS_NAMESPACE or EVENT_HUBS_CONNECTION_STRING.');
const client = createClient();
function reasonOf({ name, message, errors }: Error & { errors?: Error[] }): string {
  if (name === 'AggregateAuthenticationError') return 'no identity: sign in with az login, or use a managed identity';
  return errors?.[0] ? reasonOf(errors[0]) : message; // one for each attempt
}
function onError(error: unknown): void {
  const reason = reasonOf(error as Error);
  if (error instanceof ConsumerGroupNotFoundError || error instanceof StateConflictError) fail(reason, 1);
  console.error(reason);
}
const actions = await actOnce(fileStore(stateFile), { drain, restore, onError });
await followHub(client, actions).catch((error) => fail(`Cannot read the event hub ${hub}: ${reasonOf(error)}`, 1));
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => client.close());
