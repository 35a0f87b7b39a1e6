import type { EventHubProducerClient } from '@azure/event-hubs';

/**
 * Four private members of the SDK, for what it does not clean up. Its version is pinned, and
 * `test/sinks/event-hubs/sdk-internals.test.ts` fails when an update moves them. Rejected: a connection test of our own ahead of each
 * connection (one more TLS handshake before every cold send), and restarting the process after some leaked sockets.
 */

interface Socket {
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/**
 * The TCP or TLS socket under a client; null without one, or when it is a WebSocket. Wanted for two reasons:
 * a send in flight does not learn that the connection broke (it waits for its time-out, 10 s of a notice that may be 30 s),
 * and a peer that accepts and says nothing keeps its socket open, even after `close()`.
 */
export function socketOf(client: EventHubProducerClient): Socket | null {
  const socket = follow(client, ['_context', 'connection', '_connection', 'socket']);
  const { once, destroy } = (socket ?? {}) as Partial<Socket>;
  return typeof once === 'function' && typeof destroy === 'function' ? (socket as Socket) : null;
}

// assumption: hub-disconnects-idle
/**
 * Calls back, once, when the service detaches the sending link, with the AMQP error if it gave one: a send in flight
 * does not learn of that either.
 */
export function onDetached(client: EventHubProducerClient, listener: (error: unknown) => void): void {
  for (const sender of sendersOf(client)) {
    const link = follow(sender, ['_sender']) as Partial<Link> | undefined;
    if (typeof link?.once !== 'function') continue;
    // Both come for one detach; the first one brings the error.
    link.once('sender_error', (context) => listener(follow(context, ['sender', 'error'])));
    link.once('sender_close', (context) => listener(follow(context, ['sender', 'error'])));
  }
}

interface Link {
  once(event: 'sender_error' | 'sender_close', listener: (context: unknown) => void): unknown;
}

/**
 * Rejects the requests of a client that wait for an answer of `$cbs`, with what ended its connection: the SDK leaves them to their
 * time-out, and that reads the address of a link that is gone, so that it throws out of a timer and ends the process
 * (`RequestResponseLink.sendRequest` of core-amqp 4.5.1). Returns a function that does it at once.
 *
 * @param onClosed called with the reason when the service closes the connection. The client is unusable then: where that happened
 * before it was authorised, it keeps sending its requests on the closed link.
 */
export function rejectRequestsWhenEnded(
  client: EventHubProducerClient,
  gone: Error,
  onClosed: (reason: unknown) => void,
): () => void {
  // Taken now: the SDK puts fresh ones in the place of those that end.
  const connection = follow(client, ['_context', 'connection']) as Partial<Connection> | undefined;
  const cbs = follow(client, ['_context', 'cbsSession']);
  const rejectAll = (error: unknown): void => {
    const requests = follow(cbs, ['_cbsSenderReceiverLink', '_responsesMap']);
    if (!(requests instanceof Map)) return;
    for (const request of requests.values() as Iterable<Partial<Request>>) {
      request.cleanupBeforeResolveOrReject?.();
      request.reject?.(error);
    }
    requests.clear();
  };
  connection?.on?.('disconnected', () => rejectAll(gone));
  for (const event of ['connection_close', 'connection_error']) {
    connection?.on?.(event, (context) => {
      const reason = follow(context, ['connection', 'error']) ?? gone;
      rejectAll(reason);
      onClosed(reason);
    });
  }
  return () => rejectAll(gone);
}

interface Connection {
  on(event: string, listener: (context: unknown) => void): unknown;
}

interface Request {
  cleanupBeforeResolveOrReject(): void;
  reject(error: unknown): void;
}

/** Stops the timers that renew the authorisation of each link: after a broken connection `close()` does not get to them. */
export function stopRenewals(client: EventHubProducerClient): void {
  for (const sender of sendersOf(client)) {
    const loop = follow(sender, ['authLoop']) as { stop?: unknown } | undefined;
    if (typeof loop?.stop === 'function') loop.stop();
  }
}

function sendersOf(client: EventHubProducerClient): Iterable<unknown> {
  const senders = follow(client, ['_sendersMap']);
  return senders instanceof Map ? senders.values() : [];
}

function follow(start: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    start,
  );
}
