import type { PendingDelivery } from '../outbox/outbox.ts';

/** Deliveries that are sent together, oldest first for each event. */
export type Batch = readonly PendingDelivery[];

/** Everything that decides what is sent next. */
export interface BatchRequest {
  /** Pending deliveries by event, oldest first. What is in flight stays at the head of its queue until it is settled. */
  readonly queues: ReadonlyMap<string, readonly PendingDelivery[]>;
  /** Events that have a batch in flight. */
  readonly busy: ReadonlySet<string>;
  /** Events that go before all others. */
  readonly urgent: ReadonlySet<string>;
  /** `held`: not now. `isolated`: in a separate batch. */
  readonly status: (eventKey: string) => 'ready' | 'isolated' | 'held';
  readonly batchBy: 'event' | 'any';
  /** How many batches may start now. */
  readonly slots: number;
  /** The most that one batch may hold; a single record over `bytes` goes all the same, the sink answers for it. */
  readonly records: number;
  readonly bytes: number;
  /** Half-open: the event with the fewest attempts goes first, so that one that always fails cannot keep the sink closed. */
  readonly probing: boolean;
}

/**
 * The batches that can start now. Each holds, for every event in it, the oldest deliveries without a gap, and no event is in
 * two batches: that is how the order per event is kept. There is no waiting for a batch to fill: what is appended while
 * others are in flight makes the next one.
 */
export function nextBatches(request: BatchRequest): Batch[] {
  const batches: Batch[] = [];
  const taken = new Set(request.busy);
  const candidates = request.slots > 0 ? inTurn(request) : [];
  for (const eventKey of candidates) {
    if (batches.length >= request.slots) break;
    if (taken.has(eventKey)) continue;
    const batch = batchLedBy(eventKey, request, taken);
    for (const { eventKey: other } of batch) taken.add(other);
    batches.push(batch);
  }
  return batches;
}

/** Events that are not held, in the order of their turn: urgent ones, then as they came. */
function* inTurn(request: BatchRequest): Generator<string> {
  const { queues, urgent, status, probing } = request;
  const mayGo = (eventKey: string): boolean => status(eventKey) !== 'held';
  for (const eventKey of urgent) if (queues.has(eventKey) && mayGo(eventKey)) yield eventKey;
  if (!probing) {
    for (const eventKey of queues.keys()) if (mayGo(eventKey)) yield eventKey;
    return;
  }
  const heads = [...queues].flatMap(([eventKey, [head]]) => (head && mayGo(eventKey) ? [head] : []));
  heads.sort((a, b) => a.attempts - b.attempts || a.position - b.position);
  for (const { eventKey } of heads) yield eventKey;
}

function batchLedBy(lead: string, request: BatchRequest, taken: ReadonlySet<string>): Batch {
  const queue = request.queues.get(lead) ?? [];
  const group = queue[0]?.group;
  if (request.batchBy === 'event' || request.status(lead) === 'isolated') return fitting(prefix(queue, group), request);
  return fitting(mixed(lead, group, request, taken), request);
}

/** The deliveries of several events that may share a batch: urgent ones, then the leader's if it is a probe, then by position. */
function mixed(lead: string, group: number | undefined, request: BatchRequest, taken: ReadonlySet<string>): Batch {
  const { queues, urgent, status, probing } = request;
  const rank = ({ eventKey }: PendingDelivery): number =>
    urgent.has(eventKey) ? 0 : probing && eventKey === lead ? 1 : 2;
  return [...queues]
    .filter(([eventKey]) => eventKey === lead || (!taken.has(eventKey) && status(eventKey) === 'ready'))
    .flatMap(([, queue]) => prefix(queue, group))
    .sort((a, b) => rank(a) - rank(b) || a.position - b.position);
}

/** The oldest deliveries of an event, up to the first of another group. */
function prefix(queue: readonly PendingDelivery[], group: number | undefined): readonly PendingDelivery[] {
  const end = queue.findIndex((delivery) => delivery.group !== group);
  return end === -1 ? queue : queue.slice(0, end);
}

/** A copy: the queue may grow while the batch is in flight. */
function fitting(deliveries: readonly PendingDelivery[], { records, bytes }: BatchRequest): Batch {
  let size = 0;
  const end = deliveries.findIndex(({ json }, n) => {
    size += json.length;
    return n > 0 && (n >= records || size > bytes);
  });
  return deliveries.slice(0, end === -1 ? undefined : end);
}
