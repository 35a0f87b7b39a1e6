import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventHubsFault } from '../../../src/azure-simulator/index.ts';
import { systemClock } from '../../../src/clock.ts';
import type { EventHubsConfig } from '../../../src/sinks/event-hubs/config.ts';
import { createEventHubsSink, type EventHubsSink } from '../../../src/sinks/event-hubs/sink.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { type LocalAzure, startLocalAzure } from '../../support/local-azure.ts';
import { sampleEntry, sampleRecord } from '../../support/sample-record.ts';
import { startTcpRelay } from '../../support/tcp-relay.ts';
import { until } from '../../support/until.ts';
import { type Misbehaviour, passesTheContract, type SinkUnderTest } from '../contract.ts';

let local: LocalAzure;
const never = new AbortController().signal;
const waits = { tokenMs: 2000, connectMs: 2000, sendMs: 1500, exchangeMs: 1000 };

beforeAll(async () => {
  local = await startLocalAzure();
});
afterAll(async () => {
  expect(local.azure.errors).toEqual([]);
  await local.close();
});

const hub = () => local.azure.eventHubs;

function makeSink(settings: Partial<EventHubsConfig> = {}): EventHubsSink {
  return createEventHubsSink({
    config: local.eventHubs(settings),
    credential: local.credential,
    clock: systemClock,
    waits,
  });
}

async function withSink<T>(sink: EventHubsSink, work: (sink: EventHubsSink) => Promise<T>): Promise<T> {
  try {
    return await work(sink);
  } finally {
    hub().fault(null);
    await sink.close();
  }
}

const faultFor: Record<Misbehaviour, EventHubsFault> = {
  throttled: 'server-busy',
  silent: 'silent',
  refused: 'unauthorized',
  malformed: { reject: 'com.microsoft:argument-error' },
};

function contractOver(settings: () => Partial<EventHubsConfig>): () => SinkUnderTest {
  return () => {
    const before = hub().events().length;
    let sink = makeSink(settings());
    const arrived = () => hub().events().slice(before);
    return {
      get sink() {
        return sink;
      },
      arrived: () => arrived().map(({ messageId }) => String(messageId)),
      contents: () => arrived().map(({ body }) => body.toString()),
      misbehave(how) {
        hub().fault(how && faultFor[how]);
        // A refusal is met where a connection is made.
        if (how === 'refused') {
          void sink.close();
          sink = makeSink(settings());
        }
      },
      timeoutMs: 4000,
      // The link takes 1 MB.
      tooMuch: Array.from({ length: 20 }, (_, index) =>
        sampleEntry({ sequence: index, description: 'x'.repeat(60_000) }),
      ),
    };
  };
}

const knows = { throttling: true, malformed: true, tooLarge: true };
passesTheContract(
  'the event hub over AMQP',
  contractOver(() => ({})),
  knows,
);
passesTheContract(
  'the event hub over WebSockets',
  contractOver(() => ({ transport: 'amqp-ws', customEndpoint: hub().websocketEndpoint.replace('wss', 'sb') })),
  knows,
);

