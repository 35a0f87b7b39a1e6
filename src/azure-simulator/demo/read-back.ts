import type { LifecycleRecord } from '../../lifecycle/record.ts';
import type { EventHubsSimulator } from '../index.ts';

/** Reads the event hub from its beginning, as any subscriber does, and hands on every record that comes, copies included. */
export async function readBack(
  { connectionString, eventHubName }: Pick<EventHubsSimulator, 'connectionString' | 'eventHubName'>,
  received: (record: LifecycleRecord) => void,
): Promise<{ close(): Promise<void> }> {
  const { EventHubConsumerClient, earliestEventPosition } = await import('@azure/event-hubs');
  // When the hub has been down the client comes back by itself: within half a second, not within its usual 30.
  const retryOptions = { maxRetries: 1000, retryDelayInMs: 500, maxRetryDelayInMs: 500, timeoutInMs: 3000 };
  const client = new EventHubConsumerClient('$Default', connectionString, eventHubName, { retryOptions });
  client.subscribe(
    {
      processEvents: async (events) => {
        for (const { body } of events) received(body as LifecycleRecord);
      },
      // What was not read is missing in the verdict.
      processError: async () => {},
    },
    { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1 },
  );
  return { close: () => client.close() };
}
