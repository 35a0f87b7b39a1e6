import { type EventHubClientOptions, EventHubProducerClient } from '@azure/event-hubs';
import type { TokenCredential } from '@azure/identity';
import type { Deadlines } from '../../azure/deadline.ts';
import { KnownFailure, retry } from '../../azure/failure.ts';
import { amqpCredential } from './amqp-credential.ts';
import type { EventHubsConfig } from './config.ts';
import { onDetached, rejectRequestsWhenEnded, socketOf, stopRenewals } from './sdk-internals.ts';
import type { createWebSockets } from './web-sockets.ts';

/** One SDK client with one connection under it. Never repaired: when it breaks it is discarded, and the next send makes another. */
export interface AmqpClient {
  readonly client: EventHubProducerClient;
  /** Aborted when the service closes the connection, or when an open one breaks or its link is detached, long before the SDK notices; the reason is the error, if one was given. */
  readonly broken: AbortSignal;
  /** To be called when the connection is open: from now on its end is watched. */
  opened(): void;
  /** The error of the SDK, with what this client adds to it. */
  explain(error: unknown): unknown;
  /** Closes everything within 3 s, even when the SDK hangs. Never rejects. */
  close(): Promise<void>;
}

const closeMs = 2_500;

export interface AmqpClientOptions {
  readonly config: EventHubsConfig;
  readonly credential: TokenCredential;
  readonly deadlines: Deadlines;
  /** For one AMQP exchange. */
  readonly exchangeMs: number;
  /** Loaded only where the transport is `amqp-ws`: with it comes all of undici, 3.3 MB resident. */
  readonly webSockets: typeof createWebSockets | null;
}

/** Connects to nothing yet. Throws a `KnownFailure` when the address or the connection string is unusable. */
export function createAmqpClient({
  config,
  credential,
  deadlines,
  exchangeMs,
  webSockets,
}: AmqpClientOptions): AmqpClient {
  const broken = new AbortController();
  const tokens = amqpCredential(credential);
  const sockets = webSockets?.(exchangeMs, () => isOpen && broken.abort(gone));
  const client = createClient(config, tokens, exchangeMs, sockets?.options ?? {});
  const rejectRequests = rejectRequestsWhenEnded(client, gone, (reason) => broken.abort(reason));
  let isOpen = false;

  return {
    client,
    broken: broken.signal,
    opened() {
      if (isOpen) return;
      isOpen = true;
      socketOf(client)?.once('close', () => broken.abort(gone));
      onDetached(client, (error) => broken.abort(error));
    },
    explain(error) {
      if (broken.signal.aborted) return broken.signal.reason;
      if (isOpen) return error;
      const failure = sockets?.failure();
      return failure ? new AggregateError([error, failure]) : error;
    },
    async close() {
      // Taken first: the SDK puts a fresh connection in the place of one that closes.
      const socket = socketOf(client);
      try {
        await deadlines.run('close', closeMs, [], () => client.close());
      } catch {
        // Closing is a courtesy to the service; what counts is below.
      }
      tokens.revoke();
      rejectRequests();
      stopRenewals(client);
      socket?.destroy();
      await sockets?.destroy();
    },
  };
}

function createClient(
  config: EventHubsConfig,
  credential: TokenCredential,
  exchangeMs: number,
  webSocketOptions: Pick<EventHubClientOptions, 'webSocketOptions'>,
): EventHubProducerClient {
  const { fullyQualifiedNamespace, connectionString, eventHubName, customEndpoint } = config;
  const options: EventHubClientOptions = {
    // Off: on its own retries an unauthorised send took 451 s with the defaults, and a Retry-After is slept in the call.
    retryOptions: { maxRetries: 0, timeoutInMs: exchangeMs },
    ...(customEndpoint !== null && { customEndpointAddress: customEndpoint }),
    ...webSocketOptions,
  };
  try {
    return connectionString !== null
      ? new EventHubProducerClient(connectionString, eventHubName, options)
      : new EventHubProducerClient(fullyQualifiedNamespace ?? '', eventHubName, credential, options);
  } catch {
    // The SDK's message quotes the connection string, secret and all.
    const key =
      connectionString === null ? 'sinks.eventHubs.fullyQualifiedNamespace' : 'sinks.eventHubs.connectionString';
    const reason = `The address of the event hub is unusable: check ${key}, sinks.eventHubs.eventHubName and sinks.eventHubs.customEndpoint.`;
    throw new KnownFailure(retry('configuration', 'bad-address', reason));
  }
}

/** In the words by which the classification knows it. */
const gone = new Error('connection lost');
