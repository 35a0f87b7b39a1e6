import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sink } from '../../../src/sinks/sink.ts';
import { openTestSenders } from '../../sender/open-senders.ts';
import { type LocalAzure, startLocalAzure } from '../../support/local-azure.ts';
import { sampleEntry } from '../../support/sample-record.ts';
import { type Misbehaviour, passesTheContract, type SinkUnderTest } from '../contract.ts';
import { type Behaviour, type Receiver, startReceiver } from './receiver.ts';

let local: LocalAzure;
let receiver: Receiver;

beforeAll(async () => {
  local = await startLocalAzure();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await local.close();
});

async function openSink(settings: object = {}): Promise<Sink> {
  const senders = await openTestSenders(local.azure, { more: { sinks: { http: { url: receiver.url, ...settings } } } });
  const [sink] = senders.sinks;
  if (!sink) throw new Error('there is no sink');
  return { ...sink, close: () => senders.close() };
}

const behaviours: Record<Misbehaviour, Behaviour> = {
  throttled: { status: 503, headers: { 'retry-after': '7' } },
  silent: 'silent',
  refused: { status: 403 },
  malformed: { status: 422 },
};

passesTheContract(
  'HTTP in a process of its own',
  async (): Promise<SinkUnderTest> => {
    const before = receiver.events.length;
    const arrived = () => receiver.events.slice(before);
    return {
      sink: await openSink(),
      arrived: () => arrived().map(({ id }) => id),
      contents: () => arrived().map((event) => JSON.stringify(event)),
      misbehave: (how) => receiver.behave(how && behaviours[how]),
      // The deadlines of production: 12 s for a request.
      timeoutMs: 20_000,
      tooMuch: [sampleEntry({ description: 'x'.repeat(1_000_000) })],
    };
  },
  { throttling: true, malformed: true, tooLarge: true },
);

test('the token of the managed identity for the configured scope comes from the process that fetches tokens', async () => {
  const sink = await openSink({ tokenScope: 'https://eventgrid.azure.net/.default' });
  expect(await sink.send([sampleEntry()], new AbortController().signal)).toEqual({ kind: 'delivered' });
  await sink.close();
  const [, token = ''] = /^Bearer (\S+)$/.exec(receiver.requests.at(-1)?.headers.authorization ?? '') ?? [];
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  expect(claims.aud).toBe('https://eventgrid.azure.net');
});