describe('events on the event hub', () => {
  test('a record arrives as the bytes that were stored, under its lower-case EventId', async () => {
    const entry = sampleEntry();
    await withSink(makeSink(), (sink) => sink.send([entry], never));
    const stored = hub().events().at(-1);
    expect(stored?.body.equals(entry.json)).toBe(true);
    expect(stored).toMatchObject({
      partitionKey: entry.record.eventId.toLowerCase(),
      messageId: entry.record.recordId,
      correlationId: entry.record.transitionId,
      contentType: 'application/json',
    });
    expect(stored?.properties['cloudEvents:id']).toBe(entry.record.recordId);
  });

  test('sixteen events at once open one connection and all arrive, each in one partition', async () => {
    const before = hub().events().length;
    const opened = hub().connectionsOpened;
    await withSink(makeSink(), async (sink) => {
      const batches = Array.from({ length: sink.inFlight }, (_, index) =>
        [1, 2, 3].map((sequence) =>
          sampleEntry({ eventId: `event-${index}`, sequence, recordId: `${index}/${sequence}` }),
        ),
      );
      const results = await Promise.all(batches.map((batch) => sink.send(batch, never)));
      expect(results.every(({ kind }) => kind === 'delivered')).toBe(true);
    });
    const events = hub().events().slice(before);
    expect(hub().connectionsOpened - opened).toBe(1);
    for (let index = 0; index < 16; index += 1) {
      const own = events.filter(({ partitionKey }) => partitionKey === `event-${index}`);
      expect(own.map(({ messageId }) => messageId)).toEqual([`${index}/1`, `${index}/2`, `${index}/3`]);
      expect(new Set(own.map(({ partition }) => partition)).size).toBe(1);
    }
  });

  test('a connection string needs no identity', async () => {
    const credential = { getToken: () => Promise.reject(new Error('no identity on this VM')) };
    const config = local.eventHubs({
      fullyQualifiedNamespace: null,
      customEndpoint: null,
      connectionString: hub().connectionString,
    });
    const sink = createEventHubsSink({ config, credential, clock: systemClock, waits });
    expect(await withSink(sink, () => sink.send([sampleEntry()], never))).toEqual({ kind: 'delivered' });
  });
});

describe('a connection that breaks', () => {
  const breaks: { fault: EventHubsFault; code: string; stored: number }[] = [
    { fault: 'drop', code: 'connection-closed', stored: 0 },
    { fault: 'accept-then-drop', code: 'connection-closed', stored: 1 },
    { fault: 'detach', code: 'link-detached', stored: 0 },
  ];
  for (const { fault, code, stored } of breaks) {
    test(`a send that meets "${fault}" fails at once, and the next one reconnects`, async () => {
      await withSink(makeSink(), async (sink) => {
        await sink.send([sampleEntry()], never);
        const before = hub().events().length;
        hub().fault(fault, 1);
        expect(await sink.send([sampleEntry()], never)).toMatchObject({ kind: 'retry', cause: 'transient', code });
        expect(await sink.send([sampleEntry()], never)).toEqual({ kind: 'delivered' });
        expect(hub().events().length - before).toBe(stored + 1);
        // Reported by the connection, not by a deadline.
        expect(sink.deadlines.missed).toEqual({});
      });
    });
  }

  test('one that breaks between sends is not noticed by anyone', async () => {
    await withSink(makeSink(), async (sink) => {
      await sink.send([sampleEntry()], never);
      hub().dropConnections();
      await until(() => !sink.connected, { what: 'the sink to see that the connection broke' });
      expect(await sink.send([sampleEntry()], never)).toEqual({ kind: 'delivered' });
    });
  });

  for (const transport of ['amqp', 'amqp-ws'] as const) {
    test(`a peer that accepts ${transport} connections and never answers leaks no socket`, async () => {
      const sockets = new Set<object>();
      const mute = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.once('close', () => sockets.delete(socket));
        socket.resume();
      });
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
      const address = mute.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const sink = makeSink({ transport, customEndpoint: `sb://localhost:${port}` });
      await withSink(sink, async () => {
        expect(await sink.send([sampleEntry()], never)).toMatchObject({
          kind: 'retry',
          cause: 'transient',
          code: transport === 'amqp' ? 'connect-timeout' : 'connection-timeout',
        });
        await until(() => sockets.size === 0, { what: 'the socket of the silent peer to be closed' });
      });
      mute.close();
    });
  }

  for (const transport of ['amqp', 'amqp-ws'] as const) {
    test(`an ${transport} connection that goes dead without a word costs one send its deadline, and no socket`, async () => {
      const address = transport === 'amqp' ? hub().customEndpoint : hub().websocketEndpoint;
      const relay = await startTcpRelay(Number(new URL(address).port));
      const sink = makeSink({ transport, customEndpoint: `sb://localhost:${relay.port}` });
      await withSink(sink, async () => {
        expect(await sink.send([sampleEntry()], never)).toEqual({ kind: 'delivered' });
        relay.goDead();
        expect(await sink.send([sampleEntry()], never)).toMatchObject({ kind: 'retry', code: 'amqp-timeout' });
        expect(await sink.send([sampleEntry()], never)).toEqual({ kind: 'delivered' });
        await until(() => relay.connections === 1, { what: 'the dead connection to be closed' });
      });
      await until(() => relay.connections === 0, { what: 'the last connection to be closed' });
      await relay.close();
    });
  }

  test('a send still under way when another one gives the connection up is not cut', async () => {
    await withSink(makeSink(), async (sink) => {
      await sink.send([sampleEntry()], never);
      hub().fault({ delayMs: 600 }, 1);
      const slow = sink.send([sampleEntry({ eventId: 'slow' })], never);
      await until(() => hub().events().at(-1)?.partitionKey === 'slow', { what: 'the slow send to be stored' });
      hub().fault({ reject: 'amqp:internal-error' }, 1);
      expect(await sink.send([sampleEntry({ eventId: 'other' })], never)).toMatchObject({ code: 'internal-error' });
      expect(await slow).toEqual({ kind: 'delivered' });
    });
  });
});

