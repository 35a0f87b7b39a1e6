import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../src/azure-simulator/certificate.ts';
import { type NetworkPath, probe } from '../../src/check/connectivity.ts';
import { networkFindings } from '../../src/check/network.ts';
import { destinationOf } from '../../src/sinks/log-analytics/config.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';

const never = new AbortController().signal;
const open: { server: Server; port: number }[] = [];
let secure = 0;
let silent = 0;
let plain = 0;

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  open.push({ server, port });
  return port;
}

beforeAll(async () => {
  const { key, cert, remove } = await makeCertificate();
  await remove();
  secure = await listening(createHttps({ key, cert }));
  silent = await listening(createServer((socket) => socket.on('error', () => {})));
  plain = await listening(createServer((socket) => socket.end('no TLS here\n').on('error', () => {})));
});
afterAll(() => {
  for (const { server } of open) server.close();
});

const to = destinationOf({ endpoint: 'https://x.example', ruleId: 'dcr-0', streamName: 'Custom-X_CL' });
const cases: readonly { name: string; way: () => Partial<NetworkPath>; verdicts: string[]; message: RegExp }[] = [
  {
    name: 'an open port without TLS',
    way: () => ({ port: silent, tls: false }),
    verdicts: ['ok', 'ok'],
    message: /took \d+ ms/,
  },
  {
    name: 'an invalid name',
    way: () => ({ host: 'no.such.invalid' }),
    verdicts: ['problem', 'not-proven', 'not-proven'],
    message: /does not resolve|does not answer/,
  },
  {
    name: 'a closed port',
    way: () => ({ port: 1 }),
    verdicts: ['ok', 'problem', 'not-proven'],
    message: /Nothing listens/,
  },
  {
    name: 'a port that never answers',
    way: () => ({ port: silent }),
    verdicts: ['ok', 'ok', 'problem'],
    message: /does not answer/,
  },
  {
    name: 'a port that speaks another protocol',
    way: () => ({ port: plain }),
    verdicts: ['ok', 'ok', 'problem'],
    message: /No TLS connection|broke/,
  },
  {
    name: 'a certificate of an unknown issuer',
    way: () => ({ host: 'localhost', port: secure }),
    verdicts: ['ok', 'ok', 'problem'],
    message: /does not trust/,
  },
];

test.for(cases)('how far the way to a sink is open: $name', async ({ way, verdicts, message }) => {
  const whole: NetworkPath = { host: '127.0.0.1', port: silent, tls: true, proxy: null, ...way() };
  const seen = await probe(whole, 1_000, never);
  const findings = networkFindings('logAnalytics', { way: whole, seen, to, now: new Date() });
  expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts);
  const decisive = findings.find(({ verdict }) => verdict === 'problem') ?? findings.at(-1);
  expect(decisive?.message).toMatch(message);
});

test('a way through a proxy shows the proxy its credentials and the destination nothing of them', async () => {
  const proxy = await startConnectProxy();
  const url = new URL(proxy.url.replace('//', '//ada:s%20cret@'));
  const seen = await probe({ host: 'localhost', port: secure, tls: false, proxy: url }, 1_000, never);
  expect(seen).toMatchObject({ proxy: new URL(proxy.url).host, failed: null });
  expect(proxy.asked).toEqual([`localhost:${secure}`]);
  await proxy.close();
});

test('a certificate that ends within days is a warning', () => {
  const way: NetworkPath = { host: 'x.example', port: 443, tls: true, proxy: null };
  const certificate = { issuer: 'An authority', validTo: 'Mar 15 00:00:00 2026 GMT' };
  const seen = { addresses: ['10.0.0.4'], proxy: null, connectMs: 5, certificate, failed: null };
  const at = (day: string) => networkFindings('eventHubs', { way, seen, to, now: new Date(day) }).at(-1);
  expect(at('2026-03-14')).toMatchObject({
    verdict: 'warning',
    message: expect.stringMatching(/until 2026-03-15\. That is soon/),
  });
  expect(at('2026-02-14')).toMatchObject({ verdict: 'ok', message: expect.stringMatching(/issued by An authority/) });
});
