import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partitionOfKey } from '../../src/azure-simulator/event-hubs/partition-key.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { type Client, clients, run, whyNot } from './clients.ts';

const ways = ['tls', 'connection string', 'websockets'] as const;
type Transport = (typeof ways)[number];
const hubOf = (language: string, way: string): string => `${language}-${way.replace(' ', '-')}`;

interface Case {
  readonly client: Client;
  readonly script?: string;
  /** What its library says when another reader takes the partition. */
  readonly disconnected: unknown;
  /** What it checks besides, and what it stores besides. */
  readonly also?: (way: Transport) => { readonly saw: Record<string, unknown>; readonly bodies: readonly string[] };
}

const cases: Readonly<Record<string, Case>> = {
  'azeventhubs for Go': { client: clients.go, script: 'event-hubs', disconnected: 'ownershiplost' },
  'azure-messaging-eventhubs for Java': { client: clients.java, disconnected: 'LINK_STOLEN' },
  'azure_messaging_eventhubs for Rust': { client: clients.rust, disconnected: 'ConsumerDisconnected' },
  'azure-eventhub for Python': {
    client: clients.python,
    script: 'test/third-party/python/event_hubs.py',
    disconnected: ['ConnectionLostError'],
    also: (way) => ({
      saw: {
        throttled: ['com.microsoft:server-busy', null],
        ...(way === 'connection string' ? { 'a wrong key': 'AuthenticationError' } : {}),
      },
      bodies: [`throttled ${hubOf('python', way)}`],
    }),
  },
};

let azure: AzureSimulator;
beforeAll(async () => {
  const hubs = Object.values(cases).flatMap(({ client }) => ways.map((way) => hubOf(client.language, way)));
  azure = await startAzureSimulator({ hubs: hubs.map((name) => ({ name })) });
  // The client for Python tries a batch twice before it reports that it was refused.
  const left = new Map(ways.map((way) => [`throttled ${hubOf('python', way)}`, 2]));
  const when = (body: Buffer): boolean => {
    const times = left.get(body.toString()) ?? 0;
    left.set(body.toString(), times - 1);
    return times > 0;
  };
  azure.eventHubs.fault({ reject: 'com.microsoft:server-busy', when });
});
afterAll(async () => {
  await azure.close();
  expect(azure.errors).toEqual([]);
});

for (const [name, { client, script, disconnected, also }] of Object.entries(cases)) {
  const reason = whyNot(client);
  describe.skipIf(reason)(`${name}${reason}`, { concurrent: true }, () => {
    test.each(ways)('over %s sends, reads from every partition and continues from a checkpoint', async (way) => {
      const hub = hubOf(client.language, way);
      const more = also?.(way);
      const partition = partitionOfKey('käse', 4);
      expect(await run(azure, client, ...(script === undefined ? [] : [script]), way)).toEqual({
        properties: { name: hub, partitions: ['0', '1', '2', '3'] },
        'a batch under a key': { partition: String(partition) },
        'from the beginning': [
          ['one', 0, 'käse'],
          ['two', 1, 'käse'],
          ['three', 2, 'käse'],
        ],
        'from an offset': ['two', 'three'],
        'from a sequence number': ['two', 'three'],
        'from a time': ['four'],
        'from the end': ['five'],
        'a lower owner level': disconnected,
        'from a checkpoint': ['six'],
        ...more?.saw,
      });
      const bodies = ['one', 'two', 'three', 'four', 'five', 'six', 'x'.repeat(200_000), 'last'];
      expect(azure.eventHubs.events(hub).map((event) => [event.body.toString(), event.partition])).toEqual(
        [...bodies, ...(more?.bodies ?? [])].map((body) => [body, partition]),
      );
    });
  });
}
