import { InvocationContext } from '@azure/functions';
import type { ContainerClient } from '@azure/storage-blob';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createHandler } from '../../infra/examples/azure-function/handler.ts';
import { type AzureSimulator, type StoredEvent, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { producer, useSimulator } from '../azure-simulator/sdk-clients.ts';
import type { Message } from '../infra/examples/histories/bridge.ts';
import { bodyOf, byVm, readHistories } from '../infra/examples/histories/read.ts';
import { type Azurite, startAzurite, whyNoAzurite } from './azurite.ts';

const reason = whyNoAzurite();

/** The function acts on each batch without having read the rest of the backlog: the README of the example says so. */
const needHistoryFirst = ['history-first', 'killed-during-a-drain', 'partitions'];

describe.skipIf(reason)(`the handler of the function${reason}`, () => {
  let azurite: Azurite;
  let azure: AzureSimulator;
  let client: ReturnType<typeof producer>;
  let container: ContainerClient;
  let read = 0;
  const acts: string[] = [];
  let failsFor: readonly string[] = [];
  let handler: ReturnType<typeof createHandler>;

  beforeAll(async () => {
    azurite = await startAzurite();
    container = await azurite.container('function');
    azure = await startAzureSimulator();
    useSimulator(azure);
    client = producer(azure);
    handler = createHandler(container, {
      drain({ name }) {
        acts.push(`drain ${name}`);
        if (failsFor.includes(name)) throw new Error('the load balancer is down');
      },
      restore: ({ name }) => void acts.push(`restore ${name}`),
    });
  });
  afterAll(async () => {
    await client.close();
    await azure.close();
    azurite.close();
    expect(azure.errors).toEqual([]);
  });

  async function send(messages: readonly Message[]): Promise<readonly (readonly StoredEvent[])[]> {
    for (const message of messages) {
      const { partition, contentType, properties = {} } = message;
      const batch = await client.createBatch({ partitionId: partition });
      const content = { ...(contentType !== undefined && { contentType }), properties: { ...properties } };
      expect(batch.tryAdd({ body: bodyOf(message), ...content })).toBe(true);
      await client.sendBatch(batch);
    }
    const stored = azure.eventHubs.events().slice(read);
    read += stored.length;
    return [...Map.groupBy(stored, ({ partition }) => partition).values()];
  }

  /** As the host of functions calls it with the events of one partition. */
  function call(events: readonly StoredEvent[], errors: string[] = []): Promise<void> {
    const context = new InvocationContext({
      functionName: 'onRecords',
      invocationId: 'test',
      logHandler: (_, ...args) => void errors.push(args.join(' ')),
      triggerMetadata: {
        partitionContext: { partitionId: String(events[0]?.partition) },
        propertiesArray: events.map(({ properties }) => properties),
        sequenceNumberArray: events.map(({ sequenceNumber }) => sequenceNumber),
      },
    });
    return handler(
      events.map(({ body }) => asHost(body)),
      context,
    );
  }

  test.each([...readHistories()].filter(([name]) => !needHistoryFirst.includes(name)))(
    'does what the history %s demands, and no more when it is called again',
    async (_, { runs }) => {
      for (const { before, acts: expected, steps } of runs) {
        for (const { messages, acts: wanted } of [{ messages: before, acts: expected }, ...steps]) {
          const batches = await send(messages);
          for (const batch of batches) await call(batch);
          expect(byVm(acts.splice(0))).toEqual(byVm(wanted));
          for (const batch of batches) await call(batch);
          expect(acts.splice(0)).toEqual([]);
        }
      }
    },
  );

  const announcement = (vm: string): Message => {
    const [first] = readHistories().get('reappeared')?.runs[0]?.steps[0]?.messages ?? [];
    const text = JSON.stringify(first?.body).replaceAll(/"[^"]*_0"/g, `"${vm}"`);
    const body = { ...JSON.parse(text), eventId: `event of ${vm}`, recordId: vm, vmId: vm, streamId: vm };
    return { ...(first as Message), partition: '0', body };
  };

  test('stores a message that it cannot read, and acts on the others of its batch', async () => {
    const broken: Message = {
      ...announcement('broken'),
      body: undefined,
      bodyBase64: Buffer.from('{"phase":').toString('base64'),
    } as never;
    const [batch = []] = await send([announcement('before'), broken, announcement('after')]);
    const errors: string[] = [];
    await call(batch, errors);
    expect(byVm(acts.splice(0))).toEqual(['drain after', 'drain before']);
    expect(errors).toEqual([expect.stringContaining('the body is not JSON')]);
    const blob = container.getBlockBlobClient(`poison/0-${batch[1]?.sequenceNumber}.json`);
    const stored = JSON.parse((await blob.downloadToBuffer()).toString());
    expect(stored).toEqual({ problem: errors[0], body: '{"phase":' });
  });

  test('fails as a whole where an action fails, and repeats only that one when it is called again', async () => {
    const [batch = []] = await send([announcement('sick'), announcement('sound')]);
    failsFor = ['sick'];
    await expect(call(batch)).rejects.toThrow('the load balancer is down');
    expect(byVm(acts.splice(0))).toEqual(['drain sick', 'drain sound']);
    failsFor = [];
    await call(batch);
    expect(acts.splice(0)).toEqual(['drain sick']);
  });
});

test('the function is registered only where its container is set', async () => {
  vi.stubEnv('STATE_CONTAINER', '');
  const path = '../../infra/examples/azure-function/on-records.ts';
  await expect(import(`${path}?unset`)).rejects.toThrow('Set STATE_CONTAINER');
  vi.stubEnv('STATE_CONTAINER', 'https://account.blob.core.windows.net/function');
  await import(`${path}?set`);
  vi.unstubAllEnvs();
});

/** The host hands JSON over parsed, and anything else as text. */
function asHost(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return body.toString();
  }
}
