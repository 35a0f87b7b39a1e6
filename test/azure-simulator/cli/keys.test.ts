import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeKeys, type Key, keysFor } from '../../../src/azure-simulator/cli/keys.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { findScenario } from '../../../src/azure-simulator/scenarios/index.ts';

let azure: AzureSimulator;
let keys: readonly Key[];
const done: string[] = [];

beforeAll(async () => {
  azure = await startAzureSimulator();
  keys = keysFor(azure, { play: (name) => done.push(name), quit: () => done.push('quit'), about: 'Where it is' });
});
afterAll(() => azure.close());

const press = async (key: string): Promise<string | undefined> => keys.find((one) => one.key === key)?.press();

test('every key is another one, and ? shows the addresses and the keys again', async () => {
  expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
  const help = await press('?');
  expect(help).toBe(`Help\n\nWhere it is\n${describeKeys(keys)}\n`);
});

test('all keys are named in three lines of 80 columns', () => {
  const lines = describeKeys(keys).split('\n');
  expect(lines).toHaveLength(3);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const { key, does } of keys) expect(describeKeys(keys)).toContain(` ${key} ${does}`);
});

test('the keys of scenarios play scenarios that there are', async () => {
  for (const key of ['f', 'r', 'p', 'h', 'q']) await press(key);
  expect(done).toEqual(['freeze', 'reboot', 'preempt', 'hardware-failure', 'quit']);
  for (const name of done.slice(0, -1)) expect(findScenario(name)).toBeDefined();
});

test('the oldest event is started and removed', async () => {
  expect(await press('s')).toBe('No event is listed.');
  expect(await press('w')).toBe('No event is listed.');
  for (const eventType of ['Freeze', 'Reboot']) azure.imds.schedule({ eventType, resources: ['web_0'] });
  const listed = () => azure.imds.document.Events.map(({ EventType, EventStatus }) => `${EventType} ${EventStatus}`);
  await press('s');
  expect(listed()).toEqual(['Freeze Started', 'Reboot Scheduled']);
  await press('w');
  expect(listed()).toEqual(['Reboot Scheduled']);
});

const status = async (url: string): Promise<number> => {
  const response = await fetch(url, { headers: { Metadata: 'true' } });
  await response.body?.cancel();
  return response.status;
};

test('the metadata service goes down and up', async () => {
  const ask = () => status(`${azure.imds.url}/metadata/scheduledevents?api-version=2020-07-01`);
  expect(await press('i')).toBe('The metadata service answers 503 for scheduled events.');
  expect(await ask()).toBe(503);
  expect(await press('i')).toBe('The metadata service answers again.');
  expect(await ask()).toBe(200);
});

test('the event hub goes down and up', async () => {
  const connects = async (): Promise<boolean> => {
    const { connect } = await import('node:net');
    return await new Promise((resolve) => {
      const socket = connect(azure.eventHubs.plainPort, '127.0.0.1');
      const answer = (is: boolean) => (): void => {
        socket.destroy();
        resolve(is);
      };
      socket.on('connect', answer(true)).on('error', answer(false));
    });
  };
  expect(await press('e')).toMatch(/refuses new ones\.$/);
  expect(await connects()).toBe(false);
  expect(await press('e')).toMatch(/accepts connections again\.$/);
  expect(await connects()).toBe(true);
});

test('the table goes down and up', async () => {
  expect(await press('t')).toBe('Logs Ingestion answers 503.');
  expect(await press('t')).toBe('Logs Ingestion answers again.');
});
