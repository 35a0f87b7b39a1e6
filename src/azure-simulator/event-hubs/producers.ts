import type { EventContext, Receiver } from 'rhea';
import type { Address } from './address.ts';
import { openBatch } from './batch.ts';
import type { Broker, Peer } from './broker.ts';
import { notFound, outOfRange, type Refusal } from './refusal.ts';
import { take } from './transfer.ts';

type HubAddress = Extract<Address, { kind: 'hub' }>;

/** Transfers in flight per link: what the service was seen to grant. */
const credit = 300;

/** The links on which one connection sends events. */
export interface Producers {
  open(receiver: Receiver, address: HubAddress): void;
  /** `format` is the format of the message; rhea's typings omit it. */
  receive(context: EventContext & { readonly format?: number }, address: HubAddress): Promise<void>;
}

export function createProducers(broker: Broker, peer: Peer): Producers {
  const { hubs, fault } = broker;
  const entityOf = ({ hub, partition }: HubAddress): string =>
    partition === null ? hub : `${hub}/Partitions/${partition}`;

  const whyNot = (address: HubAddress): Refusal | null => {
    const { hub: name, partition } = address;
    const hub = hubs.find(name);
    if (fault('attach') !== null || hub === undefined) return notFound(name);
    if (partition !== null && hub.partitions[Number(partition)] === undefined) return outOfRange(partition);
    return peer.refusal('Send', entityOf(address));
  };

  return {
    open(receiver, address) {
      const refused = whyNot(address);
      if (refused !== null) {
        receiver.close(refused);
        return;
      }
      receiver.set_source(receiver.source);
      receiver.set_target(receiver.target);
      receiver.set_credit_window(credit);
      receiver.add_credit(credit);
      peer.links.opened(receiver, entityOf(address), (why) => receiver.close(why));
    },

    async receive({ message: payload, format, delivery, receiver }, { hub: name, partition }) {
      const hub = hubs.find(name);
      if (!Buffer.isBuffer(payload) || delivery === undefined || hub === undefined) return;
      // What was under way when the link was ended is lost with it.
      if (receiver === undefined || !receiver.is_open()) return;
      peer.links.used(receiver);
      const transfer = {
        batch: openBatch(payload, format ?? 0),
        bytes: payload.length,
        hub,
        partition: partition === null ? null : Number(partition),
      };
      const outcomes = {
        accept: () => receiver.is_open() && delivery.accept(),
        reject: (why: Refusal) => delivery.reject(why),
        detach: (why: Refusal) => receiver.close(why),
        close: (why: Refusal) => peer.connection.close(why),
        drop: peer.drop,
      };
      await take(transfer, outcomes, broker);
    },
  };
}
