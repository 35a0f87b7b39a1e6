import { setTimeout as sleep } from 'node:timers/promises';
import rhea, { type Delivery, type EventContext, type Receiver } from 'rhea';
import type { Address } from './address.ts';
import { type Batch, batchFormat, openBatch } from './batch.ts';
import { type Broker, notFound, outOfRange, type Peer, type Refusal, unauthorized } from './broker.ts';
import type { EventHubsFault } from './faults.ts';
import { bodyOf } from './stored-event.ts';

type HubAddress = Extract<Address, { kind: 'hub' }>;

/** The largest message that a link takes: what the SDK cuts its batches by. https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas */
export const maxMessageBytes = 1_048_576;

/** Transfers in flight per link: what the service was seen to grant. */
const credit = 300;

/** The links on which one connection sends events. */
export interface Producers {
  open(receiver: Receiver, address: HubAddress): void;
  receive(context: EventContext, address: HubAddress): Promise<void>;
}

export function createProducers({ hub, fault }: Broker, peer: Peer): Producers {
  const refusal = ({ hub: name, partition }: HubAddress): Refusal | null => {
    if (fault('attach') !== null || name.toLowerCase() !== hub.name.toLowerCase()) return notFound(name);
    if (partition !== null && hub.partitions[Number(partition)] === undefined) return outOfRange(partition);
    const path = partition === null ? name : `${name}/Partitions/${partition}`;
    return peer.mayUse(path.toLowerCase()) ? null : unauthorized('Send', path);
  };

  return {
    open(receiver, address) {
      const refused = refusal(address);
      if (refused !== null) {
        receiver.close(refused);
        return;
      }
      receiver.set_source(receiver.source);
      receiver.set_target(receiver.target);
      receiver.set_credit_window(credit);
      receiver.add_credit(credit);
    },

    async receive({ message, delivery, receiver }, { partition }) {
      if (message === undefined || delivery === undefined || receiver === undefined) return;
      const { payload, format } = payloadOf(message);
      if (payload.length > maxMessageBytes) return delivery.reject(tooLarge(payload.length));
      const batch = openBatch(payload, format);
      const to = { partition: partition === null ? null : Number(partition), partitionKey: batch.partitionKey };
      const store = (): void => hub.append(batch.events, to);
      const played = fault('transfer', (one) => concerns(one, batch));
      if (played !== null) return misbehave(played, { store, delivery, receiver, peer });
      store();
      delivery.accept();
    },
  };
}

/** rhea hands out messages of the standard format decoded; one of a foreign format, as a batch is, comes as bytes. */
function payloadOf(message: NonNullable<EventContext['message']>): { payload: Buffer; format: number } {
  if (Buffer.isBuffer(message)) return { payload: message, format: batchFormat };
  return { payload: rhea.message.encode(message), format: 0 };
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
  if (typeof played === 'object') {
    delivery.reject({ condition: played.reject, description: 'a fault refuses this transfer' });
  } else if (played === 'server-busy') {
    delivery.reject(busy);
  } else if (played === 'detach') {
    receiver.close(detached);
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

const busy: Refusal = {
  condition: 'com.microsoft:server-busy',
  description: 'The request was terminated because the entity is being throttled. Wait 4 seconds and try again.',
};

const detached: Refusal = {
  condition: 'amqp:link:detach-forced',
  description: 'The link is force detached by the broker.',
};

function tooLarge(bytes: number): Refusal {
  return {
    condition: 'amqp:link:message-size-exceeded',
    description: `The received message (${bytes} bytes) exceeds the limit (${maxMessageBytes} bytes) currently allowed on the link.`,
  };
}
