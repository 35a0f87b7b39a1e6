import { type EventHubClientOptions, EventHubConsumerClient } from '@azure/event-hubs';
import type { TokenCredential } from '@azure/identity';
import { createDeadlines } from '../azure/deadline.ts';
import { fetchToken } from '../azure/token.ts';
import type { HubClient } from '../consumer/index.ts';
import { destinationOf, type EventHubsConfig, eventHubsScope } from '../sinks/event-hubs/config.ts';
import { explainRefusal, type HubProblem, HubRefused, type ReadFrom, type Stage } from './refusal.ts';

export interface HubOptions {
  readonly config: EventHubsConfig;
  /** Not asked where a connection string is configured. */
  readonly credential: TokenCredential;
  readonly consumerGroup: string;
}

/** An event hub that can be read. */
export interface Hub {
  readonly client: HubClient;
  /** `vm-lifecycle in contoso.servicebus.windows.net`. */
  readonly name: string;
  /** What an error means, and how to fix it. */
  explain(error: unknown, stage: Stage): HubProblem;
  /** Ends within a few seconds, also when the service does not answer. Never rejects. */
  close(): Promise<void>;
}

/**
 * The SDK's default waits 30 s between two attempts, which is all the notice that a Spot VM gets, and gives one attempt a minute. When
 * these attempts have failed it reports the error and tries again ten seconds later, forever.
 */
const retryOptions = { maxRetries: 2, retryDelayInMs: 1_000, timeoutInMs: 15_000 };
const tokenMs = 30_000;
const closeMs = 3_000;

// assumption: hub-readers
/**
 * Connects to nothing but the source of tokens. Reads without an owner level, so it takes no partition from another reader.
 * @throws HubRefused if there is no token, or the address is unusable.
 */
export async function openHub(options: HubOptions, signal: AbortSignal): Promise<Hub> {
  const { config, credential, consumerGroup } = options;
  const { name } = destinationOf(config);
  const deadlines = createDeadlines(name);
  async function tokenOf(): Promise<string> {
    if (config.connectionString !== null) return '';
    try {
      return await fetchToken({ credential, scope: eventHubsScope }, deadlines, tokenMs, [signal]);
    } catch (error) {
      throw new HubRefused(explainRefusal(error, 'token', { config, consumerGroup, token: '' }), { cause: error });
    }
  }
  const from: ReadFrom = { config, consumerGroup, token: await tokenOf() };
  const client = await createClient(options);
  return {
    client,
    name: name.replace('the event hub ', ''),
    explain: (error, stage) => explainRefusal(error, stage, from),
    async close() {
      await deadlines.run('close', closeMs, [], () => client.close()).catch(() => {});
    },
  };
}

async function createClient({ config, credential, consumerGroup }: HubOptions): Promise<EventHubConsumerClient> {
  const { connectionString, fullyQualifiedNamespace, eventHubName, customEndpoint, transport } = config;
  const options: EventHubClientOptions = {
    retryOptions,
    ...(customEndpoint !== null && { customEndpointAddress: customEndpoint }),
    ...(transport === 'amqp-ws' && (await webSocketOptions())),
  };
  try {
    return connectionString === null
      ? new EventHubConsumerClient(consumerGroup, fullyQualifiedNamespace ?? '', eventHubName, credential, options)
      : new EventHubConsumerClient(consumerGroup, connectionString, eventHubName, options);
  } catch {
    // The SDK's message quotes the connection string, secret and all.
    throw new HubRefused({
      code: 'bad-address',
      message:
        'The address of the event hub is unusable: check the namespace, the event hub and the connection string.',
      remedy: null,
      isPermanent: true,
    });
  }
}

async function webSocketOptions(): Promise<Pick<EventHubClientOptions, 'webSocketOptions'>> {
  const { createWebSockets } = await import('../sinks/event-hubs/web-sockets.ts');
  return createWebSockets(retryOptions.timeoutInMs, () => {}).options;
}
