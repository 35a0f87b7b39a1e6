import { randomUUID } from 'node:crypto';
import { EventHubBufferedProducerClient } from '@azure/event-hubs';
import { ManagedIdentityCredential } from '@azure/identity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partitionOfKey } from '../../../src/azure-simulator/event-hubs/partition-key.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { until } from '../../support/until.ts';
import { consumer, producer, receive, send, type Transport, useSimulator } from '../sdk-clients.ts';

let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator({ consumerGroups: ['tail'] });
  useSimulator(azure);
});
afterAll(async () => {
  await azure.close();
  expect(azure.errors).toEqual([]);
});

const stored = (key: string): ReturnType<AzureSimulator['eventHubs']['events']> =>
  azure.eventHubs.events().filter(({ partitionKey }) => partitionKey === key);

describe('the simulated hub and the real SDK', () => {
  test.each<Transport>(['tls', 'websockets', 'connection string'])(
    'an event sent over %s is stored and read back',
    async (way) => {
      const key = randomUUID();
      const sending = producer(azure, { way });
      const batch = await sending.createBatch({ partitionKey: key });
      expect(batch.maxSizeInBytes).toBe(1_048_576);
      batch.tryAdd({
        body: Buffer.from('{"way":"ä"}'),
        contentType: 'application/json',
        messageId: 'id-1',
        correlationId: 'step-1',
        properties: { 'cloudEvents:id': 'id-1', sequence: 3 },
      });
      await sending.sendBatch(batch);
      await sending.close();

      const [event, ...others] = stored(key);
      expect(others).toEqual([]);
      expect(event?.partition).toBe(partitionOfKey(key, 4));
      expect(event?.body.toString()).toBe('{"way":"ä"}');
      expect(event).toMatchObject({
        messageId: 'id-1',
        correlationId: 'step-1',
        contentType: 'application/json',
        properties: { 'cloudEvents:id': 'id-1', sequence: 3 },
      });

      const reading = consumer(azure, { way });
      const received = await receive(reading, azure.eventHubs.events().length, { offset: '-1' });
      await reading.close();
      expect(received.find(({ partitionKey }) => partitionKey === key)).toMatchObject({
        body: { way: 'ä' },
        messageId: 'id-1',
        correlationId: 'step-1',
        contentType: 'application/json',
        properties: { 'cloudEvents:id': 'id-1', sequence: 3 },
        sequenceNumber: event?.sequenceNumber,
        offset: event?.offset,
        enqueuedTimeUtc: event?.enqueuedAt,
      });
    },
  );

  test('a batch keeps its order and is stored in the named partition', async () => {
    const client = producer(azure);
    const before = azure.eventHubs.events().length;
    const batch = await client.createBatch({ partitionId: '2' });
    for (let n = 0; n < 500; n++) batch.tryAdd({ body: Buffer.from(String(n)) });
    await client.sendBatch(batch);
    const events = azure.eventHubs.events().slice(before);
    expect(events.map(({ body }) => Number(body.toString()))).toEqual(Array.from({ length: 500 }, (_, n) => n));
    expect(new Set(events.map(({ partition }) => partition))).toEqual(new Set([2]));
    const { lastEnqueuedSequenceNumber, isEmpty } = await client.getPartitionProperties('2');
    expect(isEmpty).toBe(false);
    expect(lastEnqueuedSequenceNumber).toBe(events.at(-1)?.sequenceNumber);
    expect((await client.getEventHubProperties()).partitionIds).toEqual(['0', '1', '2', '3']);
    await client.close();
  });

  test('a batch of many frames is received completely', async () => {
    const client = producer(azure);
    const key = randomUUID();
    await send(client, [{ text: 'x'.repeat(900_000) }], key);
    await client.close();
    expect(stored(key)[0]?.body.length).toBe(900_011);
  });

  test('the buffered producer of the SDK puts each key where the hub would', async () => {
    const client = new EventHubBufferedProducerClient(
      azure.eventHubs.fullyQualifiedNamespace,
      azure.eventHubs.eventHubName,
      new ManagedIdentityCredential(),
      {
        customEndpointAddress: azure.eventHubs.customEndpoint,
        onSendEventsErrorHandler: async ({ error }) => Promise.reject(error),
        maxWaitTimeInMs: 10,
      },
    );
    const keys = Array.from({ length: 20 }, () => randomUUID());
    for (const partitionKey of keys) await client.enqueueEvent({ body: Buffer.from(partitionKey) }, { partitionKey });
    await client.close({ flush: true });
    // It names the partition and drops the key.
    const partitions = new Map(azure.eventHubs.events().map(({ body, partition }) => [body.toString(), partition]));
    expect(keys.map((key) => partitions.get(key))).toEqual(keys.map((key) => partitionOfKey(key, 4)));
  });

  test('a consumer starts where it requests: after a sequence number, or at the end', async () => {
    const client = producer(azure);
    const key = randomUUID();
    await send(client, [1, 2, 3], key);
    const [first] = stored(key);
    const after = await receiveFrom(first?.partition ?? -1, { sequenceNumber: first?.sequenceNumber }, 2);
    expect(after).toEqual([2, 3]);
    const latest = receiveFrom(first?.partition ?? -1, { offset: '@latest' }, 1, () => send(client, [4], key));
    expect(await latest).toEqual([4]);
    await client.close();
  });

  async function receiveFrom(
    partition: number,
    startPosition: object,
    count: number,
    once = async () => {},
  ): Promise<unknown[]> {
    const client = consumer(azure, { group: 'tail' });
    const bodies: unknown[] = [];
    let ready = false;
    const subscription = client.subscribe(
      String(partition),
      {
        processInitialize: async () => {},
        processEvents: async (events) => {
          ready = true;
          bodies.push(...events.map(({ body }) => body as unknown));
        },
        processError: async () => {},
      },
      { startPosition, maxWaitTimeInSeconds: 0.2 },
    );
    await until(() => ready, { what: 'the first, perhaps empty, batch' });
    await once();
    await until(() => bodies.length >= count);
    await subscription.close();
    await client.close();
    return bodies;
  }

  test('a higher epoch takes a partition over', async () => {
    const said: string[] = [];
    const own = (name: string, ownerLevel: number): (() => Promise<void>) => {
      const client = consumer(azure);
      client.subscribe(
        '0',
        {
          processEvents: async () => void said.push(`${name} reads`),
          processError: async () => {},
          processClose: async (reason) => void said.push(`${name} ${reason}`),
        },
        { startPosition: { offset: '-1' }, ownerLevel, maxWaitTimeInSeconds: 0.1 },
      );
      return () => client.close();
    };
    const closeOld = own('old', 1);
    await until(() => said.includes('old reads'));
    const closeNew = own('new', 2);
    await until(() => said.includes('old OwnershipLost') && said.includes('new reads'));
    await Promise.all([closeOld(), closeNew()]);
  });

  test('a missing entity is answered as not found, and a position out of range as invalid', async () => {
    const stranger = producer(azure, { hub: 'other' });
    await expect(send(stranger, [1])).rejects.toMatchObject({ code: 'MessagingEntityNotFoundError' });
    const client = producer(azure);
    await expect(client.getPartitionProperties('9')).rejects.toMatchObject({ code: 'ArgumentOutOfRangeError' });
    const lost = consumer(azure, { group: 'unknown' });
    await expect(receive(lost, 1, { offset: '-1' })).rejects.toMatchObject({ code: 'MessagingEntityNotFoundError' });
    await Promise.all([stranger.close(), client.close(), lost.close()]);
  });

  test('a connection string with another key is refused', async () => {
    const connectionString = azure.eventHubs.connectionString.replace(
      /SharedAccessKey=[^;]+/,
      'SharedAccessKey=d3Jvbmc=',
    );
    const client = producer(
      { ...azure, eventHubs: { ...azure.eventHubs, connectionString } },
      { way: 'connection string' },
    );
    await expect(send(client, [1])).rejects.toBeTruthy();
    await client.close();
  });

  test('connections are counted while they are open', async () => {
    await until(() => azure.eventHubs.connections === 0, { what: 'the clients of earlier tests to be gone' });
    const opened = azure.eventHubs.connectionsOpened;
    const client = producer(azure);
    await send(client, [1]);
    expect(azure.eventHubs.connections).toBe(1);
    await client.close();
    await until(() => azure.eventHubs.connections === 0);
    expect(azure.eventHubs.connectionsOpened).toBe(opened + 1);
  });
});
