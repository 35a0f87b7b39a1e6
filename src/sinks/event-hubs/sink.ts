import type { EventDataBatch } from '@azure/event-hubs';
import type { ReplaceableCredential } from '../../azure/credential.ts';
import { answerMs, createDeadlines, type DeadlineCounts } from '../../azure/deadline.ts';
import { classify } from '../../azure/errors.ts';
import { failedCheck, KnownFailure, rejected, retry } from '../../azure/failure.ts';
import { fetchToken, retryWithNewToken } from '../../azure/token.ts';
import type { Clock } from '../../clock.ts';
import { partitionKey } from '../cloud-event.ts';
import { type CheckResult, type Entry, parsed, type SendResult, type Sink } from '../sink.ts';
import { type AmqpClient, type AmqpClientOptions, createAmqpClient } from './amqp-client.ts';
import { destinationOf, type EventHubsConfig, eventHubsScope, eventHubsShape } from './config.ts';
import { createConnection } from './connection.ts';
import { waitForConnection } from './connection-policy.ts';
import { encodeEvent } from './encode.ts';

export interface EventHubsSinkOptions {
  readonly config: EventHubsConfig;
  /** Not asked where a connection string is configured. */
  readonly credential: ReplaceableCredential;
  readonly clock: Clock;
  /** An event that affects this VM is about to start: the connection is opened, and kept until it has. Default: never. */
  readonly startDue?: () => boolean;
  readonly random?: () => number;
  readonly waits?: Partial<EventHubsWaits>;
}

export interface EventHubsSink extends Sink {
  readonly deadlines: DeadlineCounts;
  /** The connection is open now. */
  readonly connected: boolean;
}

/** Deadlines, in ms. */
export interface EventHubsWaits {
  readonly tokenMs: number;
  /** A cold connection: TLS, claim, link. */
  readonly connectMs: number;
  readonly sendMs: number;
  /** The time that the SDK may give one AMQP exchange. Shorter than the others: its errors say more than ours. */
  readonly exchangeMs: number;
}

const defaultWaits: EventHubsWaits = { tokenMs: 20_000, connectMs: answerMs, sendMs: answerMs, exchangeMs: 10_000 };
/** The code of a refused token, and of a missing role: the service does not distinguish them. */
const unauthorized = 'unauthorized';

/**
 * The event hub. One `EventHubProducerClient`, a batch per partition key, nothing buffered and nothing retried in here.
 * Rejected: the SDK's buffered producer, which keeps what it has not sent in memory and drops what fails.
 */
