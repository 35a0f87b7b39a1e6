import { randomUUID } from 'node:crypto';
import type { EventData } from '@azure/event-hubs';
import type { TokenCredential } from '@azure/identity';
import { answerMs, createDeadlines } from '../../azure/deadline.ts';
import { classify } from '../../azure/errors.ts';
import { fetchToken } from '../../azure/token.ts';
import type { Clock } from '../../clock.ts';
import { type HeartbeatFacts, heartbeat } from '../../heartbeat/row.ts';
import type { HeartbeatSender } from '../../heartbeat/sender.ts';
import { createAmqpClient } from './amqp-client.ts';
import { destinationOf, type EventHubsConfig, eventHubsScope } from './config.ts';

const waits = { tokenMs: 20_000, connectMs: answerMs, sendMs: answerMs, exchangeMs: 10_000 } as const;

/** All heartbeats of a VM are in one partition, and so in order. */
const partitionKey = ({ observer }: HeartbeatFacts): string => observer.vmId.toLowerCase();

/** As a CloudEvent in AMQP binary mode, like a record. https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/amqp-protocol-binding.md */
export function encodeHeartbeat(facts: HeartbeatFacts, id: string): EventData {
  const { observer, at } = facts;
  const cloudEvent = {
    specversion: '1.0',
    id,
    source: observer.resourceId?.toLowerCase() ?? `urn:uuid:${observer.vmId.toLowerCase()}`,
    type: 'com.scheduledeventsbridge.heartbeat.v1',
    subject: observer.vmId,
    time: at.toISOString(),
    dataschema: 'urn:scheduled-events-bridge:heartbeat:v1',
    partitionkey: partitionKey(facts),
  };
  return {
    body: Buffer.from(JSON.stringify(heartbeat(facts))),
    contentType: 'application/json',
    messageId: id,
    properties: Object.fromEntries(Object.entries(cloudEvent).map(([name, value]) => [`cloudEvents:${name}`, value])),
  };
}

/**
 * On its own connection, opened for this and closed at once: a namespace limits connections, and a heartbeat is
 * no reason to keep one. Rejected: to share the sink's, whose failures would then be each other's.
 */
export function createHubSender({
  config,
  credential,
  clock,
}: {
  readonly config: EventHubsConfig;
  readonly credential: TokenCredential;
  readonly clock: Clock;
}): HeartbeatSender {
  const destination = destinationOf(config);
  const deadlines = createDeadlines(destination.name);

  async function sendOnce(facts: HeartbeatFacts, signal: AbortSignal): Promise<void> {
    const webSockets = config.transport === 'amqp-ws' ? (await import('./web-sockets.ts')).createWebSockets : null;
    const amqp = createAmqpClient({ config, credential, deadlines, exchangeMs: waits.exchangeMs, webSockets });
    const signals = [signal, amqp.broken];
    try {
      if (config.connectionString === null) {
        await fetchToken({ credential, scope: eventHubsScope }, deadlines, waits.tokenMs, signals);
      }
      const batch = await deadlines.run('connect', waits.connectMs, signals, (abortSignal) =>
        amqp.client.createBatch({ abortSignal, partitionKey: partitionKey(facts) }),
      );
      amqp.opened();
      batch.tryAdd(encodeHeartbeat(facts, randomUUID()));
      await deadlines.run('send', waits.sendMs, signals, (abortSignal) =>
        amqp.client.sendBatch(batch, { abortSignal }),
      );
    } catch (error) {
      throw amqp.explain(error);
    } finally {
      await amqp.close();
    }
  }

  return {
    name: destination.name,
    async send(facts, signal) {
      try {
        await sendOnce(facts, signal);
        return null;
      } catch (error) {
        return classify(error, destination, clock.now());
      }
    },
  };
}
