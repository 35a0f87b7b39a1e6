import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { EventHubProducerClient } from '@azure/event-hubs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { EventHubsFault } from '../../../src/azure-simulator/event-hubs/faults.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { until } from '../../support/until.ts';
import { producer, send, useSimulator } from '../sdk-clients.ts';

let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator();
  useSimulator(azure);
});
afterEach(() => azure.eventHubs.fault(null));
afterAll(async () => {
  await azure.close();
  expect(azure.errors).toEqual([]);
});

const nothing = 'nothing within a second';

/** What the SDK makes of one send: a code, or what happened. */
async function outcome(
  client: EventHubProducerClient,
  key: string,
  { bodies = [1] as readonly unknown[], withinMs = 10_000 } = {},
): Promise<string> {
  const deadline = new Promise<string>((resolve) => setTimeout(resolve, withinMs, nothing));
  const sent = send(client, bodies, key).then(
    () => 'sent',
    (error: Error & { code?: string; errors?: (Error & { code?: string })[] }) =>
      error.errors?.[0]?.code ?? error.code ?? error.name,
  );
  return Promise.race([sent, deadline]);
}

const copies = (key: string): number =>
  azure.eventHubs.events().filter(({ partitionKey }) => partitionKey === key).length;

const cases: [fault: EventHubsFault, outcome: string, stored: number][] = [
  ['unauthorized', 'UnauthorizedError', 0],
  ['not-found', 'MessagingEntityNotFoundError', 0],
  ['server-busy', 'ServerBusyError', 0],
  ['force-close', nothing, 0],
  ['drop', nothing, 0],
  ['accept-then-drop', nothing, 1],
  ['silent', nothing, 0],
  [{ reject: 'amqp:internal-error' }, 'InternalServerError', 0],
  [{ reject: 'amqp:resource-limit-exceeded' }, 'QuotaExceededError', 0],
  [{ delayMs: 100 }, 'sent', 1],
];

describe('a fault of the simulated hub', () => {
  test.each(cases)(
    '%j means to the producer: %s, with %i events stored; then all is well again',
    async (fault, meaning, stored) => {
      const client = producer(azure);
      const key = randomUUID();
      azure.eventHubs.fault(fault, 1);
      expect(await outcome(client, key, { withinMs: meaning === nothing ? 1_000 : 10_000 })).toBe(meaning);
      expect(copies(key)).toBe(stored);
      const next = producer(azure);
      expect(await outcome(next, key)).toBe('sent');
      await Promise.all([client.close(), next.close()]);
    },
  );

  test('a link that is detached on a transfer fails the send, and the next send opens another', async () => {
    const client = producer(azure);
    const key = randomUUID();
    expect(await outcome(client, key)).toBe('sent');
    azure.eventHubs.fault('detach', 1);
    expect(await outcome(client, key)).not.toBe('sent');
    expect(copies(key)).toBe(1);
    await until(async () => (await outcome(client, key)) === 'sent');
    await client.close();
  });

  test('a refusal of certain bodies refuses their batch and accepts others', async () => {
    const client = producer(azure);
    const key = randomUUID();
    azure.eventHubs.fault({ reject: 'com.microsoft:argument-error', when: (body) => body.toString() === '"poison"' });
    expect(await outcome(client, key, { bodies: ['good', 'better'] })).toBe('sent');
    expect(await outcome(client, key, { bodies: ['good', 'poison'] })).not.toBe('sent');
    expect(copies(key)).toBe(2);
    await client.close();
  });

  test('a mute peer accepts connections and never answers, on every port', async () => {
    azure.eventHubs.fault('mute', 3);
    const ports = [azure.eventHubs.customEndpoint, azure.eventHubs.websocketEndpoint].map((url) =>
      Number(new URL(url).port),
    );
    for (const port of [...ports, azure.eventHubs.plainPort]) {
      const socket = connect(port, '127.0.0.1');
      await new Promise((resolve) => socket.once('connect', resolve));
      let heard = 0;
      socket.on('data', ({ length }) => {
        heard += length;
      });
      socket.write('AMQP\u0003\u0001\u0000\u0000');
      await new Promise((resolve) => setImmediate(resolve));
      expect(heard).toBe(0);
      socket.destroy();
    }
    const client = producer(azure);
    expect(await outcome(client, randomUUID())).toBe('sent');
    await client.close();
  });

  test('a paused hub refuses connections, drops open ones on request, and returns on the same ports', async () => {
    const client = producer(azure);
    const key = randomUUID();
    expect(await outcome(client, key)).toBe('sent');
    await azure.eventHubs.pause();
    expect(await outcome(client, key)).toBe('sent');
    await azure.eventHubs.pause({ drop: true });
    await until(() => azure.eventHubs.connections === 0);
    const other = producer(azure);
    expect(await outcome(other, key)).not.toBe('sent');
    await azure.eventHubs.resume();
    const again = producer(azure);
    await until(async () => (await outcome(again, key)) === 'sent');
    await Promise.all([client.close(), other.close(), again.close()]);
  });
});