export function createEventHubsSink(options: EventHubsSinkOptions): EventHubsSink {
  const { config, credential, clock, startDue = () => false, random = Math.random } = options;
  const destination = destinationOf(config);
  const waits = { ...defaultWaits, ...options.waits };
  const deadlines = createDeadlines(destination.name);
  let webSockets: AmqpClientOptions['webSockets'] = null;
  const connection = createConnection({
    makeLine: () => createAmqpClient({ config, credential, deadlines, exchangeMs: waits.exchangeMs, webSockets }),
    idleCloseSeconds: config.idleCloseSeconds,
    clock,
    // A fleet that needs jitter has too many VMs to open one connection each at the moment when an event starts.
    startDue: config.connectJitterSeconds > 0 ? () => false : startDue,
    open,
  });
  const closed = new AbortController();
  /** What the last connection was authorised with. */
  let token = '';

  /** An empty batch for this key: what it takes to get one is everything but the send. */
  async function connect(amqp: AmqpClient, signals: readonly AbortSignal[], key?: string): Promise<EventDataBatch> {
    if (config.connectionString === null && !connection.isOpen)
      token = await fetchToken({ credential, scope: eventHubsScope }, deadlines, waits.tokenMs, signals);
    const batch = await deadlines.run('connect', waits.connectMs, signals, (abortSignal) =>
      amqp.client.createBatch({ abortSignal, ...(key !== undefined && { partitionKey: key }) }),
    );
    connection.opened(amqp);
    return batch;
  }

  async function loadTransport(): Promise<void> {
    if (config.transport === 'amqp-ws') webSockets ??= (await import('./web-sockets.ts')).createWebSockets;
  }

  async function open(signal: AbortSignal): Promise<void> {
    await loadTransport();
    await connection.use(async (amqp) => {
      try {
        await connect(amqp, [signal, amqp.broken]);
      } catch (error) {
        connection.discard(amqp);
        throw error;
      }
    });
  }

  async function sendOn(amqp: AmqpClient, entries: readonly Entry[], signal: AbortSignal): Promise<SendResult> {
    const signals = [signal, closed.signal, amqp.broken];
    const [first] = entries;
    if (!first) return { kind: 'delivered' };
    // assumption: hub-order
    const batch = await connect(amqp, signals, partitionKey(parsed(first).record));
    // Parsed here, and nothing kept of it: records that live until the answer are what collecting garbage costs most.
    for (const entry of entries) {
      if (!batch.tryAdd(encodeEvent(parsed(entry)))) {
        const reason = `A batch of ${entries.length} is over the ${batch.maxSizeInBytes} bytes that ${destination.name} takes; retrying in smaller batches.`;
        return rejected('too-large', 'message-too-large', reason);
      }
    }
    await deadlines.run('send', waits.sendMs, signals, (abortSignal) => amqp.client.sendBatch(batch, { abortSignal }));
    return { kind: 'delivered' };
  }

  /** What a failure on this line means, and whether the line survives it. */
  function failed(amqp: AmqpClient, error: unknown, signal: AbortSignal): SendResult {
    const isAborted = signal.aborted || closed.signal.aborted;
    const failure = classify(isAborted ? error : amqp.explain(error), destination, clock.now());
    // A new connection costs 100 ms; a doubtful one may cost every send its whole deadline.
    // It keeps the token that was refused, too.
    const isDoubtful = failure.cause === 'transient' || failure.code === unauthorized;
    if (isDoubtful && !isAborted) connection.discard(amqp);
    return failure;
  }

  const attempt = (signal: AbortSignal, work: (amqp: AmqpClient) => Promise<SendResult>): Promise<SendResult> =>
    retryWithNewToken(
      unauthorized,
      () => attemptOnce(signal, work),
      async () => config.connectionString === null && credential.replace?.(eventHubsScope, token, signal),
    );

  async function attemptOnce(
    signal: AbortSignal,
    work: (amqp: AmqpClient) => Promise<SendResult>,
  ): Promise<SendResult> {
    try {
      await loadTransport();
      return await connection.use(async (amqp) => {
        try {
          return await work(amqp);
        } catch (error) {
          return failed(amqp, error, signal);
        }
      });
    } catch (error) {
      // No line could be made: the address is unusable.
      return classify(error, destination, clock.now());
    }
  }

  return {
    ...eventHubsShape,
    async send(batch, signal) {
      const { connectJitterSeconds } = config;
      const isOver = (): boolean => signal.aborted || closed.signal.aborted || connection.isOpen;
      if (!isOver()) {
        const records = batch.map((entry) => parsed(entry).record);
        await waitForConnection(records, { connectJitterSeconds, clock, random, isOver, signal });
      }
      return attempt(signal, (amqp) => sendOn(amqp, batch, signal));
    },
    async check(signal): Promise<CheckResult> {
      // Attaching a sending link takes the same right as sending.
      const result = await attempt(signal, async (amqp) => {
        await connect(amqp, [signal, closed.signal, amqp.broken]);
        return { kind: 'delivered' };
      });
      if (result.kind !== 'delivered') return failedCheck(result);
      return { ok: true, code: 'ok', detail: `${destination.name} lets this VM send.` };
    },
    async close() {
      closed.abort(new KnownFailure(retry('transient', 'aborted', 'The sink was closed.')));
      await connection.close();
    },
    deadlines,
    get connected() {
      return connection.isOpen;
    },
  };
}