describe('a wrong address', () => {
  const cases: { name: string; settings: () => Partial<EventHubsConfig>; code: string }[] = [
    { name: 'a hub that is not there', settings: () => ({ eventHubName: 'nowhere' }), code: 'not-found' },
    {
      name: 'a port where nothing listens',
      settings: () => ({ customEndpoint: 'sb://localhost:1' }),
      code: 'connection-refused',
    },
    {
      name: 'a name that does not resolve',
      settings: () => ({ customEndpoint: 'sb://nowhere.invalid:5671' }),
      code: 'name-not-found',
    },
    {
      name: 'a name that does not resolve, over WebSockets',
      settings: () => ({ transport: 'amqp-ws', customEndpoint: 'sb://nowhere.invalid' }),
      code: 'name-not-found',
    },
    {
      name: 'a server that has no WebSocket',
      settings: () => ({
        transport: 'amqp-ws',
        customEndpoint: local.azure.logAnalytics.endpoint.replace('https', 'sb'),
      }),
      code: 'websocket-refused',
    },
    {
      name: 'a connection string without an endpoint',
      settings: () => ({ fullyQualifiedNamespace: null, connectionString: 'SharedAccessKey=topsecret' }),
      code: 'bad-address',
    },
    {
      name: 'a connection string with a wrong key',
      settings: () => ({
        fullyQualifiedNamespace: null,
        customEndpoint: null,
        connectionString: hub().connectionString.replace(/SharedAccessKey=[^;]+/, 'SharedAccessKey=topsecret'),
      }),
      code: 'unauthorized',
    },
  ];
  for (const { name, settings, code } of cases) {
    test(`${name} is reported as ${code}, without any secret`, async () => {
      const sink = makeSink(settings());
      const result = await withSink(sink, () => sink.send([sampleEntry()], never));
      expect(result).toMatchObject({ kind: 'retry', code });
      expect(JSON.stringify(result)).not.toContain('topsecret');
      expect('reason' in result && result.reason).toContain('sinks.eventHubs.');
    });
  }
});

