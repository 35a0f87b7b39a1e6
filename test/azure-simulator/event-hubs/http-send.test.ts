import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventHubsFault } from '../../../src/azure-simulator/event-hubs/faults.ts';
import { partitionOfKey } from '../../../src/azure-simulator/event-hubs/partition-key.ts';
import { type Namespace, signature, startNamespace } from './bare-client.ts';

let namespace: Namespace;
beforeAll(async () => {
  namespace = await startNamespace({ hubs: [{}, { name: 'other' }] });
});
afterAll(async () => {
  await namespace.close();
  expect(namespace.errors).toEqual([]);
});

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Posts as a client without any library does. @returns the status and the body of the answer; 0 without one. */
function send({
  path = '/vm-lifecycle/messages',
  method = 'POST',
  headers = {},
  body = 'x',
}: Sent): Promise<[number, string]> {
  const authorization = signature(namespace.eventHubs);
  const { port } = new URL(namespace.eventHubs.websocketEndpoint);
  const options = { host: 'localhost', port, ca: namespace.ca, path, method, headers: { authorization, ...headers } };
  return new Promise((resolve) => {
    const sending = request(options, async (response) => {
      const answer = (await response.toArray()).join('');
      resolve([response.statusCode ?? 0, answer]);
    });
    sending.once('error', () => resolve([0, '']));
    sending.end(body);
  });
}

const stored = () => namespace.eventHubs.events().at(-1);

test('a single event is stored with its properties, its key and its type', async () => {
  const headers = {
    'Content-Type': 'application/json',
    BrokerProperties: '{"PartitionKey": "käse"}'.replace('ä', '\\u00e4'),
    WindAlert: 'Strong Winds',
  };
  expect(
    await send({ path: '/vm-lifecycle/messages?timeout=60&api-version=2014-01', headers, body: '{"a":"ä"}' }),
  ).toEqual([201, '']);
  expect(stored()).toMatchObject({
    contentType: 'application/json',
    partitionKey: 'käse',
    partition: partitionOfKey('käse', 4),
    properties: { WindAlert: 'Strong Winds' },
  });
  expect(stored()?.body.toString()).toBe('{"a":"ä"}');
});

test('an event is stored in the partition that the path names', async () => {
  expect((await send({ path: '/vm-lifecycle/partitions/3/messages', body: 'three' }))[0]).toBe(201);
  expect([stored()?.partition, stored()?.body.toString()]).toEqual([3, 'three']);
});

const batch = { 'Content-Type': 'application/vnd.microsoft.servicebus.json' };

test('a batch is stored in order in one partition, each event with its own properties', async () => {
  const before = namespace.eventHubs.events().length;
  const body = JSON.stringify([
    {
      Body: 'one',
      UserProperties: { Alert: 'Strong Wind', Level: 3 },
      BrokerProperties: { MessageId: 'm1', PartitionKey: 'k' },
    },
    { Body: Buffer.from([0xff, 0]).toString('base64'), IsBodyBase64: true },
    { Body: 'three' },
  ]);
  expect((await send({ headers: batch, body }))[0]).toBe(201);
  const events = namespace.eventHubs.events().slice(before);
  expect(events.map((event) => event.body.toString('latin1'))).toEqual(['one', '\xff\0', 'three']);
  expect(new Set(events.map(({ partition }) => partition))).toEqual(new Set([partitionOfKey('k', 4)]));
  expect(events[0]).toMatchObject({ messageId: 'm1', properties: { Alert: 'Strong Wind', Level: 3 } });
});

test('a token of Entra ID is accepted', async () => {
  const { token } = await namespace.issuer.issue({
    resource: 'https://eventhubs.azure.net',
    clientId: null,
    vmResourceId: '',
  });
  expect((await send({ headers: { authorization: `Bearer ${token}` } }))[0]).toBe(201);
});

test.each<[what: string, sent: () => Sent, status: number, text: string]>([
  ['without a token', () => ({ headers: { authorization: '' } }), 401, 'MissingToken'],
  [
    'with a token for another hub',
    () => ({ headers: { authorization: signature(namespace.eventHubs, 'other') } }),
    401,
    'the token is for',
  ],
  [
    'with an expired token',
    () => ({ headers: { authorization: signature(namespace.eventHubs, '', namespace.now() - 1000) } }),
    401,
    'ExpiredToken',
  ],
  ['to an unknown hub', () => ({ path: '/none/messages' }), 404, 'could not be found'],
  ['to another path', () => ({ path: '/vm-lifecycle' }), 404, 'could not be found'],
  ['to a path that cannot be decoded', () => ({ path: '/%zz/messages' }), 404, 'could not be found'],
  ['to a partition out of range', () => ({ path: '/vm-lifecycle/partitions/4/messages' }), 400, 'out of range'],
  ['by another method', () => ({ method: 'PUT' }), 405, 'only POST'],
  ['as a batch of nothing', () => ({ headers: batch, body: '[]' }), 400, 'JSON array'],
  ['as a batch without bodies', () => ({ headers: batch, body: '[{"Temperature":"25"}]' }), 400, 'JSON array'],
  ['as a batch that is no JSON', () => ({ headers: batch, body: '[{' }), 400, 'JSON array'],
  ['of over 1 MB', () => ({ body: Buffer.alloc(1_048_577) }), 413, 'exceeds the limit'],
])('an event %s is refused', async (_, sent, status, text) => {
  const before = namespace.eventHubs.events().length;
  const [code, body] = await send(sent());
  expect([code, body]).toEqual([status, expect.stringContaining(`<Error><Code>${status}</Code><Detail>`)]);
  expect(body).toContain(text);
  expect(namespace.eventHubs.events().length).toBe(before);
});

test.each<[fault: EventHubsFault, status: number, count: number]>([
  ['unauthorized', 401, 0],
  ['not-found', 404, 0],
  ['server-busy', 503, 0],
  [{ reject: 'amqp:internal-error' }, 500, 0],
  ['drop', 0, 0],
  ['accept-then-drop', 0, 1],
  [{ delayMs: 1 }, 201, 1],
])('the fault %j means status %i, with %i events stored; then all is well again', async (fault, status, count) => {
  const before = namespace.eventHubs.events().length;
  namespace.eventHubs.fault(fault, 1);
  expect((await send({}))[0]).toBe(status);
  expect(namespace.eventHubs.events().length - before).toBe(count);
  expect((await send({}))[0]).toBe(201);
});

test('more than the throughput units allow is refused as throttled', async () => {
  namespace.eventHubs.limit({ throughputUnits: 1 });
  expect((await send({ body: Buffer.alloc(1_048_576) }))[0]).toBe(201);
  expect((await send({}))[0]).toBe(503);
  namespace.eventHubs.limit(null);
  expect((await send({}))[0]).toBe(201);
});
