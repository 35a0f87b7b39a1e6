import { setTimeout as sleep } from 'node:timers/promises';
import type { EventHubConsumerClient, ReceivedEventData } from '@azure/event-hubs';
import { parseEventData } from '../../../src/consumer/parse.ts';
import { type AzureTools, retry } from '../azure/tools.ts';
import type { StepContext } from '../step.ts';
import type { EnqueuedRecord } from '../target.ts';

/** For all partitions. */
const maxMs = 5 * 60_000;

/**
 * Every record that the partitions hold at this moment and were sent after `since`, in the order of each partition. Heartbeats and messages of
 * others are left out.
 *
 * @throws if the hub cannot be read to its end within five minutes, or a message claims to be a record and is none
 */
export async function readHub(
  client: EventHubConsumerClient,
  since: Date,
  signal: AbortSignal,
): Promise<readonly EnqueuedRecord[]> {
  const partitionIds = await client.getPartitionIds({ abortSignal: signal });
  const read = await Promise.all(partitionIds.map((id) => readPartition(client, id, since, signal)));
  return read.flat();
}

// assumption: role-takes-effect
/** Reads that wait, until the first of them succeeds, for the role that the deployment of the platform has given the account. */
export function oncePermitted<T extends readonly unknown[], R>(
  context: Pick<StepContext, 'say' | 'signal'>,
  tools: Pick<AzureTools, 'sleep'>,
  read: (...given: T) => Promise<R>,
): (...given: T) => Promise<R> {
  // The library has by then repeated its own attempts for a minute and a half.
  const patience = { what: 'the role of the account on the event hub', everySeconds: 120, limitMinutes: 30 };
  let isPermitted = false;
  return async (...given) => {
    const result = await retry(
      context,
      tools,
      patience,
      () => read(...given),
      (error) => !isPermitted && isRefused(error),
    );
    isPermitted = true;
    return result;
  };
}

/** How the library names `amqp:unauthorized-access`. */
const isRefused = (error: unknown): boolean => (error as { readonly code?: unknown }).code === 'UnauthorizedError';

async function readPartition(
  client: EventHubConsumerClient,
  partitionId: string,
  since: Date,
  signal: AbortSignal,
): Promise<readonly EnqueuedRecord[]> {
  const last = await client.getPartitionProperties(partitionId, { abortSignal: signal });
  if (last.isEmpty || last.lastEnqueuedOnUtc <= since) return [];
  const received: ReceivedEventData[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const subscription = client.subscribe(
    partitionId,
    {
      async processEvents(events) {
        received.push(...events);
        if ((received.at(-1)?.sequenceNumber ?? -1) >= last.lastEnqueuedSequenceNumber) resolve();
      },
      async processError(error) {
        reject(error);
      },
    },
    { startPosition: { enqueuedOn: since }, maxBatchSize: 500, maxWaitTimeInSeconds: 5 },
  );
  const ended = new AbortController();
  const late = sleep(maxMs, undefined, { signal: AbortSignal.any([signal, ended.signal]) }).then(() => {
    throw new Error(
      `Partition ${partitionId} was not read to its end (${last.lastEnqueuedSequenceNumber}) in ${maxMs / 60_000} minutes.`,
    );
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    ended.abort();
    late.catch(() => {});
    await subscription.close();
  }
  return received.flatMap((event) => recordOf(event, partitionId));
}

function recordOf(event: ReceivedEventData, partitionId: string): EnqueuedRecord[] {
  const message = parseEventData(event);
  if (message.kind === 'invalid') throw new Error(`Partition ${partitionId}, ${message.problem}`);
  if (message.kind !== 'record') return [];
  return [
    {
      // The schema allows words of later versions in some fields; those that the steps read are the same.
      record: message.record as EnqueuedRecord['record'],
      enqueuedAt: event.enqueuedTimeUtc,
      partitionId,
      partitionKey: event.partitionKey,
      messageId: event.messageId ?? null,
      correlationId: event.correlationId ?? null,
      contentType: event.contentType ?? null,
      properties: event.properties ?? {},
    },
  ];
}
