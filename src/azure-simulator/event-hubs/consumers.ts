import type { Sender } from 'rhea';
import type { Address } from './address.ts';
import { notFound, outOfRange, type Peer, type PlayFault, type Refusal, unauthorized } from './broker.ts';
import type { Hub } from './hub.ts';
import { startIndex } from './position.ts';
import { toDelivery } from './stored-event.ts';

type PartitionAddress = Extract<Address, { kind: 'partition' }>;

/** The links on which all connections read events. */
export interface Consumers {
  open(sender: Sender, address: PartitionAddress, peer: Peer): void;
  /** Delivers as much as the link has credit for. */
  pump(sender: Sender): void;
  forget(sender: Sender): void;
  forgetAll(peer: Peer): void;
}

/** One such link. */
interface Consumer {
  readonly sender: Sender;
  readonly partition: number;
  /** In lower case. */
  readonly consumerGroup: string;
  /** Owner level; null: a reader that neither steals nor is stolen from by its like. */
  readonly epoch: number | null;
  /** Whether deliveries tell where the partition ends. */
  readonly tellsLast: boolean;
  /** Index of the next event to deliver. */
  next: number;
}

/** Readers of one partition and consumer group without an epoch. https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas */
const maxReaders = 5;

export function createConsumers(hub: Hub, consumerGroups: readonly string[], fault: PlayFault): Consumers {
  const consumers = new Map<Sender, Consumer>();

  const deliver = (consumer: Consumer): void => {
    const events = hub.partitions[consumer.partition] ?? [];
    for (let event = events[consumer.next]; event !== undefined; event = events[consumer.next]) {
      if (!consumer.sender.sendable()) return;
      consumer.next += 1;
      consumer.sender.send(toDelivery(event, consumer.tellsLast ? (events.at(-1) ?? null) : null), undefined, 0);
    }
    consumer.sender.set_drained(true);
  };

  /** Later, because rhea would write transfers before its own attach when attach and flow arrive in one read. */
  const schedule = (consumer: Consumer): void =>
    void setImmediate(() => consumers.get(consumer.sender) === consumer && deliver(consumer));

  hub.watch((partition) => {
    for (const consumer of consumers.values()) if (consumer.partition === partition) schedule(consumer);
  });

  const refusal = ({ hub: name, consumerGroup, partition }: PartitionAddress, peer: Peer): Refusal | null => {
    const path = `${name}/ConsumerGroups/${consumerGroup}/Partitions/${partition}`;
    const known = consumerGroups.some((group) => group.toLowerCase() === consumerGroup.toLowerCase());
    if (fault('attach') !== null || name.toLowerCase() !== hub.name.toLowerCase() || !known) return notFound(path);
    if (hub.partitions[Number(partition)] === undefined) return outOfRange(partition);
    return peer.mayUse(path.toLowerCase()) ? null : unauthorized('Listen', path);
  };

  const read = (sender: Sender, { partition, consumerGroup }: PartitionAddress): Consumer | null => {
    const next = startIndex(selectorOf(sender), hub.partitions[Number(partition)] ?? []);
    if (next === null) return null;
    const tellsLast = asList(sender.desired_capabilities).includes('com.microsoft:enable-receiver-runtime-metric');
    const group = consumerGroup.toLowerCase();
    return { sender, partition: Number(partition), consumerGroup: group, epoch: epochOf(sender), tellsLast, next };
  };

  const rivals = ({ partition, consumerGroup }: Consumer): Consumer[] =>
    [...consumers.values()].filter((one) => one.partition === partition && one.consumerGroup === consumerGroup);

  const admit = (consumer: Consumer): void => {
    const { sender, epoch, partition } = consumer;
    if (epoch !== null) {
      for (const other of rivals(consumer)) {
        consumers.delete(other.sender);
        other.sender.close(stolen(partition, epoch));
      }
    }
    consumers.set(sender, consumer);
    sender.set_source({ address: sender.source.address });
    if (sender.target?.address) sender.set_target({ address: sender.target.address });
  };

  return {
    open(sender, address, peer) {
      const consumer = read(sender, address);
      const refused =
        refusal(address, peer) ?? (consumer === null ? unreadable(sender) : outranked(consumer, rivals(consumer)));
      if (refused !== null || consumer === null) sender.close(refused ?? unreadable(sender));
      else admit(consumer);
    },
    pump(sender) {
      const consumer = consumers.get(sender);
      if (consumer !== undefined) schedule(consumer);
    },
    forget: (sender) => void consumers.delete(sender),
    forgetAll({ connection }) {
      for (const sender of consumers.keys()) if (sender.connection === connection) consumers.delete(sender);
    },
  };
}

/** A higher or equal epoch takes a partition over; a lower one or none is turned away, and so is a sixth reader. */
function outranked({ epoch, partition }: Consumer, rivals: readonly Consumer[]): Refusal | null {
  const owner = rivals.find((one) => one.epoch !== null)?.epoch ?? null;
  if (owner !== null && (epoch === null || epoch < owner)) return stolen(partition, owner);
  if (epoch !== null || rivals.length < maxReaders) return null;
  return {
    condition: 'amqp:resource-limit-exceeded',
    description: `Exceeded the maximum number of allowed receivers per partition in a consumer group which is ${maxReaders}.`,
  };
}

function stolen(partition: number, epoch: number): Refusal {
  return { condition: 'amqp:link:stolen', description: `A receiver with epoch ${epoch} owns partition ${partition}.` };
}

function unreadable(sender: Sender): Refusal {
  return { condition: 'amqp:invalid-field', description: `The filter '${selectorOf(sender)}' is unknown.` };
}

/** The selector stands in a described value: rhea leaves the description around it. */
function selectorOf(sender: Sender): string {
  const { filter } = sender.source as { filter?: Readonly<Record<string, unknown>> | null };
  const selector = filter?.['apache.org:selector-filter:string'];
  const text = typeof selector === 'object' && selector !== null && 'value' in selector ? selector.value : selector;
  return typeof text === 'string' ? text : '';
}

function epochOf(sender: Sender): number | null {
  const epoch: unknown = sender.properties?.['com.microsoft:epoch'];
  return typeof epoch === 'number' ? epoch : null;
}

function asList(value: string | readonly string[] | undefined | null): readonly string[] {
  if (value === undefined || value === null) return [];
  return typeof value === 'string' ? [value] : value;
}