describe('how long the connection to the event hub is kept', () => {
  test('it is closed after a while without sends, and opened again by the next send', async () => {
    await withSink(makeSink({ idleCloseSeconds: 0.2 }), async (sink) => {
      await sink.send([sampleEntry()], never);
      await until(() => hub().connections === 0, { what: 'the idle connection to be closed' });
      expect(await sink.send([sampleEntry()], never)).toEqual({ kind: 'delivered' });
    });
  });

  test('while the start of an event is due it is opened ahead of need and kept', async () => {
    let isDue = false;
    const config = local.eventHubs({ idleCloseSeconds: 0.1 });
    const sink = createEventHubsSink({
      config,
      credential: local.credential,
      clock: systemClock,
      startDue: () => isDue,
      waits,
    });
    await withSink(sink, async () => {
      isDue = true;
      await until(() => sink.connected, { what: 'the connection to be opened ahead of need' });
      expect(hub().connections).toBe(1);
      isDue = false;
      await until(() => hub().connections === 0, { what: 'the connection to be closed after the start' });
    });
  });

  test('a record about a distant event waits for a cold connection; an urgent one is sent and takes it along', async () => {
    const clock = createFakeClock('2026-03-14T00:00:00.000Z');
    const config = local.eventHubs({ connectJitterSeconds: 600 });
    const sink = createEventHubsSink({ config, credential: local.credential, clock, random: () => 0.9, waits });
    await withSink(sink, async () => {
      const before = hub().events().length;
      const far = sink.send([sampleEntry({ eventId: 'far', notBefore: '2026-03-15T00:00:00.000Z' })], never);
      await clock.advance(60_000);
      expect(hub().events().length).toBe(before);
      const urgent = sampleEntry({ eventId: 'near', phase: 'Started', notBefore: null });
      expect(await sink.send([urgent], never)).toEqual({ kind: 'delivered' });
      await clock.advance(1000);
      expect(await far).toEqual({ kind: 'delivered' });
      expect(
        hub()
          .events()
          .slice(before)
          .map(({ partitionKey }) => partitionKey),
      ).toEqual(['near', 'far']);
    });
  });

  test('a fleet with jitter connects over it, until the event is ten minutes ahead', async () => {
    const clock = createFakeClock('2026-03-14T00:00:00.000Z');
    const config = local.eventHubs({ connectJitterSeconds: 600 });
    const options = { config, credential: local.credential, clock, random: () => 0.9, waits };
    const sink = createEventHubsSink(options);
    await withSink(sink, async () => {
      // Late messages of other tests do not count.
      const sent = () =>
        hub()
          .events()
          .filter(({ partitionKey }) => partitionKey === 'soon').length;
      const sending = sink.send([sampleEntry({ eventId: 'soon', notBefore: '2026-03-14T00:15:00.000Z' })], never);
      await clock.advance(4.9 * 60_000);
      expect([sink.connected, sent()]).toEqual([false, 0]);
      await clock.advance(10_000);
      expect(await sending).toEqual({ kind: 'delivered' });
      expect(sent()).toBe(1);
    });
  });

  test('with jitter no connection is opened ahead of need', async () => {
    const common = { credential: local.credential, clock: systemClock, waits, startDue: () => true };
    const spread = createEventHubsSink({ ...common, config: local.eventHubs({ connectJitterSeconds: 1 }) });
    const small = createEventHubsSink({ ...common, config: local.eventHubs() });
    await withSink(spread, () =>
      withSink(small, async () => {
        await until(() => small.connected, { what: 'the connection of a small fleet' });
        expect(spread.connected).toBe(false);
      }),
    );
  });

  test('a record that waits for a cold connection is given back when the send is called off', async () => {
    const config = local.eventHubs({ connectJitterSeconds: 600 });
    const clock = { ...systemClock, now: () => new Date('2026-03-14T00:00:00.000Z') };
    const sink = createEventHubsSink({ config, credential: local.credential, clock, random: () => 0.9, waits });
    const callOff = new AbortController();
    await withSink(sink, async () => {
      const record = sampleRecord({ notBefore: '2026-03-15T00:00:00.000Z' });
      const sending = sink.send([sampleEntry(record)], callOff.signal);
      callOff.abort();
      expect(await sending).toMatchObject({ kind: 'retry', code: 'aborted' });
    });
  });
});
