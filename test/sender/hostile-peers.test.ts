import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Senders } from '../../src/sender/senders.ts';
import type { SendResult } from '../../src/sinks/sink.ts';
import { type LocalAzure, startLocalAzure } from '../support/local-azure.ts';
import { sampleEntry } from '../support/sample-record.ts';
import { openTestSenders } from './open-senders.ts';

let local: LocalAzure;
/** Of all tests that no process may die of. */
let shared: Senders;
beforeAll(async () => {
  local = await startLocalAzure();
  shared = await openTestSenders(local.azure);
});
afterAll(async () => {
  await shared.close();
  await local.close();
});

const never = new AbortController().signal;

async function opened(more: Record<string, unknown> = {}) {
  const senders = await openTestSenders(local.azure, { more });
  onTestFinished(() => senders.close());
  return senders;
}

async function send(senders: Senders, name: string): Promise<SendResult> {
  const sink = senders.sinks.find((one) => one.name === name);
  if (!sink) throw new Error(`there is no ${name}`);
  return await sink.send([sampleEntry({ observedAt: new Date().toISOString() })], never);
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const externalMegabytes = (): number => process.memoryUsage().external / 2 ** 20;

test('an event hub that closes the connection during authorization is retried, and no process ends', async () => {
  const senders = shared;
  const { eventHubs } = local.azure;
  eventHubs.fault({ closeOnToken: 'amqp:resource-limit-exceeded' }, 1);
  const began = performance.now();
  expect(await send(senders, 'event-hubs')).toMatchObject({
    kind: 'retry',
    cause: 'throttled',
    code: 'quota-exceeded',
  });
  // Reported by the connection, not by the time-out of 10 s whose timer throws.
  expect(performance.now() - began).toBeLessThan(9000);
  expect(await send(senders, 'log-analytics')).toEqual({ kind: 'delivered' });
  // The timer of the SDK would have thrown by then.
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  expect(await send(senders, 'event-hubs')).toEqual({ kind: 'delivered' });
  expect(senders.facts().map(({ deaths }) => deaths)).toEqual([{}, {}, {}]);
}, 90_000);

/** A peer that answers the first bytes of a client with these, then with what `goOn` writes. */
async function startAmqpPeer(answer: Buffer, goOn: (socket: Socket) => void = () => {}): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(answer);
      goOn(socket);
    });
  });
  const port = await listening(server);
  return `Endpoint=sb://localhost:${port};SharedAccessKeyName=k;SharedAccessKey=a2V5;UseDevelopmentEmulator=true`;
}

const sasl = Buffer.from('AMQP\x03\x01\x00\x00', 'latin1');
const frame = (size: number, doff: number, ...body: number[]): Buffer => {
  const bytes = Buffer.alloc(8 + body.length);
  bytes.writeUInt32BE(size);
  bytes.writeUInt8(doff, 4);
  bytes.writeUInt8(1, 5);
  Buffer.from(body).copy(bytes, 8);
  return bytes;
};
/** Writes zeros as fast as they are read. */
function flood(socket: Socket): void {
  const piece = Buffer.alloc(1024 * 1024);
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}

const frames: { name: string; answer: Buffer; goOn?: (socket: Socket) => void }[] = [
  { name: 'a frame of size 0', answer: Buffer.concat([sasl, frame(0, 2)]) },
  { name: 'a frame of size 3', answer: Buffer.concat([sasl, frame(3, 2)]) },
  { name: 'a data offset of 255', answer: Buffer.concat([sasl, frame(16, 255, 0, 0x53, 0x40, 0x45, 0, 0, 0, 0)]) },
  {
    name: 'a list of four thousand million items',
    // sasl-mechanisms, described by 0x40, as list32.
    answer: Buffer.concat([
      sasl,
      frame(24, 2, 0, 0x53, 0x40, 0xd0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0),
    ]),
  },
  { name: 'a frame of 4 GB', answer: Buffer.concat([sasl, frame(0xffffffff, 2)]), goOn: flood },
];

describe('a hostile peer in place of an event hub', () => {
  test.for(frames)('$name costs at most the process that sends there', async ({ answer, goOn }) => {
    const connectionString = await startAmqpPeer(answer, goOn);
    const { endpoint, ruleId, streamName } = local.azure.logAnalytics;
    const senders = await opened({
      sinks: {
        eventHubs: { connectionString, eventHubName: 'vm-lifecycle' },
        logAnalytics: { endpoint, ruleId, streamName },
      },
    });
    const before = externalMegabytes();
    const sending = send(senders, 'event-hubs');
    expect(await send(senders, 'log-analytics')).toEqual({ kind: 'delivered' });
    expect(await sending).toMatchObject({ kind: 'retry' });
    expect(await send(senders, 'log-analytics')).toEqual({ kind: 'delivered' });
    expect(
      senders.facts().filter(({ role, deaths }) => role !== 'event-hubs' && Object.keys(deaths).length > 0),
    ).toEqual([]);
    expect(externalMegabytes() - before).toBeLessThan(64);
  });
});

test.for(['gzip-bomb', 'endless'] as const)(
  'an answer of Log Analytics that is %s is aborted, reported, and ends no process',
  async (fault) => {
    const senders = shared;
    local.azure.logAnalytics.fault(fault, 1);
    expect(await send(senders, 'log-analytics')).toMatchObject({
      kind: 'retry',
      cause: 'configuration',
      code: 'answer-too-long',
      reason: expect.stringContaining('check sinks.logAnalytics.endpoint'),
    });
    expect(await send(senders, 'event-hubs')).toEqual({ kind: 'delivered' });
    expect(await send(senders, 'log-analytics')).toEqual({ kind: 'delivered' });
    expect(senders.facts().map(({ deaths }) => deaths)).toEqual([{}, {}, {}]);
  },
);

test('a token endpoint that answers without an end is cut off and retried', async () => {
  const senders = await opened();
  local.azure.imds.fault('token', { status: 200, body: 'x'.repeat(32 * 1024 * 1024) }, 1);
  expect(await send(senders, 'log-analytics')).toMatchObject({
    code: 'token-unreadable',
    reason: expect.stringContaining('64 KB'),
  });
  expect(await send(senders, 'log-analytics')).toEqual({ kind: 'delivered' });
});
