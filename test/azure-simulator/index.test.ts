import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, expect, test } from 'vitest';
import { startControl } from '../../src/azure-simulator/control/control.ts';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { listen } from '../../src/azure-simulator/listen.ts';

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});
async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'simulator-test-'));
  directories.push(made);
  return made;
}

test('the certificate authority is written to the requested path and stays there; two simulators run side by side', async () => {
  const folder = await directory();
  const [one, other] = await Promise.all([startAzureSimulator({ directory: folder }), startAzureSimulator()]);
  expect(one.imds.url).not.toBe(other.imds.url);
  expect(await readFile(join(folder, 'ca.pem'), 'utf8')).toBe(one.ca);
  await Promise.all([one.close(), other.close()]);
  expect(existsSync(one.caFile)).toBe(true);
  expect(existsSync(other.caFile)).toBe(false);
  await expect(fetch(one.imds.url)).rejects.toThrow();
});

test('the same ports can be used again as soon as it has closed', async () => {
  const first = await startAzureSimulator();
  const portOf = (url: string): number => Number(new URL(url).port);
  const ports = {
    imds: portOf(first.imds.url),
    eventHubs: portOf(first.eventHubs.customEndpoint),
    eventHubsPlain: first.eventHubs.plainPort,
    eventHubsWebSocket: portOf(first.eventHubs.websocketEndpoint),
    logAnalytics: portOf(first.logAnalytics.endpoint),
  };
  await first.close();
  const second = await startAzureSimulator({ ports });
  expect(second.imds.url).toBe(first.imds.url);
  expect(second.eventHubs.customEndpoint).toBe(first.eventHubs.customEndpoint);
  expect(second.logAnalytics.endpoint).toBe(first.logAnalytics.endpoint);
  await second.close();
});

test('a start with the same directory and ports takes the tokens, the key and the certificate of the one before', async () => {
  const folder = await directory();
  const tokenOf = async (url: string): Promise<string> => {
    const query = 'api-version=2018-02-01&resource=https://monitor.azure.com';
    const answer = await fetch(`${url}/metadata/identity/oauth2/token?${query}`, { headers: { Metadata: 'true' } });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const first = await startAzureSimulator({ directory: folder });
  const { plainPort } = first.eventHubs;
  const token = await tokenOf(first.imds.url);
  await first.close();
  const second = await startAzureSimulator({ directory: folder, ports: { eventHubsPlain: plainPort } });
  expect([second.ca, second.eventHubs.connectionString]).toEqual([first.ca, first.eventHubs.connectionString]);
  const upload = (authorization: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const { endpoint, ruleId, streamName } = second.logAnalytics;
      const url = `${endpoint}/dataCollectionRules/${ruleId}/streams/${streamName}?api-version=2023-01-01`;
      const headers = { authorization, 'content-type': 'application/json' };
      const sent = request(url, { method: 'POST', ca: second.ca, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on('error', reject).end('[]');
    });
  expect(await upload(`Bearer ${token}`)).toBe(204);
  expect(await upload('Bearer another')).toBe(401);
  await second.close();
});

test('a host given is what it listens on, names in its addresses and has a certificate for', async () => {
  const name = '127.0.0.2';
  const azure = await startAzureSimulator({ host: name });
  const control = await startControl(azure, { host: name, play: () => {}, addresses: () => 'here' });
  const urls = [azure.imds.url, control.url, azure.eventHubs.customEndpoint, azure.logAnalytics.endpoint];
  expect(urls.map((url) => new URL(url.replace('sb:', 'https:')).hostname)).toEqual([name, name, name, name]);
  expect(azure.eventHubs.connectionString).toContain(`Endpoint=sb://${name}:`);
  expect(await (await fetch(`${control.url}/addresses`)).json()).toBe('here');
  const port = Number(new URL(azure.eventHubs.customEndpoint.replace('sb:', 'https:')).port);
  const socket = connect({ host: name, port, ca: azure.ca });
  await once(socket, 'secureConnect');
  expect(socket.authorized).toBe(true);
  socket.destroy();
  await expect(fetch(control.url.replace(name, '127.0.0.1'))).rejects.toThrow();
  await control.close();
  await azure.close();
});

test.each(['imds', 'eventHubs', 'eventHubsPlain', 'eventHubsWebSocket', 'logAnalytics'])(
  'a port for %s that is taken is named, and nothing stays open',
  async (which) => {
    const squatter = createServer();
    const port = await listen(squatter, 0, 'the squatter');
    const folder = await directory();
    await expect(startAzureSimulator({ directory: folder, ports: { [which]: port } })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port} (EADDRINUSE)`,
    );
    squatter.close();
  },
);
