import { setTimeout as sleep } from 'node:timers/promises';
import type { Batch } from './batch.ts';
import type { Broker } from './broker.ts';
import type { EventHubsFault } from './faults.ts';
import type { Hub } from './hub.ts';
import { busy, detached, forced, type Refusal, refusal, tooLarge } from './refusal.ts';
import { bodyOf } from './stored-event.ts';

/** The largest message that a link takes: what the SDK cuts its batches by. https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas */
export const maxMessageBytes = 1_048_576;

/** What was sent, and where to. */
export interface Transfer {
  readonly batch: Batch;
  /** Of all of it, on the wire. */
  readonly bytes: number;
  readonly hub: Hub;
  /** Null: by the key, else in turn. */
  readonly partition: number | null;
}

/** How a transfer is answered, whichever protocol brought it. */
export interface Outcomes {
  accept(): void;
  reject(why: Refusal): void;
  /** Ends the link. */
  detach(why: Refusal): void;
  /** Ends the connection in good order. */
  close(why: Refusal): void;
  /** Breaks the connection. */
  drop(): void;
}

/** Stores a transfer, or refuses it where it is too large, a fault is set or the namespace is throttled. */
export async function take(transfer: Transfer, outcomes: Outcomes, { fault, throttle }: Broker): Promise<void> {
  const { batch, bytes, hub, partition } = transfer;
  if (bytes > maxMessageBytes) return outcomes.reject(tooLarge(bytes, maxMessageBytes));
  const store = (): void => hub.append(batch.events, { partition, partitionKey: batch.partitionKey });
  const played = fault('transfer', (one) => concerns(one, batch));
  if (played !== null) return misbehave(played, store, outcomes);
  if (!throttle.admits(batch.events.length, bytes)) return outcomes.reject(busy);
  store();
  outcomes.accept();
}

async function misbehave(played: EventHubsFault, store: () => void, outcomes: Outcomes): Promise<void> {
  if (typeof played === 'object' && 'delayMs' in played) {
    store();
    await sleep(played.delayMs, undefined, { ref: false });
    return outcomes.accept();
  }
  if (typeof played === 'object' && 'reject' in played) {
    outcomes.reject(refusal(played.reject, 'a fault refuses this transfer'));
  } else if (played === 'server-busy') {
    outcomes.reject(busy);
  } else if (played === 'detach') {
    outcomes.detach(detached);
  } else if (played === 'force-close') {
    outcomes.close(forced);
  } else if (played === 'drop') {
    outcomes.drop();
  } else if (played === 'accept-then-drop') {
    store();
    outcomes.drop();
  }
  // The remaining fault is 'silent': this transfer is never answered.
}

/** A refusal of certain bodies is played, and used up, only where such a body is in the batch. */
function concerns(fault: EventHubsFault, batch: Batch): boolean {
  if (typeof fault !== 'object' || !('reject' in fault) || fault.when === undefined) return true;
  return batch.events.map(bodyOf).some(fault.when);
}
