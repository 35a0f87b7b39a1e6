import tls from 'node:tls';
import { EventHubProducerClient } from '@azure/event-hubs';
import type { Sender } from 'rhea';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTokenIssuer, type TokenIssuer } from '../../../src/azure-simulator/token-issuer.ts';
import { until } from '../../support/until.ts';
import {
  attach,
  ended,
  event,
  type Namespace,
  open,
  outcome,
  putToken,
  read,
  signature,
  startNamespace,
} from './bare-client.ts';

let namespace: Namespace;
let accepted: number;
beforeEach(async () => {
  accepted = 0;
  const issuer = await createTokenIssuer({ lifetimeSeconds: 600 });
  const refusal: TokenIssuer['refusal'] = async (...asked) => {
    const why = await issuer.refusal(...asked);
    if (why === null) accepted += 1;
    return why;
  };
  namespace = await startNamespace({ issuer: { ...issuer, refusal } });
});
afterEach(async () => {
  await namespace.close();
  expect(namespace.errors).toEqual([]);
});

const minutes = (n: number): number => n * 60_000;
const token = (lifetimeMs: number, path?: string): string =>
  signature(namespace.eventHubs, path, namespace.now() + lifetimeMs);

describe('a token that expires', () => {
  test('ends the links that it covered and no others, and lets no new one be opened until it is renewed', async () => {
    const connection = open(namespace.eventHubs);
    await putToken(connection, token(minutes(10)));
    await putToken(connection, token(minutes(30), 'vm-lifecycle/Partitions/1'), 'vm-lifecycle/Partitions/1');
    const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
    const lasting = (await attach(connection, 'vm-lifecycle/Partitions/1')) as Sender;
    const reader = await read(connection);
    const ends = Promise.all([sender, reader as Sender].map(ended));

    namespace.advance(minutes(10));
    const expired = {
      condition: 'amqp:unauthorized-access',
      description: expect.stringMatching(
        /^ExpiredToken: The token is expired\. Expiration time: '\d{4}-\d\d-\d\d [\d:]{8}Z'$/,
      ),
    };
    expect(await ends).toMatchObject([expired, expired]);
    expect(await attach(connection, 'vm-lifecycle')).toMatchObject(expired);
    expect(await outcome(lasting, event(1))).toBe('accepted');

    await putToken(connection, token(minutes(10)));
    expect(await attach(connection, 'vm-lifecycle')).toHaveProperty('name');
    connection.close();
  });

  test('that is renewed in time keeps its links open', async () => {
    const connection = open(namespace.eventHubs);
    await putToken(connection, token(minutes(10)));
    const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
    namespace.advance(minutes(9));
    await putToken(connection, token(minutes(10)));
    namespace.advance(minutes(9));
    expect(await outcome(sender, event(1))).toBe('accepted');
    expect(sender.is_open()).toBe(true);
    connection.close();
  });

  test('that has expired is refused, of either kind', async () => {
    const refused = { status: 401, text: expect.stringMatching(/^ExpiredToken: /) };
    const connection = open(namespace.eventHubs);
    expect(await putToken(connection, token(-minutes(1)))).toMatchObject(refused);
    const { token: jwt } = await namespace.issuer.issue({
      resource: 'https://eventhubs.azure.net',
      clientId: null,
      vmResourceId: '/vm',
    });
    expect(await putToken(connection, jwt)).toMatchObject({ status: 202 });
    namespace.advance(minutes(11));
    connection.close();
    const later = open(namespace.eventHubs);
    expect(await putToken(later, jwt)).toMatchObject(refused);
    later.close();
  });

  test('is renewed by the real SDK without interrupting its connection', async () => {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), namespace.ca]);
    const { eventHubs, issuer } = namespace;
    const expiries: number[] = [];
    const credential = {
      async getToken() {
        const resource = 'https://eventhubs.azure.net';
        const issued = await issuer.issue({ resource, clientId: null, vmResourceId: '/vm' });
        expiries.push(issued.expiresOn * 1000);
        // The SDK renews two minutes before what it takes for the end: with this, after a second.
        return { token: issued.token, expiresOnTimestamp: Date.now() + 121_000 };
      },
    };
    const client = new EventHubProducerClient(eventHubs.fullyQualifiedNamespace, eventHubs.eventHubName, credential, {
      customEndpointAddress: eventHubs.customEndpoint,
    });
    await client.sendBatch([{ body: 'before' }]);
    await until(() => accepted >= 2 && Number(expiries[1]) > Number(expiries[0]));
    namespace.advance(Number(expiries[0]) - namespace.now());
    await client.sendBatch([{ body: 'after' }]);
    expect(eventHubs.events()).toHaveLength(2);
    expect(eventHubs.connectionsOpened).toBe(1);
    await client.close();
  });
});
