import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createEventHubsSink } from '../../src/sinks/event-hubs/sink.ts';
import { createLogAnalyticsSink } from '../../src/sinks/log-analytics/sink.ts';
import type { SendResult, Sink } from '../../src/sinks/sink.ts';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.ts';
import { type LocalAzure, startLocalAzure } from '../support/local-azure.ts';
import { sampleEntry } from '../support/sample-record.ts';

let local: LocalAzure;
let proxy: ConnectProxy;
const port = (address: string): string => new URL(address).port;

beforeAll(async () => {
  proxy = await startConnectProxy();
  // Before anything of the SDK is made: it reads NO_PROXY once. The token host is not in it: a token needs no such help.
  Object.assign(process.env, { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: 'elsewhere.example' });
  local = await startLocalAzure();
});
afterAll(async () => {
  await local.close();
  await proxy.close();
});

async function sendOnce(sink: Sink): Promise<SendResult> {
  try {
    return await sink.send([sampleEntry()], new AbortController().signal);
  } finally {
    await sink.close();
  }
}
const around = () => ({ credential: local.credential, clock: systemClock });
const webSocketAddress = (): string => local.azure.eventHubs.websocketEndpoint.replace('wss', 'sb');

test('rows go through the proxy, and the token for them does not', async () => {
  const sink = createLogAnalyticsSink({ config: local.logAnalytics(), ...around() });
  expect(await sendOnce(sink)).toEqual({ kind: 'delivered' });
  expect(proxy.asked).toEqual([`localhost:${port(local.azure.logAnalytics.endpoint)}`]);
});

test('AMQP over WebSockets goes through the proxy, and the token for it does not', async () => {
  const before = proxy.asked.length;
  const config = local.eventHubs({ transport: 'amqp-ws', customEndpoint: webSocketAddress() });
  expect(await sendOnce(createEventHubsSink({ config, ...around() }))).toEqual({ kind: 'delivered' });
  expect(proxy.asked.slice(before)).toEqual([`localhost:${port(local.azure.eventHubs.websocketEndpoint)}`]);
});

test('AMQP itself knows no proxy', async () => {
  const before = proxy.asked.length;
  const sink = createEventHubsSink({ config: local.eventHubs(), ...around() });
  expect(await sendOnce(sink)).toEqual({ kind: 'delivered' });
  expect(proxy.asked.length).toBe(before);
});

test('a host that NO_PROXY names is reached past the proxy over WebSockets too', async () => {
  const before = proxy.asked.length;
  const { NO_PROXY } = process.env;
  process.env.NO_PROXY = 'localhost';
  const config = local.eventHubs({ transport: 'amqp-ws', customEndpoint: webSocketAddress() });
  expect(await sendOnce(createEventHubsSink({ config, ...around() }))).toEqual({ kind: 'delivered' });
  process.env.NO_PROXY = NO_PROXY;
  expect(proxy.asked.length).toBe(before);
});

test.for([
  { name: 'with them both sinks pass', user: 'ada:s%20cr%40et%2F', code: undefined },
  { name: 'with others none does', user: 'ada:s3cret', code: 'refused' },
])('a proxy that requires credentials: $name, and none is disclosed', async ({ user, code }) => {
  const demanding = await startConnectProxy(200, 'ada:s cr@et/');
  const url = demanding.url.replace('//', `//${user}@`);
  Object.assign(process.env, { HTTP_PROXY: url, HTTPS_PROXY: url });
  const hub = local.eventHubs({ transport: 'amqp-ws', customEndpoint: webSocketAddress() });
  const toHub = await sendOnce(createEventHubsSink({ config: hub, ...around() }));
  const toTable = await sendOnce(createLogAnalyticsSink({ config: local.logAnalytics(), ...around() }));
  Object.assign(process.env, { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
  await demanding.close();
  expect([toHub, toTable].map((result) => ('code' in result ? result.code : undefined))).toEqual(
    code === undefined ? [undefined, undefined] : ['proxy-refused', 'http-407'],
  );
  expect(JSON.stringify([toHub, toTable])).not.toMatch(/s3cret|s(%20| )cr/);
});

for (const [status, fix] of [
  [407, 'http://user:password@host:port into proxy.url'],
  [403, 'let it allow CONNECT'],
] as const) {
  test(`a proxy that answers ${status} is reported as the one that refuses`, async () => {
    const refusing = await startConnectProxy(status);
    Object.assign(process.env, { HTTP_PROXY: refusing.url, HTTPS_PROXY: refusing.url });
    const hub = local.eventHubs({ transport: 'amqp-ws', customEndpoint: webSocketAddress() });
    const toHub = await sendOnce(createEventHubsSink({ config: hub, ...around() }));
    const toTable = await sendOnce(createLogAnalyticsSink({ config: local.logAnalytics(), ...around() }));
    Object.assign(process.env, { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
    await refusing.close();
    expect(toHub).toMatchObject({ kind: 'retry', cause: 'configuration', code: 'proxy-refused' });
    expect('reason' in toHub && toHub.reason).toContain(fix);
    expect(toTable).toMatchObject({ kind: 'retry', cause: 'configuration', code: `http-${status}` });
  });
}
