import { Socket } from 'node:net';
import type { EventHubProducerClient } from '@azure/event-hubs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeadlines } from '../../../src/azure/deadline.ts';
import { createAmqpClient } from '../../../src/sinks/event-hubs/amqp-client.ts';
import { socketOf } from '../../../src/sinks/event-hubs/sdk-internals.ts';
import { type LocalAzure, startLocalAzure } from '../../support/local-azure.ts';

let local: LocalAzure;
beforeAll(async () => {
  local = await startLocalAzure();
});
afterAll(() => local.close());

/** The members that `sdk-internals.ts` uses, as the installed version of the SDK has them. */
interface Internals {
  readonly _context: {
    readonly connection: { readonly on?: unknown };
    readonly cbsSession: { readonly _cbsSenderReceiverLink?: { readonly _responsesMap?: ReadonlyMap<string, object> } };
  };
  readonly _sendersMap: ReadonlyMap<string, { readonly _sender?: object; readonly authLoop?: object }>;
}

const internalsOf = (client: EventHubProducerClient): Internals => client as unknown as Internals;

test('the private members of the Event Hubs SDK are where sdk-internals.ts expects them', async () => {
  const amqp = createAmqpClient({
    config: local.eventHubs(),
    credential: local.credential,
    deadlines: createDeadlines('the event hub'),
    exchangeMs: 5_000,
    webSockets: null,
  });
  try {
    const { _context, _sendersMap } = internalsOf(amqp.client);
    expect(_context.connection.on).toBeTypeOf('function');

    // A request for authorization waits in the map only until it is answered.
    let request: object | undefined;
    let isOpen = false;
    const opening = amqp.client.createBatch().finally(() => {
      isOpen = true;
    });
    while (!isOpen && request === undefined) {
      request = _context.cbsSession._cbsSenderReceiverLink?._responsesMap?.values().next().value;
      await new Promise(setImmediate);
    }
    await opening;
    expect(request).toMatchObject({
      cleanupBeforeResolveOrReject: expect.any(Function),
      reject: expect.any(Function),
    });

    expect(socketOf(amqp.client)).toBeInstanceOf(Socket);
    expect([..._sendersMap.values()]).toMatchObject([
      { _sender: { once: expect.any(Function) }, authLoop: { stop: expect.any(Function) } },
    ]);
  } finally {
    await amqp.close();
  }
});
