import { type Message, parseEventData } from './parse.ts';

/** The fields used of a message that `EventHubConsumerClient` receives. */
export interface ReceivedMessage {
  readonly body: unknown;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
  readonly contentType?: string | undefined;
  readonly sequenceNumber: number;
}

/** The methods used of an `EventHubConsumerClient` of `@azure/event-hubs`. */
export interface HubClient {
  getPartitionIds(): Promise<readonly string[]>;
  getPartitionProperties(partitionId: string): Promise<{
    readonly isEmpty: boolean;
    readonly lastEnqueuedSequenceNumber: number;
    readonly lastEnqueuedOnUtc: Date;
  }>;
  subscribe(
    partitionId: string,
    handlers: {
      processEvents(events: ReceivedMessage[]): Promise<void>;
      processError(error: Error, context?: ReadFrom): Promise<void>;
    },
    options: { startPosition: StartPosition; maxBatchSize: number; maxWaitTimeInSeconds: number },
  ): { close(): Promise<void> };
}

/** The fields used of a `PartitionContext`. */
interface ReadFrom {
  readonly fullyQualifiedNamespace: string;
  readonly eventHubName: string;
  readonly consumerGroup: string;
}

interface StartPosition {
  readonly offset?: string;
  readonly enqueuedOn?: Date;
}

/** Receives what is read from a hub: an application's own, or what `actOnce` returns. */
export interface HubReader {
  /** Messages of one partition, in their order. With none, every few seconds while nothing arrives. */
  onMessages(messages: readonly Message[], partitionId: string): void | Promise<void>;
  /** Once: everything that was in any partition when reading began has been handed to `onMessages`. */
  onHistoryRead?(): void | Promise<void>;
  /** Reading a partition failed, and continues if it can; or this reader threw. After a `ConsumerGroupNotFoundError` end the process. */
  onError(error: unknown, partitionId: string): void;
}

/** The event hub is there, but not the consumer group: nothing is read until it is created. The message names the command for it. */
export class ConsumerGroupNotFoundError extends Error {
  override readonly name = 'ConsumerGroupNotFoundError';

  constructor({ fullyQualifiedNamespace, eventHubName, consumerGroup }: ReadFrom, options: ErrorOptions) {
    const namespace = fullyQualifiedNamespace.replace(/[.:].*/, '');
    const create = `az eventhubs eventhub consumer-group create --resource-group GROUP --namespace-name ${namespace} --eventhub-name ${eventHubName} --name '${consumerGroup}'`;
    super(
      `The event hub ${eventHubName} has no consumer group ${consumerGroup}: name another, or create it with: ${create}`,
      options,
    );
  }
}

export interface FollowHubOptions {
  /** Read only messages that the hub received after this time. Default: all that it still holds. */
  readonly since?: Date;
}

/**
 * Reads every partition of an event hub: first what it holds, then what arrives, and notifies the reader between the two.
 * It reads all partitions, so give each process a consumer group of its own.
 *
 * @throws if the hub cannot be reached at the start.
 * @returns a function that stops reading.
 */
export async function followHub(
  client: HubClient,
  reader: HubReader,
  { since }: FollowHubOptions = {},
): Promise<{ close(): Promise<void> }> {
  const partitionIds = await client.getPartitionIds();
  /** Partitions of which history has not been read to this number. */
  const unread = new Map<string, number>();
  for (const id of partitionIds) {
    const { isEmpty, lastEnqueuedSequenceNumber, lastEnqueuedOnUtc } = await client.getPartitionProperties(id);
    const isOlder = since !== undefined && lastEnqueuedOnUtc <= since;
    if (!isEmpty && !isOlder) unread.set(id, lastEnqueuedSequenceNumber);
  }
  /** Partitions that were read at least once. */
  const read = new Set<string>();
  let isHistoryRead = false;
  async function checkHistory(): Promise<void> {
    if (isHistoryRead || unread.size > 0) return;
    isHistoryRead = true;
    await reader.onHistoryRead?.();
  }
  await checkHistory();
  const subscriptions = partitionIds.map((partitionId) =>
    client.subscribe(
      partitionId,
      {
        // What is thrown here would end in the SDK, which drops the rest of the batch.
        async processEvents(events) {
          read.add(partitionId);
          try {
            await reader.onMessages(
              events.map((event) => named(parseEventData(event), partitionId)),
              partitionId,
            );
            if ((events.at(-1)?.sequenceNumber ?? -1) >= (unread.get(partitionId) ?? Number.POSITIVE_INFINITY))
              unread.delete(partitionId);
            await checkHistory();
          } catch (error) {
            reader.onError(error, partitionId);
          }
        },
        async processError(error, from) {
          // Later, it may be the event hub that was deleted. It was there when its partitions were listed.
          const hasNoGroup = isNotFound(error) && from !== undefined && !read.has(partitionId);
          reader.onError(hasNoGroup ? new ConsumerGroupNotFoundError(from, { cause: error }) : error, partitionId);
        },
      },
      {
        startPosition: since === undefined ? { offset: '-1' } : { enqueuedOn: since },
        maxBatchSize: 100,
        maxWaitTimeInSeconds: 5,
      },
    ),
  );
  return {
    async close() {
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
    },
  };
}

/** The code of `amqp:not-found`. A name that does not resolve has its own, ENOTFOUND. */
const isNotFound = (error: Error): boolean => 'code' in error && error.code === 'MessagingEntityNotFoundError';

/** Says in which partition the message was. */
function named(message: Message, partitionId: string): Message {
  if (message.kind === 'invalid') return { ...message, problem: `partition ${partitionId}, ${message.problem}` };
  return message.kind === 'ignored' ? { ...message, reason: `partition ${partitionId}, ${message.reason}` } : message;
}
