import { EventHubConsumerClient, EventHubProducerClient } from '@azure/event-hubs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oncePermitted, readHub } from '../../../../infra/acceptance/data/read-hub.ts';
import { createSimulatorData, simulatorDestinations } from '../../../../infra/acceptance/data/simulator-data.ts';
import { throttleRule } from '../../../../infra/acceptance/data/throttle-rule.ts';
import { streams } from '../../../../src/azure-simulator/cli/streams.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../../src/azure-simulator/index.ts';
import { sampleRecord } from '../../../support/sample-record.ts';

let azure: AzureSimulator;
let producer: EventHubProducerClient;
beforeAll(async () => {
  azure = await startAzureSimulator({ streams });
  producer = new EventHubProducerClient(azure.eventHubs.connectionString, azure.eventHubs.eventHubName);
});
afterAll(async () => {
  await producer.close();
  await azure.close();
});

async function send(body: unknown, type: string, partitionKey: string): Promise<void> {
  const properties = { 'cloudEvents:type': type, 'cloudEvents:specversion': '1.0' };
  await producer.sendBatch([{ body: Buffer.from(JSON.stringify(body)), properties, messageId: 'id' }], {
    partitionKey,
  });
}
const recordType = 'com.scheduledeventsbridge.scheduledevent.scheduled.v1';
const data = () => createSimulatorData(async () => azure);

describe('the records of a hub', () => {
  test('are read from all partitions since a time, without other messages', async () => {
    expect(await data().readHub(new Date(0))).toEqual([]);
    const first = sampleRecord({ recordId: 'first' });
    await send(first, recordType, 'one');
    await send({ other: true }, 'com.example.other', 'two');
    for (let key = 0; key < 8; key += 1) await send(sampleRecord({ recordId: `more-${key}` }), recordType, String(key));
    const all = await data().readHub(new Date(0));
    expect(all.map(({ record }) => record.recordId).toSorted()).toEqual([
      'first',
      ...Array.from({ length: 8 }, (_, key) => `more-${key}`),
    ]);
    expect(new Set(all.map(({ partitionId }) => partitionId)).size).toBeGreaterThan(1);
    const found = all.find(({ record }) => record.recordId === 'first');
    expect(found).toMatchObject({
      record: first,
      partitionKey: 'one',
      messageId: 'id',
      properties: { 'cloudEvents:type': recordType },
    });
    const last =
      all.toSorted((one, other) => one.enqueuedAt.getTime() - other.enqueuedAt.getTime()).at(-1)?.enqueuedAt ??
      new Date();
    expect(await data().readHub(last)).toEqual([]);
  });

  test('are read once the role of the account is known, and a refusal after that is an error', async () => {
    const slept: number[] = [];
    const said: string[] = [];
    const sleep = async (seconds: number): Promise<void> => {
      slept.push(seconds);
      azure.eventHubs.fault(null);
    };
    const context = { say: (line: string) => void said.push(line), signal: new AbortController().signal };
    const { connectionString, eventHubName } = azure.eventHubs;
    const impatient = { retryOptions: { maxRetries: 0 } };
    await using reader = {
      client: new EventHubConsumerClient('$Default', connectionString, eventHubName, impatient),
      [Symbol.asyncDispose]: () => reader.client.close(),
    };
    const read = oncePermitted(context, { sleep }, (since: Date) => readHub(reader.client, since, context.signal));
    azure.eventHubs.fault('unauthorized');
    expect((await read(new Date(0))).length).toBeGreaterThan(0);
    expect([slept, said]).toEqual([[120], ['waiting for the role of the account on the event hub, up to 30 minutes']]);
    azure.eventHubs.fault('unauthorized');
    await expect(read(new Date(0))).rejects.toMatchObject({ code: 'UnauthorizedError' });
    azure.eventHubs.fault(null);
    expect(slept).toEqual([120]);
  });

  test('that claim to be a record and are none are an error', async () => {
    await send({ ...sampleRecord(), position: 'first' }, recordType, 'wrong');
    await expect(data().readHub(new Date(0))).rejects.toThrow(/Partition \d, .*position/);
  });
});

describe('the limit of a data collection rule', () => {
  const { signal } = new AbortController();

  test('is reached by small rows, and the load ends on request', async () => {
    azure.logAnalytics.limit({ requestsPerMinute: 40 });
    const lines: string[] = [];
    const stop = await throttleRule(simulatorDestinations(azure), signal, (line) => lines.push(line), 1_000);
    await stop();
    const answered = azure.logAnalytics.requests.map(({ status }) => status);
    expect(answered.filter((status) => status === 204)).toHaveLength(40);
    expect(answered).toContain(429);
    expect(lines).toEqual([
      expect.stringMatching(/^The rule answers 429 after \d+ requests, with Retry-After: \d+\.$/),
    ]);
    azure.logAnalytics.limit(null);
    const before = azure.logAnalytics.requests.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(azure.logAnalytics.requests).toHaveLength(before);
  });

  test('that is never reached is an error', async () => {
    await expect(throttleRule(simulatorDestinations(azure), signal, () => {}, 100)).rejects.toThrow(
      /^The rule took \d+ requests in \d+ s and never answered 429\.$/,
    );
  });

  test('is not what another refusal shows', async () => {
    azure.logAnalytics.authorize([]);
    await expect(throttleRule(simulatorDestinations(azure), signal, () => {}, 100)).rejects.toThrow(
      'The rule answers 403 to a small row',
    );
    azure.logAnalytics.authorize(null);
  });
});
