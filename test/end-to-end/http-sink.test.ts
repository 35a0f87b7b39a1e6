import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { type Receiver, startReceiver } from '../sinks/http/receiver.ts';
import { configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { until } from '../support/until.ts';

let azure: AzureSimulator;
let receiver: Receiver;
beforeAll(async () => {
  azure = await startAzureSimulator();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await azure.close();
});

test('a bridge that was killed while its HTTP endpoint refused sends every record of the event, in order, once that accepts', async () => {
  using directory = temporaryDirectory('http-sink');
  const sinks = { http: { url: receiver.url, tokenScope: 'https://eventgrid.azure.net/.default' } };
  const configuration = configurationFor(azure, 'web_0', directory.path, { sinks });
  const first = startBridge(configuration);
  await until(() => azure.imds.requests('token') >= 1, { what: 'the bridge' });
  receiver.behave({ status: 503 });
  const eventId = azure.imds.schedule({
    eventType: 'Freeze',
    resources: ['web_0'],
    notBefore: new Date(Date.now() + 15 * 60_000),
  });
  await until(() => receiver.requests.some(({ body }) => body.includes(eventId)), { what: 'the first attempt' });
  first.kill('SIGKILL');
  await first.exited;
  receiver.behave(null);
  const second = startBridge(configuration);
  azure.imds.remove(eventId);
  const arrived = () => receiver.events.filter(({ subject }) => subject === eventId);
  await until(() => arrived().some(({ type }) => /\.canceled\.v1$/.test(type)), { what: 'the end of the event' });
  second.kill('SIGTERM');
  expect((await second.exited).code).toBe(0);
  const sequences = arrived().map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(new Set(sequences)).toEqual(new Set(sequences.map((_, index) => index + 1).slice(0, Math.max(...sequences))));
  expect(receiver.requests.at(-1)?.headers.authorization).toMatch(/^Bearer \S+$/);
});
