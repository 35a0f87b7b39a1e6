import rhea, { type Connection, type Receiver, type Sender } from 'rhea';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { batchFormat } from '../../../src/azure-simulator/event-hubs/batch.ts';
import {
  ask,
  attach,
  event,
  type Namespace,
  open,
  outcome,
  putToken,
  read,
  sharedAccessKey,
  signature,
  startNamespace,
} from './bare-client.ts';

let namespace: Namespace;
const connections: Connection[] = [];
beforeAll(async () => {
  namespace = await startNamespace({ hubs: [{}, { name: 'other', partitions: 1, consumerGroups: ['tail'] }] });
});
afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
});
afterAll(async () => {
  await namespace.close();
  expect(namespace.errors).toEqual([]);
});

function connect(who?: Parameters<typeof open>[1]): Connection {
  const connection = open(namespace.eventHubs, who);
  connections.push(connection);
  return connection;
}

/** A connection with a token for everything. */
async function connectWithToken(): Promise<Connection> {
  const connection = connect();
  await putToken(connection, signature(namespace.eventHubs, ''), '');
  return connection;
}

describe('a bare AMQP client', () => {
  test('is accepted with our signature, and otherwise refused with the reason', async () => {
    expect(await putToken(connect(), signature(namespace.eventHubs))).toMatchObject({ status: 202 });
    expect(await putToken(connect(), signature(namespace.eventHubs, 'other'))).toMatchObject({
      status: 401,
      text: expect.stringMatching(/^InvalidSignature: the token is for/),
    });
    expect(await putToken(connect(), 'eyJhbGciOiJub25lIn0.e30.')).toMatchObject({
      status: 401,
      text: expect.stringMatching(/^InvalidSignature: /),
    });
  });

  test('gets no link without a token, and none beyond what its token covers', async () => {
    expect(await attach(connect(), 'vm-lifecycle')).toMatchObject({ condition: 'amqp:unauthorized-access' });
    const connection = connect();
    const path = 'vm-lifecycle/Partitions/1';
    await putToken(connection, signature(namespace.eventHubs, path), path);
    expect(await attach(connection, 'vm-lifecycle')).toMatchObject({ condition: 'amqp:unauthorized-access' });
    expect(await attach(connection, path)).toHaveProperty('name');
    expect(await attach(connection, 'vm-lifecycle/nonsense')).toMatchObject({ condition: 'amqp:not-found' });
    expect(await attach(connection, 'vm-lifecycle/Partitions/9')).toMatchObject({
      condition: 'com.microsoft:argument-out-of-range',
    });
  });

  test('needs no token when it signs in with the shared access key, and is refused with another key', async () => {
    const password = sharedAccessKey(namespace.eventHubs.connectionString);
    const username = 'RootManageSharedAccessKey';
    expect(await attach(connect({ username, password }), 'vm-lifecycle')).toHaveProperty('name');
    const failure = await new Promise((resolve) => {
      connect({ username, password: 'another' }).once('connection_error', ({ error }) => resolve(error));
    });
    expect(failure).toMatchObject({ condition: 'amqp:unauthorized-access' });
  });

  test('has a batch over 1 MB refused, and sends single events unchanged without an envelope', async () => {
    const connection = await connectWithToken();
    const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
    expect(sender.max_message_size).toBe(1_048_576);
    expect(await outcome(sender, event(1_048_576), batchFormat)).toBe('amqp:link:message-size-exceeded');
    expect(namespace.eventHubs.events()).toEqual([]);
    const long = rhea.message.encode({ application_properties: { long: rhea.types.wrap_long(1) }, body: 'x' });
    expect(await outcome(sender, event(10))).toBe('accepted');
    expect(await outcome(sender, long)).toBe('accepted');
    const [first, second] = namespace.eventHubs.events();
    expect(first?.body.toString()).toBe('xxxxxxxxxx');
    expect(second?.raw).toEqual(long);
  });

  test('finds each hub of a namespace under its name, with its own partitions, consumer groups and events', async () => {
    const connection = await connectWithToken();
    const sender = (await attach(connection, 'OTHER')) as Sender;
    expect(await outcome(sender, event(3))).toBe('accepted');
    const { eventHubs } = namespace;
    expect(eventHubs.events('other').map(({ body }) => body.toString())).toEqual(['xxx']);
    expect(eventHubs.events('vm-lifecycle')).toBe(eventHubs.events());
    expect(() => eventHubs.events('none')).toThrow('there is no event hub none: expected one of vm-lifecycle, other');
    expect(await attach(connection, 'other/Partitions/1')).toMatchObject({
      condition: 'com.microsoft:argument-out-of-range',
    });
    expect(await read(connection, { hub: 'none' })).toMatchObject({ condition: 'amqp:not-found' });
    const reader = await read(connection, { hub: 'other' });
    expect(reader).toHaveProperty('name');
  });

  test('is answered with the settle modes that it requested', async () => {
    const connection = await connectWithToken();
    const sender = connection.open_sender({ target: 'vm-lifecycle', snd_settle_mode: 1 });
    await new Promise((resolve) => sender.once('sendable', resolve));
    expect(sender.snd_settle_mode).toBe(1);
    const reader = (await read(connection, { snd_settle_mode: 1, rcv_settle_mode: 1 })) as Receiver;
    expect([reader.snd_settle_mode, reader.rcv_settle_mode]).toEqual([1, 1]);
  });

  test('is answered with the filter that selects where it reads from, and with no other', async () => {
    const reader = (await read(await connectWithToken(), { partition: 2 })) as Receiver;
    expect(JSON.parse(JSON.stringify(reader.source))).toMatchObject({
      filter: { 'apache.org:selector-filter:string': "amqp.annotation.x-opt-offset > '-1'" },
    });
    const { filter } = reader.source as unknown as { filter: Record<string, { descriptor?: unknown }> };
    expect(Object.keys(filter)).toEqual(['apache.org:selector-filter:string']);
    expect(String(filter['apache.org:selector-filter:string']?.descriptor)).toBe(String(0x468c_0000_0004));
  });

  test('reads the properties of a hub with a token in the request, and not with one for another hub', async () => {
    const { eventHubs } = namespace;
    const asked = { operation: 'READ', type: 'com.microsoft:partition', name: 'vm-lifecycle', partition: '3' };
    const read = (security_token?: string) =>
      ask(connect(), '$management', { ...asked, ...(security_token === undefined ? {} : { security_token }) });
    expect(await read()).toMatchObject({
      status: 401,
      text: expect.stringContaining("'Manage' claim(s) are required"),
    });
    expect(await read(signature(eventHubs, 'other'))).toMatchObject({
      status: 401,
      text: expect.stringContaining('the token is for'),
    });
    expect(await read(signature(eventHubs))).toMatchObject({
      status: 200,
      body: { partition: '3', last_enqueued_sequence_number_epoch: 0 },
    });
  });

  test('is answered with a detach that closes a link only where its own did', async () => {
    const connection = await connectWithToken();
    const detached = async (end: (reader: Receiver) => void): Promise<unknown> => {
      const reader = (await read(connection)) as Receiver;
      const gone = new Promise((resolve) => reader.once('receiver_close', resolve));
      end(reader);
      await gone;
      return (reader as unknown as { remote: { detach: { closed?: boolean } } }).remote.detach.closed;
    };
    expect(await detached((reader) => reader.close())).toBe(true);
    expect(await detached((reader) => reader.detach())).not.toBe(true);
  });

  test('may skip delivery ids', async () => {
    const sender = (await attach(await connectWithToken(), 'vm-lifecycle')) as Sender;
    expect(await outcome(sender, event(200_000))).toBe('accepted');
    const { outgoing } = sender.session as unknown as {
      outgoing: { next_delivery_id: number; next_pending_delivery: number };
    };
    outgoing.next_delivery_id += 3;
    outgoing.next_pending_delivery += 3;
    expect(await outcome(sender, event(1))).toBe('accepted');
  });

  test('leaves room for another reader when it ends the session of five', async () => {
    const connection = await connectWithToken();
    const session = connection.create_session();
    session.open();
    const five = await Promise.all(Array.from({ length: 5 }, () => read(session, { partition: 3 })));
    expect(five.every((reader) => 'name' in reader)).toBe(true);
    expect(await read(connection, { partition: 3 })).toMatchObject({ condition: 'amqp:resource-limit-exceeded' });
    const over = new Promise((resolve) => session.once('session_close', resolve));
    session.close();
    await over;
    expect(await read(connection, { partition: 3 })).toHaveProperty('name');
  });
});
