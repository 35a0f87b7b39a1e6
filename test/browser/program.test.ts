import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bridgeConfiguration } from '../../src/azure-simulator/cli/addresses.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import type { PageView } from '../../src/fleet-page/answers.ts';
import { encodeEvent } from '../../src/sinks/event-hubs/encode.ts';
import { producer } from '../azure-simulator/sdk-clients.ts';
import { recordsOf, smallFleet, smallFleetGroups } from '../support/fleet-rows/wave.ts';
import { cleanEnvironment, mainFile, runCommand } from '../support/program.ts';
import { until } from '../support/until.ts';

let azure: AzureSimulator;
const directory = mkdtempSync(join(tmpdir(), 'tail-web-'));
const config = join(directory, 'config.json');

beforeAll(async () => {
  azure = await startAzureSimulator();
  const { sinks, tls } = bridgeConfiguration(azure, 'web_0', directory);
  writeFileSync(config, JSON.stringify({ sinks: { eventHubs: sinks.eventHubs }, tls }));
  const client = producer(azure, { way: 'connection string' });
  const records = recordsOf(smallFleetGroups(), smallFleet.from, smallFleet.nowSeconds);
  await client.sendBatch(records.map((record) => encodeEvent({ record, json: Buffer.from(JSON.stringify(record)) })));
  await client.close();
});
afterAll(async () => {
  await azure.close();
  rmSync(directory, { recursive: true });
});

const args = ['tail', '--config', config, '--consumer-group', '$Default'];
const environment = (): NodeJS.ProcessEnv => ({
  ...cleanEnvironment(),
  AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.imds.url,
});

test('the built program reads the hub, prints where its page is, serves it, and ends', async () => {
  const child = spawn(process.execPath, [mainFile, ...args, '--web', '0'], { env: environment() });
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  const url = await until(() => /The fleet is at (http:\/\/127\.0\.0\.1:\d+\/)\n/.exec(printed)?.[1]);
  const view = async () => (await (await fetch(`${url}view?window=14d&until=2026-11-20T05:00:00Z`)).json()) as PageView;
  await until(async () => (await view()).reading.isHistoryRead);
  const { knownVms, swimlanes, reading } = await view();
  expect(reading.problems).toEqual([]);
  expect(knownVms).toBeGreaterThan(60);
  expect(swimlanes.rows.filter(({ set }) => set === 'shop-web/web')).toHaveLength(48);
  expect(await (await fetch(`${url}page.js`)).text()).toContain('EventSource');
  // Ended events are kept for the two weeks that the page can show.
  expect((await fetch(`${url}`)).headers.get('content-security-policy')).toContain("default-src 'none'");
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

test('a port in use is reported with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, err } = await runCommand([...args, '--web', String(port)], { env: environment() });
  other.close();
  expect(err.trim().split('\n').at(-1)).toBe(
    `Port ${port} cannot be used for the page (another program uses it): pass another one to --web.`,
  );
  expect(code).toBe(exitCodes.notDone.code);
});

test.for(['65536', '-1', 'x', ''])('--web "%s" is refused before anything is read', async (port) => {
  const { code, err } = await runCommand([...args, `--web=${port}`]);
  expect(err).toContain('Expected a port, 0 to 65535.');
  expect(code).toBe(exitCodes.usage.code);
});
