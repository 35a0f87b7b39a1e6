import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery, EventContext, Receiver } from 'rhea';
import type { Address } from './address.ts';
import { type Batch, openBatch } from './batch.ts';
import type { Broker, Peer } from './broker.ts';
import type { EventHubsFault } from './faults.ts';
import { busy, detached, forced, notFound, outOfRange, type Refusal, refusal, tooLarge } from './refusal.ts';
import { bodyOf } from './stored-event.ts';

type HubAddress = Extract<Address, { kind: 'hub' }>;

/** The largest message that a link takes: what the SDK cuts its batches by. https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas */
export const maxMessageBytes = 1_048_576;

/** Transfers in flight per link: what the service was seen to grant. */
const credit = 300;

/** The links on which one connection sends events. */
export interface Producers {
  open(receiver: Receiver, address: HubAddress): void;
  /** `format` is of the message; rhea's typings leave it out. */
  receive(context: EventContext & { readonly format?: number }, address: HubAddress): Promise<void>;
}

export function createProducers({ hubs, fault, throttle }: Broker, peer: Peer): Producers {
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
      if (payload.length > maxMessageBytes) return delivery.reject(tooLarge(payload.length, maxMessageBytes));
      const batch = openBatch(payload, format ?? 0);
      const to = { partition: partition === null ? null : Number(partition), partitionKey: batch.partitionKey };
      const store = (): void => hub.append(batch.events, to);
      const played = fault('transfer', (one) => concerns(one, batch));
      if (played !== null) return misbehave(played, { store, delivery, receiver, peer });
      if (!throttle.admits(batch.events.length, payload.length)) return delivery.reject(busy);
      store();
      delivery.accept();
    },
  };
}

interface Transfer {
  readonly store: () => void;
  readonly delivery: Delivery;
  readonly receiver: Receiver;
  readonly peer: Peer;
}

async function misbehave(played: EventHubsFault, { store, delivery, receiver, peer }: Transfer): Promise<void> {
  if (typeof played === 'object' && 'delayMs' in played) {
    store();
    await sleep(played.delayMs, undefined, { ref: false });
    if (receiver.is_open()) delivery.accept();
    return;
  }
  if (typeof played === 'object' && 'reject' in played) {
    delivery.reject(refusal(played.reject, 'a fault refuses this transfer'));
  } else if (played === 'server-busy') {
    delivery.reject(busy);
  } else if (played === 'detach') {
    receiver.close(detached);
  } else if (played === 'force-close') {
    peer.connection.close(forced);
  } else if (played === 'drop') {
    peer.drop();
  } else if (played === 'accept-then-drop') {
    store();
    peer.drop();
  }
  // What is left is 'silent': nothing is ever said about this transfer.
}

/** A refusal of certain bodies is played, and used up, only where such a body is in the batch. */
function concerns(fault: EventHubsFault, batch: Batch): boolean {
  if (typeof fault !== 'object' || !('reject' in fault) || fault.when === undefined) return true;
  return batch.events.map(bodyOf).some(fault.when);
}
