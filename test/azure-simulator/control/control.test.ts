import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startControl } from '../../../src/azure-simulator/control/control.ts';
import type { ControlServer } from '../../../src/azure-simulator/control/server.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';

let azure: AzureSimulator;
let control: ControlServer;
const played: unknown[] = [];

beforeAll(async () => {
  azure = await startAzureSimulator({ vms: [{ name: 'web_0' }, { name: 'web_1' }] });
  control = await startControl(azure, {
    play: ({ name }, options) => void played.push([name, options]),
    addresses: (url) => ({ control: url }),
  });
});
beforeEach(() => {
  for (const { EventId } of azure.imds.document.Events) azure.imds.remove(EventId);
});
afterAll(async () => {
  await control.close();
  await azure.close();
});

/** Asks the control API as a test in another language would. */
async function ask(call: string, body?: unknown): Promise<{ status: number; value: unknown }> {
  const [method = '', path = ''] = call.split(' ');
  const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const response = await fetch(`${control.url}${path}`, { method, ...init });
  return { status: response.status, value: await response.json() };
}

async function done<T>(call: string, body?: unknown): Promise<T> {
  const { status, value } = await ask(call, body);
  expect({ status, value }).toEqual({ status: 200, value });
  return value as T;
}

const schedule = async (body: object = {}): Promise<string> =>
  (await done<{ eventId: string }>('POST /events', { eventType: 'Freeze', ...body })).eventId;
const listed = () =>
  azure.imds.document.Events.map(({ EventType, EventStatus, Resources }) => [EventType, EventStatus, Resources]);

test('an event is scheduled, changed, started and removed', async () => {
  const id = await schedule({ noticeSeconds: 60, description: 'a nap', durationSeconds: 9, eventSource: 'User' });
  expect(await done('GET /document')).toEqual(azure.imds.document);
  expect(azure.imds.find(id)).toMatchObject({ DurationInSeconds: 9, EventSource: 'User', Description: 'a nap' });
  await done(`PATCH /events/${id}`, { eventType: 'Reboot', resources: ['web_1'] });
  expect(listed()).toEqual([['Reboot', 'Scheduled', ['web_1']]]);
  await done(`POST /events/${id.toLowerCase()}/start`);
  expect(listed()).toEqual([['Reboot', 'Started', ['web_1']]]);
  await done(`DELETE /events/${id}`);
  expect(listed()).toEqual([]);
  const issued = await done<{ eventId: string; step: string }[]>('GET /issued');
  const steps = issued.filter(({ eventId }) => eventId === id).map(({ step }) => step);
  expect(steps).toEqual(['scheduled', 'updated', 'started', 'removed']);
});

test('an event may be created as Started with a given id', async () => {
  const eventId = 'F020BA2E-3BC0-4C40-A10B-86575A9EABD5';
  expect(await schedule({ status: 'Started', eventId, resources: ['web_0', 'web_1'] })).toBe(eventId);
  expect(listed()).toEqual([['Freeze', 'Started', ['web_0', 'web_1']]]);
});

test('a VM approves an event', async () => {
  const id = await schedule();
  await done(`POST /events/${id}/approve`, { vm: 'web_1' });
  expect(listed()).toEqual([['Freeze', 'Started', ['web_0']]]);
  expect(await done('GET /approvals')).toMatchObject([{ vm: 'web_1', eventId: id }]);
});

test('scenarios are listed, and played with the requested speed and VMs', async () => {
  const list = await done<{ name: string; realSeconds: number }[]>('GET /scenarios');
  expect(list.find(({ name }) => name === 'freeze')?.realSeconds).toBeGreaterThan(1000);
  await done('POST /scenarios/freeze');
  await done('POST /scenarios/reboot?speed=2.5&vms=web_1,web_7');
  expect(played).toEqual([
    ['freeze', {}],
    ['reboot', { speed: 2.5, vms: ['web_1', 'web_7'] }],
  ]);
});

