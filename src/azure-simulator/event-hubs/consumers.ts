import type { Sender } from 'rhea';
import type { Address } from './address.ts';
import type { Peer, PlayFault } from './broker.ts';
import type { Hub } from './hub.ts';
import type { Hubs } from './hubs.ts';
import type { Link } from './links.ts';
import { startIndex } from './position.ts';
import { notFound, outOfRange, type Refusal, refusal } from './refusal.ts';
import { toDelivery } from './stored-event.ts';

type PartitionAddress = Extract<Address, { kind: 'partition' }>;

/** The links on which all connections read events. */
export interface Consumers {
  open(sender: Sender, address: PartitionAddress, peer: Peer): void;
  /** Delivers as much as the link has credit for. */
  pump(sender: Sender): void;
  forget(link: Link): void;
  forgetAll(peer: Peer): void;
}

/** One such link. */
interface Consumer {
  readonly sender: Sender;
  readonly peer: Peer;
  readonly hub: Hub;
  readonly partition: number;
  /** In lower case. */
  readonly consumerGroup: string;
  /** Owner level; null: a reader that neither steals nor is stolen from by its like. */
  readonly epoch: number | null;
  /** Whether deliveries have the end of the partition. */
  readonly reportsLastOffset: boolean;
  /** Index of the next event to deliver. */
  next: number;
}

/** Readers of one partition and consumer group without an epoch. https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas */
const maxReaders = 5;

export function createConsumers(hubs: Hubs, fault: PlayFault): Consumers {
  const consumers = new Map<Link, Consumer>();

  const deliver = (consumer: Consumer): void => {
    const events = consumer.hub.partitions[consumer.partition] ?? [];
    for (let event = events[consumer.next]; event !== undefined; event = events[consumer.next]) {
      if (!consumer.sender.sendable()) return;
      consumer.next += 1;
      consumer.peer.links.used(consumer.sender);
      const delivery = consumer.sender.send(
        toDelivery(event, consumer.reportsLastOffset ? (events.at(-1) ?? null) : null),
        undefined,
        0,
      );
      // The service settles what it sends unless asked not to: the client for Go never does, and gives new credit only for settled messages.
      if (consumer.sender.snd_settle_mode !== 0) (delivery as { settled: boolean }).settled = true;
    }
    consumer.sender.set_drained(true);
  };

  /** Later, because rhea would write transfers before its own attach when attach and flow arrive in one read. */
  const schedule = (consumer: Consumer): void =>
    void setImmediate(() => consumers.get(consumer.sender) === consumer && deliver(consumer));

  for (const hub of hubs.all) {
    hub.watch((partition) => {
      for (const consumer of consumers.values()) {
        if (consumer.hub === hub && consumer.partition === partition) schedule(consumer);
      }
    });
  }

  const whyNot = (address: PartitionAddress, peer: Peer): Refusal | null => {
    const hub = hubs.find(address.hub);
    const wanted = address.consumerGroup.toLowerCase();
    const known = hub?.consumerGroups.some((group) => group.toLowerCase() === wanted) === true;
    if (fault('attach') !== null || hub === undefined || !known) return notFound(entityOf(address));
    if (hub.partitions[Number(address.partition)] === undefined) return outOfRange(address.partition);
    return peer.refusal('Listen', entityOf(address));
  };

  const rivals = ({ hub, partition, consumerGroup }: Consumer): Consumer[] =>
    [...consumers.values()].filter(
      (one) => one.hub === hub && one.partition === partition && one.consumerGroup === consumerGroup,
    );

  const end = (sender: Sender, why: Refusal): void => {
    consumers.delete(sender);
    sender.close(why);
  };

  const admit = (consumer: Consumer): void => {
    const { sender, epoch, partition } = consumer;
    if (epoch !== null) {
      for (const other of rivals(consumer)) end(other.sender, stolen(partition, epoch));
    }
    consumers.set(sender, consumer);
    sender.set_source({ address: sender.source.address, ...filterOf(sender) });
    if (sender.target?.address) sender.set_target({ address: sender.target.address });
  };

  return {
    open(sender, address, peer) {
      const consumer = read(sender, address, peer, hubs);
      const refused =
        whyNot(address, peer) ?? (consumer === null ? unreadable(sender) : outranked(consumer, rivals(consumer)));
      if (refused !== null || consumer === null) return sender.close(refused ?? unreadable(sender));
      admit(consumer);
      peer.links.opened(sender, entityOf(address), (why) => end(sender, why));
    },
    pump(sender) {
      const consumer = consumers.get(sender);
      if (consumer !== undefined) schedule(consumer);
    },
    forget: (link) => void consumers.delete(link),
    forgetAll({ connection }) {
      for (const sender of consumers.keys()) if (sender.connection === connection) consumers.delete(sender);
    },
  };
}

/** Null when the selector cannot be read, or there is nothing to read from. */
function read(
  sender: Sender,
  { hub: name, partition, consumerGroup }: PartitionAddress,
  peer: Peer,
  hubs: Hubs,
): Consumer | null {
  const hub = hubs.find(name);
  const next = startIndex(selectorOf(sender), hub?.partitions[Number(partition)] ?? []);
  if (hub === undefined || next === null) return null;
  return {
    sender,
    peer,
    hub,
    partition: Number(partition),
    consumerGroup: consumerGroup.toLowerCase(),
    epoch: epochOf(sender),
    reportsLastOffset: asList(sender.desired_capabilities).includes('com.microsoft:enable-receiver-runtime-metric'),
    next,
  };
}

function entityOf({ hub, consumerGroup, partition }: PartitionAddress): string {
  return `${hub}/ConsumerGroups/${consumerGroup}/Partitions/${partition}`;
}

/** A higher or equal epoch takes a partition over; a lower one or none is rejected, and so is a sixth reader. */
function outranked({ epoch, partition }: Consumer, rivals: readonly Consumer[]): Refusal | null {
  const owner = rivals.find((one) => one.epoch !== null)?.epoch ?? null;
  if (owner !== null && (epoch === null || epoch < owner)) return stolen(partition, owner);
  if (epoch !== null || rivals.length < maxReaders) return null;
  return refusal(
    'amqp:resource-limit-exceeded',
    `Exceeded the maximum number of allowed receivers per partition in a consumer group which is ${maxReaders}.`,
  );
}

function stolen(partition: number, epoch: number): Refusal {
  return refusal('amqp:link:stolen', `A receiver with epoch ${epoch} owns partition ${partition}.`);
}

function unreadable(sender: Sender): Refusal {
  return refusal('amqp:invalid-field', `The filter '${selectorOf(sender)}' is unknown.`);
}

const selectorFilter = 'apache.org:selector-filter:string';

/** The filters that are in force, as the attach of the service names them: Microsoft's client for Rust continues only if it finds its own. */
function filterOf(sender: Sender): { readonly filter?: Readonly<Record<string, unknown>> } {
  const { filter } = sender.source as { filter?: Readonly<Record<string, unknown>> | null };
  const selector = filter?.[selectorFilter];
  return selector === undefined ? {} : { filter: { [selectorFilter]: selector } };
}

/** The selector is inside a described value, which rhea does not unwrap. */
function selectorOf(sender: Sender): string {
  const selector = filterOf(sender).filter?.[selectorFilter];
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
