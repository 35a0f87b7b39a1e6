/**
 * Drains and restores VMs like `../subscriber.ts`, in as many processes as you start: they share the partitions of the event hub.
 *
 *   EVENT_HUBS_NAMESPACE=contoso.servicebus.windows.net STATE_CONTAINER=https://contoso.blob.core.windows.net/subscriber node subscriber.ts
 */
import { EventHubConsumerClient, type PartitionContext, type ReceivedEventData } from '@azure/event-hubs';
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { DefaultAzureCredential } from '@azure/identity';
import { ContainerClient } from '@azure/storage-blob';
import { type EventState, parseEventData, type VmId } from '../../../src/consumer/index.ts';
import { SharedActions } from './shared-actions.ts';

/** Your part. Both must be idempotent, and end within a deadline. */
async function drain(vm: VmId, { eventId, latest }: EventState): Promise<void> {
  console.log(`${new Date().toISOString()} drain ${vm.name}: ${latest?.eventType} ${eventId}`);
}
async function restore(vm: VmId, { eventId, end }: EventState): Promise<void> {
  console.log(`${new Date().toISOString()} restore ${vm.name}: ${end?.phase ?? 'is gone'} ${eventId}`);
}

const {
  EVENT_HUBS_NAMESPACE: namespace = '',
  EVENT_HUBS_CUSTOM_ENDPOINT: customEndpointAddress, // sb://host:port, where the namespace is reached: the simulator
  EVENT_HUB_NAME: hub = 'vm-lifecycle',
  CONSUMER_GROUP: group = '$Default', // the same for all processes
  STATE_CONTAINER: containerUrl = '', // checkpoints and state; create it first
  STORAGE_CONNECTION_STRING: storage, // instead of the URL: then STATE_CONTAINER is a name
} = process.env;

if (namespace === '' || containerUrl === '') {
  console.error('Set EVENT_HUBS_NAMESPACE and STATE_CONTAINER.');
  process.exit(2);
}
const credential = new DefaultAzureCredential();
const container = storage ? new ContainerClient(storage, containerUrl) : new ContainerClient(containerUrl, credential);
const checkpoints = new BlobCheckpointStore(container);
const client = new EventHubConsumerClient(group, namespace, hub, credential, checkpoints, {
  ...(customEndpointAddress && { customEndpointAddress }),
  retryOptions: { retryDelayInMs: 1_000 },
  // 15 to 20 s after a crash, another process takes over. By default it is a minute, more than the notice of a Spot VM.
  loadBalancingOptions: {
    strategy: 'greedy',
    updateIntervalInMs: 5_000,
    partitionOwnershipExpirationIntervalInMs: 15_000,
  },
});
const actions = new SharedActions(container, { drain, restore });

/** One partition, while this process owns it. */
interface Partition {
  /** Records up to this number were there before: their events are acted on when all are read, because most have ended. */
  readonly historyEnd: number;
  lastRead: number;
  /** Events with records since the checkpoint. */
  readonly due: Set<string>;
  /** The last message that was read, until the checkpoint says so. */
  unsaved: ReceivedEventData | undefined;
}
const partitions = new Map<string, Partition>();

async function begin(context: PartitionContext): Promise<Partition> {
  const { partitionId, fullyQualifiedNamespace, eventHubName, consumerGroup } = context;
  const { isEmpty, lastEnqueuedSequenceNumber } = await client.getPartitionProperties(partitionId);
  const saved = await checkpoints.listCheckpoints(fullyQualifiedNamespace, eventHubName, consumerGroup);
  const lastRead = saved.find((one) => one.partitionId === partitionId)?.sequenceNumber ?? -1;
  return { historyEnd: isEmpty ? -1 : lastEnqueuedSequenceNumber, lastRead, due: new Set(), unsaved: undefined };
}

/** @throws if an action or the storage fails: the client then reads the partition again from its checkpoint. */
async function handle(messages: readonly ReceivedEventData[], context: PartitionContext): Promise<void> {
  const { partitionId } = context;
  const partition = partitions.get(partitionId) ?? (await begin(context));
  partitions.set(partitionId, partition);
  const parsed = messages.map(parseEventData);
  for (const one of parsed) if (one.kind === 'invalid') console.error(`partition ${partitionId}, ${one.problem}`);
  const records = parsed.flatMap((one) => (one.kind === 'record' ? [one.record] : []));
  for (const eventId of await actions.add(records)) partition.due.add(eventId);
  partition.unsaved = messages.at(-1) ?? partition.unsaved;
  partition.lastRead = messages.at(-1)?.sequenceNumber ?? partition.lastRead;
  if (partition.lastRead < partition.historyEnd) return;
  await actions.act(partition.due);
  partition.due.clear();
  if (partition.unsaved !== undefined) await context.updateCheckpoint(partition.unsaved);
  partition.unsaved = undefined;
}

client.subscribe(
  {
    processInitialize: async ({ partitionId }) => void partitions.delete(partitionId),
    processEvents: handle,
    processError: async (error, { partitionId }) => console.error(`partition ${partitionId}: ${error}`),
  },
  { startPosition: { offset: '-1' }, maxBatchSize: 100, maxWaitTimeInSeconds: 5 },
);
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => client.close());
