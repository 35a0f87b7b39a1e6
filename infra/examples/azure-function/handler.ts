import type { InvocationContext } from '@azure/functions';
import type { ContainerClient } from '@azure/storage-blob';
import { parseEventData } from '../../../src/consumer/index.ts';
import { SharedActions, type VmActions } from '../shared-partitions/shared-actions.ts';

// assumption: function-batch
/** Of the trigger, for each message of the batch. https://learn.microsoft.com/azure/azure-functions/functions-bindings-event-hubs-trigger */
interface TriggerMetadata {
  readonly partitionContext?: { readonly partitionId?: string };
  readonly propertiesArray?: readonly Readonly<Record<string, unknown>>[];
  readonly sequenceNumberArray?: readonly number[];
}

/**
 * Makes the handler of an Event Hubs trigger with many messages per call. It is idempotent: all state is in the container.
 *
 * It throws if an action or the storage fails, so that the retry policy calls it again with the same messages. A message that cannot be
 * read never throws, because it would stop its partition: it is stored under `poison/` instead.
 */
export function createHandler(container: ContainerClient, actions: VmActions) {
  const shared = new SharedActions(container, actions);
  return async (messages: unknown, context: InvocationContext): Promise<void> => {
    const { partitionContext, propertiesArray, sequenceNumberArray } = context.triggerMetadata as TriggerMetadata;
    const parsed = (messages as readonly unknown[]).map((body, index) => {
      const sequenceNumber = sequenceNumberArray?.[index];
      return {
        body,
        sequenceNumber,
        message: parseEventData({ body, sequenceNumber, properties: propertiesArray?.[index] }),
      };
    });
    for (const { body, sequenceNumber, message } of parsed) {
      if (message.kind !== 'invalid') continue;
      context.error(message.problem);
      const name = `poison/${partitionContext?.partitionId ?? 'unknown'}-${sequenceNumber ?? context.invocationId}.json`;
      const text = JSON.stringify({ problem: message.problem, body });
      await container.getBlockBlobClient(name).upload(text, Buffer.byteLength(text));
    }
    const records = parsed.flatMap(({ message }) => (message.kind === 'record' ? [message.record] : []));
    await shared.act(await shared.add(records));
  };
}
