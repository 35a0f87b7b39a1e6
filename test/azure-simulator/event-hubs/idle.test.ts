import type { Sender } from 'rhea';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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
beforeEach(async () => {
  namespace = await startNamespace();
});
afterEach(async () => {
  await namespace.close();
  expect(namespace.errors).toEqual([]);
});

const minutes = (n: number): number => n * 60_000;

/** A connection with a token for a day. */
async function connect(): Promise<ReturnType<typeof open>> {
  const connection = open(namespace.eventHubs);
  await putToken(connection, signature(namespace.eventHubs, 'vm-lifecycle', namespace.now() + minutes(24 * 60)));
  return connection;
}

describe('idleness', () => {
  test('a link on which nothing moved for half an hour is detached, and the connection closed five minutes later', async () => {
    const connection = await connect();
    const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
    namespace.advance(minutes(29));
    expect(await outcome(sender, event(1))).toBe('accepted');
    namespace.advance(minutes(29));
    expect(await outcome(sender, event(1))).toBe('accepted');

    const [detached, closed] = [ended(sender), ended(connection)];
    namespace.advance(minutes(30));
    expect(await detached).toMatchObject({
      condition: 'amqp:link:detach-forced',
      description: expect.stringContaining('Idle timeout: 00:30:00'),
    });
    expect(await attach(connection, 'vm-lifecycle')).toHaveProperty('name');
    connection.find_sender(({ name }: Sender) => name !== sender.name)?.close();
    namespace.advance(minutes(4));
    await putToken(connection, signature(namespace.eventHubs));
    namespace.advance(minutes(4));
    expect(connection.is_open()).toBe(true);
    namespace.advance(minutes(1));
    expect(await closed).toMatchObject({
      condition: 'amqp:connection:forced',
      description: expect.stringContaining('300000 milliseconds'),
    });
  });

  test('a reader with credit is not idle; one without credit is detached', async () => {
    const connection = await connect();
    const waiting = await read(connection, { partition: 0 });
    const idle = (await read(connection, { partition: 1, credit: 0 })) as Sender;
    const detached = ended(idle);
    namespace.advance(minutes(31));
    expect(await detached).toMatchObject({ condition: 'amqp:link:detach-forced' });
    expect((waiting as Sender).is_open()).toBe(true);
    connection.close();
  });

  test('uses the configured time-outs', async () => {
    await namespace.close();
    namespace = await startNamespace({ idle: { linkMs: 1_000 } });
    const connection = await connect();
    const detached = ended((await attach(connection, 'vm-lifecycle')) as Sender);
    namespace.advance(1_000);
    expect(await detached).toMatchObject({ description: expect.stringContaining('Idle timeout: 00:00:01') });
    connection.close();
  });
});
