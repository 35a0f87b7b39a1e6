import { createHmac } from 'node:crypto';
import rhea, { type AmqpError, type Connection, type Delivery, type Sender } from 'rhea';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { batchFormat } from '../../../src/azure-simulator/event-hubs/batch.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';

/** What no SDK does, or not always: a bare AMQP client on the plain port. */
let azure: AzureSimulator;
const connections: Connection[] = [];
beforeAll(async () => {
  azure = await startAzureSimulator();
});
afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
});
afterAll(async () => {
  await azure.close();
  expect(azure.errors).toEqual([]);
});

function open(): Connection {
  const container = rhea.create_container();
  // Without listeners of its own the client would make exceptions of what it is told.
  for (const event of ['disconnected', 'sender_close', 'receiver_close']) container.on(event, () => {});
  const options = { host: '127.0.0.1', port: azure.eventHubs.plainPort, username: 'anybody', reconnect: false };
  const connection = container.connect(options);
  connections.push(connection);
  return connection;
}

/** Puts a token on the connection. @returns the status of the answer and its description. */
function putToken(
  connection: Connection,
  token: string,
  path = 'vm-lifecycle',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const answers = connection.open_receiver({ source: '$cbs', name: 'answers' });
    answers.once('message', ({ message }) => {
      const properties = message.application_properties as Record<string, unknown>;
      resolve({ status: Number(properties['status-code']), text: String(properties['status-description']) });
    });
    const sender = connection.open_sender('$cbs');
    sender.once('sendable', () =>
      sender.send({
        body: token,
        message_id: 'request-1',
        // No reply_to: the Python SDK sends none either.
        application_properties: { operation: 'put-token', type: 'jwt', name: `sb://localhost/${path}` },
      }),
    );
  });
}

function signature(path = 'vm-lifecycle'): string {
  const key = /SharedAccessKey=([^;]+)/.exec(azure.eventHubs.connectionString)?.[1] ?? '';
  const resource = encodeURIComponent(`sb://localhost/${path}`);
  const expiry = Math.round(Date.now() / 1000) + 600;
  const signed = createHmac('sha256', key).update(`${resource}\n${expiry}`).digest('base64');
  return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signed)}&se=${expiry}&skn=RootManageSharedAccessKey`;
}

/** Attaches to an address. @returns the link, or the error that it was refused with. */
function attach(connection: Connection, address: string): Promise<Sender | AmqpError> {
  return new Promise((resolve) => {
    const sender = connection.open_sender(address);
    sender.once('sendable', () => resolve(sender));
    sender.once('sender_error', () => resolve(sender.error as AmqpError));
  });
}

function outcome(sender: Sender, payload: Buffer, format: number): Promise<string> {
  return new Promise((resolve) => {
    sender.once('accepted', () => resolve('accepted'));
    sender.once('rejected', ({ delivery }: { delivery: Delivery }) => {
      resolve(String((delivery.remote_state as { error?: AmqpError } | undefined)?.error?.condition));
    });
    sender.send(payload, undefined, format);
  });
}

const event = (bytes: number): Buffer =>
  rhea.message.encode({ body: rhea.message.data_section(Buffer.alloc(bytes, 'x')) });

describe('a bare AMQP client', () => {
  test('is let in with a signature that is ours, and told why otherwise', async () => {
    expect(await putToken(open(), signature())).toMatchObject({ status: 202 });
    expect(await putToken(open(), signature('other'))).toMatchObject({
      status: 401,
      text: expect.stringContaining('is for'),
    });
    expect(await putToken(open(), 'eyJhbGciOiJub25lIn0.e30.')).toMatchObject({ status: 401 });
  });

  test('gets no link without a token, and none beyond what its token covers', async () => {
    expect(await attach(open(), 'vm-lifecycle')).toMatchObject({ condition: 'amqp:unauthorized-access' });
    const connection = open();
    await putToken(connection, signature('vm-lifecycle/Partitions/1'), 'vm-lifecycle/Partitions/1');
    expect(await attach(connection, 'vm-lifecycle')).toMatchObject({ condition: 'amqp:unauthorized-access' });
    expect(await attach(connection, 'vm-lifecycle/Partitions/1')).toHaveProperty('name');
    expect(await attach(connection, 'vm-lifecycle/nonsense')).toMatchObject({ condition: 'amqp:not-found' });
    expect(await attach(connection, 'vm-lifecycle/Partitions/9')).toMatchObject({
      condition: 'com.microsoft:argument-out-of-range',
    });
  });

  test('has a batch over 1 MB refused, and sends single events without an envelope', async () => {
    const connection = open();
    await putToken(connection, signature());
    const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
    expect(sender.max_message_size).toBe(1_048_576);
    expect(await outcome(sender, event(1_048_576), batchFormat)).toBe('amqp:link:message-size-exceeded');
    expect(azure.eventHubs.events()).toEqual([]);
    expect(await outcome(sender, event(10), 0)).toBe('accepted');
    expect(azure.eventHubs.events().map(({ body }) => body.toString())).toEqual(['xxxxxxxxxx']);
  });
});
