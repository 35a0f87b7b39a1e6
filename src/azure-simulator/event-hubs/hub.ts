import { partitionOfKey } from './partition-key.ts';
import { createStoredEvent, type StoredEvent } from './stored-event.ts';

/** One event hub: its partitions and what they hold. It knows nothing of AMQP links. */
export interface Hub {
  readonly name: string;
  readonly consumerGroups: readonly string[];
  readonly createdAt: Date;
  readonly partitions: readonly (readonly StoredEvent[])[];
  /** Everything stored, in order of arrival. */
  readonly events: readonly StoredEvent[];
  /** Stores all of a batch in one partition: the given one, else the key's, else the next in turn. */
  append(
    batch: readonly Buffer[],
    to: { readonly partition: number | null; readonly partitionKey: string | null },
  ): void;
  /** Calls back after each append with the partition. @returns how to stop that. */
  watch(appended: (partition: number) => void): () => void;
}

export function createHub(name: string, partitionCount: number, consumerGroups: readonly string[]): Hub {
  const partitions: StoredEvent[][] = Array.from({ length: partitionCount }, () => []);
  const bytesIn: number[] = partitions.map(() => 0);
  const events: StoredEvent[] = [];
  const watchers = new Set<(partition: number) => void>();
  let turn = 0;

  const choose = (partition: number | null, partitionKey: string | null): number => {
    if (partition !== null) return partition;
    if (partitionKey !== null) return partitionOfKey(partitionKey, partitionCount);
    turn = (turn + 1) % partitionCount;
    return turn;
  };

  return {
    name,
    consumerGroups,
    createdAt: new Date(),
    partitions,
    events,
    append(batch, to) {
      const partition = choose(to.partition, to.partitionKey);
      const log = partitions[partition];
      if (log === undefined) throw new Error(`hub ${name} has no partition ${partition}`);
      const enqueuedAt = new Date();
      for (const raw of batch) {
        const offset = bytesIn[partition] ?? 0;
        bytesIn[partition] = offset + raw.length;
        const { partitionKey } = to;
        const event = createStoredEvent(raw, {
          partition,
          sequenceNumber: log.length,
          offset: String(offset),
          enqueuedAt,
          partitionKey,
        });
        log.push(event);
        events.push(event);
      }
      for (const appended of [...watchers]) appended(partition);
    },
    watch(appended) {
      watchers.add(appended);
      return () => watchers.delete(appended);
    },
  };
}