test('a VM is added and answered with the address of its endpoint', async () => {
  const { imds } = await done<{ imds: string }>('POST /vms', { name: 'gpu_0', sees: 'own', zone: '3' });
  expect(imds).toBe(azure.imds.vmUrl('gpu_0'));
  const vms = await done<{ name: string; polls: number; sees: string; imds: string }[]>('GET /vms');
  expect(vms.find(({ name }) => name === 'gpu_0')).toMatchObject({ polls: 0, sees: 'own', imds, zone: '3' });
});

const document = async (): Promise<number> => {
  const init = { headers: { Metadata: 'true' } };
  const response = await fetch(`${azure.imds.url}/metadata/scheduledevents?api-version=2020-07-01`, init);
  await response.body?.cancel();
  return response.status;
};

test('a fault of the endpoint lasts for the requested number of answers, or until it is cleared', async () => {
  await done('PUT /faults/scheduledevents', { fault: { status: 500 }, times: 1 });
  expect([await document(), await document()]).toEqual([500, 200]);
  await done('PUT /faults/scheduledevents', { fault: { status: 410 } });
  expect([await document(), await document()]).toEqual([410, 410]);
  await done('DELETE /faults/scheduledevents');
  expect(await document()).toBe(200);
});

test('every component accepts faults', async () => {
  const faults = [
    ['instance', 'truncated'],
    ['token', { delayMs: 1 }],
    ['eventHubs', 'server-busy'],
    ['eventHubs', { reject: 'amqp:not-allowed' }],
    ['logAnalytics', { status: 429, headers: { 'retry-after': '5' } }],
    ['logAnalytics', 'accept-then-reset'],
  ] as const;
  for (const [target, fault] of faults) expect(await done(`PUT /faults/${target}`, { fault })).toEqual({ fault });
  for (const [target] of faults) expect(await done(`DELETE /faults/${target}`)).toEqual({ fault: null });
});

test('received records and the number of requests can be read', async () => {
  expect(await done('GET /hub/events')).toEqual([]);
  expect(await done('GET /rows/Custom-VmLifecycle_CL')).toEqual([]);
  expect(await ask('GET /rows/Custom-Nobodys_CL')).toMatchObject({
    status: 404,
    value: { error: expect.stringContaining('there are Custom-VmLifecycle_CL') },
  });
  expect(await done('GET /requests')).toMatchObject({ instance: 0, token: 0, logAnalytics: [] });
  expect(await done('GET /errors')).toEqual([]);
  expect(await done('GET /addresses')).toEqual({ control: control.url });
});

test('the namespace is paused, resumed and dropped', async () => {
  expect(await done('POST /hub/pause', { drop: true })).toEqual({ drop: true });
  expect(await done('POST /hub/resume')).toEqual({});
  expect(await done('POST /hub/drop')).toEqual({});
});

test('switching the feature off restarts the incarnation', async () => {
  await schedule();
  await done('POST /switch-off');
  expect(await done('GET /document')).toMatchObject({ DocumentIncarnation: 1 });
});

test('GET / lists every row with one line', async () => {
  const rows = await done<{ method: string; path: string; description: string }[]>('GET /');
  expect(rows.length).toBeGreaterThan(20);
  for (const { method, path, description } of rows)
    expect(`${method} ${path} ${description}`).toMatch(/^[A-Z]+ \/\S* \S/);
  expect(new Set(rows.map(({ method, path }) => `${method} ${path}`)).size).toBe(rows.length);
});

