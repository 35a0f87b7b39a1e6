import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
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

test('the authority is written where asked for and stays there; two simulators run side by side', async () => {
  const folder = await directory();
  const [one, other] = await Promise.all([startAzureSimulator({ directory: folder }), startAzureSimulator()]);
  expect(one.imds.url).not.toBe(other.imds.url);
  expect(await readFile(join(folder, 'ca.pem'), 'utf8')).toBe(one.ca);
  await Promise.all([one.close(), other.close()]);
  expect(existsSync(one.caFile)).toBe(true);
  expect(existsSync(other.caFile)).toBe(false);
  await expect(fetch(one.imds.url)).rejects.toThrow();
});

test('the same ports can be asked for again as soon as it has closed', async () => {
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

test.each(['imds', 'eventHubs', 'eventHubsPlain', 'eventHubsWebSocket', 'logAnalytics'])(
  'a port for %s that is taken is named, and nothing stays open',
  async (which) => {
    const squatter = createServer();
    const port = await listen(squatter, 0, 'the squatter');
    const folder = await directory();
    await expect(startAzureSimulator({ directory: folder, ports: { [which]: port } })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port} (EADDRINUSE): choose another port or free this one`,
    );
    squatter.close();
  },
);
