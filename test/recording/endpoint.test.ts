import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type AzureSimulator, type ImdsFault, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { type Endpoint, openEndpoint } from '../../src/recording/endpoint.ts';
import type { RecordedAnswer } from '../../src/recording/format.ts';

let azure: AzureSimulator;
let endpoint: Endpoint;
const never = new AbortController().signal;

beforeAll(async () => {
  azure = await startAzureSimulator({ vms: [{ name: 'db_1', zone: '3' }] });
  endpoint = openEndpoint(`${azure.imds.vmUrl('db_1')}/`);
});
afterEach(() => {
  azure.imds.fault('scheduledevents', null);
  azure.imds.fault('instance', null);
});
afterAll(async () => {
  await endpoint.close();
  await azure.close();
});

test('a document is seen as it came, unknown fields included', async () => {
  azure.imds.change(({ Events }) => {
    Events.push({
      EventId: 'A123BC45-1234-5678-AB90-ABCDEF123456',
      EventStatus: 'Scheduled',
      EventType: 'Nap',
      ResourceType: 'VirtualMachine',
      Resources: ['db_1'],
      NotBefore: '',
      Description: '',
      EventSource: 'Platform',
      DurationInSeconds: 5,
      Novelty: true,
    });
  });
  expect(await endpoint.poll(10_000, never)).toEqual({ document: azure.imds.document });
});

const oddities: readonly { fault: ImdsFault; seen: unknown }[] = [
  {
    fault: { status: 429, headers: { 'retry-after': '7', 'x-request-id': '1' }, body: 'slow down' },
    seen: { answer: { status: 429, headers: { 'retry-after': '7' }, body: 'slow down' } },
  },
  {
    fault: 'redirect',
    seen: { answer: { status: 302, headers: { location: 'http://login.invalid/portal' }, body: '' } },
  },
  { fault: 'empty', seen: { answer: { status: 200, headers: {}, body: '' } } },
  { fault: 'null', seen: { answer: { status: 200, headers: {}, body: 'null' } } },
  { fault: 'no-incarnation', seen: { answer: { status: 200, headers: {}, body: '{"Events":[]}' } } },
  { fault: 'reset', seen: { failure: { kind: 'broken', reason: expect.stringContaining('the connection broke (') } } },
  { fault: 'cut-off', seen: { failure: { kind: 'broken', reason: expect.any(String) } } },
  { fault: 'hang', seen: { failure: { kind: 'no-answer', reason: 'no answer came in 0.3 s' } } },
];

test.for(oddities)('an endpoint that answers $fault is seen as it is', async ({ fault, seen }) => {
  azure.imds.fault('scheduledevents', fault);
  expect(await endpoint.poll(fault === 'hang' ? 300 : 10_000, never)).toEqual(seen);
});

test('of a large answer that is not a document only the start is kept', async () => {
  azure.imds.fault('scheduledevents', { status: 500, body: 'x'.repeat(12 * 1024 * 1024) });
  const { answer } = (await endpoint.poll(10_000, never)) as Extract<RecordedAnswer, { answer: unknown }>;
  expect([answer.status, answer.body.length]).toEqual([500, 65_536]);
});

test('a refused connection is recorded too', async () => {
  const closedEndpoint = openEndpoint('http://127.0.0.1:1');
  expect(await closedEndpoint.poll(10_000, never)).toMatchObject({ failure: { kind: 'broken' } });
  expect(await closedEndpoint.vm(10_000, never)).toBeNull();
  await closedEndpoint.close();
});

test('the VM is requested in the newest version that its host supports', async () => {
  expect(await endpoint.vm(10_000, never)).toMatchObject({ name: 'db_1', zone: '3', scaleSet: 'db' });
  azure.imds.knowInstanceVersions(['2019-06-04', '2020-09-01']);
  expect(await endpoint.vm(10_000, never)).toMatchObject({ name: 'db_1', zone: '3', scaleSet: 'db' });
});

test('a VM without metadata is not guessed', async () => {
  for (const fault of [{ status: 500 }, 'not-json', 'reset'] as const) {
    azure.imds.fault('instance', fault);
    expect(await endpoint.vm(10_000, never)).toBeNull();
  }
});