const unknownId = '00000000-0000-4000-8000-000000000000';
const mistakes: readonly { call: string; body?: unknown; status: number; message: string }[] = [
  { call: 'GET /nothing', status: 404, message: 'Nothing is at /nothing; GET / lists all calls' },
  { call: 'GET /events', status: 405, message: '/events does not answer GET; use POST' },
  { call: 'POST /events', status: 400, message: 'the body is missing; expected an object of eventId, eventType' },
  { call: 'POST /events', body: '{', status: 400, message: 'The body is not JSON; send one object' },
  { call: 'POST /events', body: {}, status: 400, message: 'the body has no eventType; expected Freeze, Reboot' },
  {
    call: 'POST /events',
    body: { eventType: 'freeze' },
    status: 400,
    message: 'eventType of the body is "freeze"; expected',
  },
  { call: 'POST /events', body: { type: 'Freeze' }, status: 400, message: 'the body has an unknown field "type"' },
  {
    call: 'PATCH /events/x',
    body: {},
    status: 404,
    message: 'Event x is not in the document; GET /document lists its events',
  },
  { call: `POST /events/${unknownId}/start`, status: 404, message: `Event ${unknownId} is not in the document` },
  { call: `POST /events/${unknownId}/approve`, status: 404, message: `Event ${unknownId} is not in the document` },
  { call: `DELETE /events/${unknownId}`, status: 404, message: `Event ${unknownId} is not in the document` },
  { call: 'POST /scenarios/frezee', status: 404, message: 'There is no scenario "frezee"; GET /scenarios lists all' },
  {
    call: 'POST /scenarios/freeze?speed=fast',
    status: 400,
    message: 'speed is "fast"; expected a number from 0.1 to 100000',
  },
  { call: 'POST /vms', body: {}, status: 400, message: 'the body has no name; it is the VM' },
  {
    call: 'POST /vms',
    body: { name: 'a', misses: 3 },
    status: 400,
    message: 'misses of the body is 3; expected a list',
  },
  {
    call: 'PUT /faults/table',
    body: { fault: 'hang' },
    status: 404,
    message: '"table" cannot fail; expected one of schedul',
  },
  { call: 'PUT /faults/token', body: {}, status: 400, message: 'the body has no fault; DELETE ends one' },
  {
    call: 'PUT /faults/token',
    body: { fault: 'hangs' },
    status: 400,
    message: 'fault is "hangs"; expected one of hang, reset',
  },
  {
    call: 'PUT /faults/token',
    body: { fault: { status: 1 } },
    status: 400,
    message: 'status of fault is 1; expected a whole',
  },
  {
    call: 'PUT /faults/eventHubs',
    body: { fault: 'hang' },
    status: 400,
    message: 'fault is "hang"; expected one of unauth',
  },
  {
    call: 'PUT /faults/token',
    body: { fault: 'hang', times: 0 },
    status: 400,
    message: 'times of the body is 0; expected',
  },
  {
    call: 'POST /switch-off',
    body: { firstCallSeconds: -1 },
    status: 400,
    message: 'firstCallSeconds of the body is -1',
  },
];

test.for(mistakes)('$call with $body is refused: $status', async ({ call, body, status, message }) => {
  const answer = await ask(call, body);
  expect(answer).toEqual({ status, value: { error: expect.stringContaining(message) } });
});

test('an event is not scheduled, started or patched twice to no effect', async () => {
  const id = await schedule({ status: 'Started' });
  expect(await ask(`POST /events/${id}/start`)).toMatchObject({ status: 409 });
  expect(await ask('POST /events', { eventType: 'Freeze', eventId: id })).toMatchObject({ status: 409 });
  expect(await ask(`PATCH /events/${id}`, {})).toMatchObject({ status: 400 });
  expect(await ask(`PATCH /events/${id}`, { eventId: unknownId })).toMatchObject({ status: 400 });
  expect(await ask(`POST /events/${id}/approve`, { vm: 'unknown' })).toMatchObject({ status: 404 });
});

const foreignRequests: readonly { headers: Record<string, string>; status: number }[] = [
  { headers: {}, status: 200 },
  { headers: { host: 'localhost:1' }, status: 200 },
  { headers: { host: '[::1]:1' }, status: 200 },
  { headers: { host: 'evil.example' }, status: 403 },
  { headers: { host: '127.0.0.1.evil.example' }, status: 403 },
  { headers: { origin: 'http://evil.example' }, status: 403 },
  { headers: { origin: 'null' }, status: 403 },
];

test.for(foreignRequests)(
  'a request with $headers is answered $status: no web page steers it',
  async ({ headers, status }) => {
    const answered = await new Promise((resolve, reject) => {
      const sent = request(`${control.url}/document`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject).end();
    });
    expect(answered).toBe(status);
  },
);

test('a port that is taken is named', async () => {
  const port = Number(new URL(control.url).port);
  const starting = startControl(azure, { port, play: () => {}, addresses: () => null });
  await expect(starting).rejects.toThrow(`the control API cannot listen on 127.0.0.1:${port} (EADDRINUSE)`);
});
