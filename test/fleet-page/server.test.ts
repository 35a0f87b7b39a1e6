import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PageView } from '../../src/fleet-page/answers.ts';
import { type FleetPage, type FleetSource, openFleetPage } from '../../src/fleet-page/server.ts';
import { until } from '../support/until.ts';
import { now, smallFleetRecords, viewOf } from './small-fleet.ts';

const clock = { now: () => new Date(now), monotonicMs: () => now, sleep: async () => {} };

function sourceOf() {
  const listeners = new Set<Parameters<FleetSource['subscribe']>[0]>();
  const source: FleetSource = {
    view: viewOf([]),
    isHistoryRead: false,
    problems: [{ message: 'Partition 1 cannot be read.' }, { message: 'Partition 1 cannot be read.' }],
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const add = (record: ReturnType<typeof smallFleetRecords>[number]): void => {
    const changed = source.view.add(record);
    for (const listener of listeners) listener.onRecord(record, changed);
  };
  return { source, add, listeners };
}

const { source, add, listeners } = sourceOf();
let page: FleetPage;
beforeAll(async () => {
  page = await openFleetPage({ port: 0, source, clock });
});
afterAll(() => page.close());

/** Over a socket, because fetch sets Host and Origin itself. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { hostname, port } = new URL(page.url);
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    request.on('error', reject).end();
  });
}

test('serves the page, its script and style, and no asset from elsewhere', async () => {
  const html = await ask('/');
  expect(html).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  const paths = [...html.body.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path = '']) => path);
  expect(paths.sort()).toEqual(['/icon.svg', '/page.css', '/page.js']);
  for (const path of paths) expect(await ask(path)).toMatchObject({ status: 200 });
  expect(html.body).not.toMatch(/<script(?![^>]*src=)|\son\w+=|style=/);
});

test('every answer forbids foreign content, frames, caches and guesses of its type', async () => {
  for (const path of ['/', '/page.js', '/view', '/trace?event=x', '/no-such-path']) {
    const { headers } = await ask(path);
    expect(headers['cache-control'], path).toBe('no-store');
    expect(headers['x-content-type-options'], path).toBe('nosniff');
    expect(headers['cross-origin-resource-policy'], path).toBe('same-origin');
    const policy = String(headers['content-security-policy']);
    expect(policy, path).toMatch(/default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
    expect(policy, path).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['access-control-allow-origin'], path).toBeUndefined();
  }
});

test.for([
  ['evil.example', 421],
  ['evil.example:80', 421],
  ['127.0.0.1', 421],
  ['127.0.0.1.evil.example', 421],
] as const)('refuses the Host %s', async ([host, status]) => {
  for (const path of ['/', '/view', '/changes']) expect((await ask(path, { host })).status).toBe(status);
});

test('accepts its own address by number and by name', async () => {
  const { port } = new URL(page.url);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`])
    expect((await ask('/view', { host })).status).toBe(200);
});

test('refuses another origin and another site, but not a link to the page', async () => {
  const { origin, port } = new URL(page.url);
  const other = String(Number(port) === 1 ? 2 : 1);
  for (const foreign of ['https://evil.example', 'null', `http://127.0.0.1:${other}`, `https://127.0.0.1:${port}`])
    expect((await ask('/view', { origin: foreign })).status, foreign).toBe(403);
  expect((await ask('/view', { origin })).status).toBe(200);
  expect((await ask('/page.js', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).status).toBe(403);
  expect((await ask('/view', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' })).status).toBe(403);
  expect((await ask('/view', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).status).toBe(200);
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await ask('/', link)).status).toBe(200);
});

test.for(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('refuses to %s', async (method) => {
  expect(await ask('/view', {}, method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

test('HEAD has the headers and no body, also of the changes', async () => {
  for (const path of ['/', '/view', '/changes'])
    expect(await ask(path, {}, 'HEAD')).toMatchObject({ status: 200, body: '' });
});

test('answers a query that makes no sense as if it were none, and an unknown path with 404', async () => {
  expect((await ask('/view?window=x&until=yesterday&vm=%00&type=%ff')).status).toBe(200);
  expect((await ask('/trace')).status).toBe(404);
  expect((await ask('/../../etc/passwd')).status).toBe(404);
  expect((await ask('/__proto__')).status).toBe(404);
  for (const path of ['//', '//evil.example/view', 'http://[', '*']) expect((await ask(path)).status, path).toBe(404);
});

test('listens on loopback only', () => {
  expect(new URL(page.url).hostname).toBe('127.0.0.1');
});

test('reports that history is still read, and what cannot be read, each sentence once', async () => {
  const { reading } = JSON.parse((await ask('/view')).body);
  expect(reading).toEqual({ isHistoryRead: false, problems: ['Partition 1 cannot be read.'], notes: [] });
});

test('notifies a page that follows, in one message for many records', async () => {
  const following = new AbortController();
  const answer = await fetch(`${page.url}changes`, { signal: following.signal });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  let received = '';
  const reading = (async () => {
    for await (const chunk of answer.body ?? []) received += Buffer.from(chunk).toString();
  })().catch(() => {});
  const records = smallFleetRecords();
  for (const record of records) add(record);
  await until(() => received.includes('event: changed'));
  expect(received.match(/event: changed/g)?.length).toBe(1);
  const view = JSON.parse((await ask('/view')).body);
  expect(view.knownVms).toBeGreaterThan(50);
  following.abort();
  await reading;
});

test('until the history is read no figure calls for action', async () => {
  const urgencies = async () =>
    JSON.parse((await ask('/view')).body).tiles.map(({ urgency }: { urgency: string }) => urgency);
  expect(await urgencies()).toEqual(['fine', 'fine', 'fine', 'fine']);
  const read = sourceOf();
  const second = await openFleetPage({
    port: 0,
    source: { ...read.source, view: source.view, isHistoryRead: true },
    clock,
  });
  const { tiles } = (await (await fetch(`${second.url}view`)).json()) as PageView;
  expect(tiles.map(({ urgency }) => urgency)).toEqual(['act', 'watch', 'watch', 'act']);
  await second.close();
});

test('counts the messages that were skipped', async () => {
  for (const listener of listeners) listener.onInvalid('no record');
  for (const listener of listeners) listener.onInvalid('no record');
  expect(JSON.parse((await ask('/view')).body).reading.notes).toEqual([
    '2 messages skipped, because they are not valid records: tail prints why.',
  ]);
});

test('closing ends what is open and the subscription', async () => {
  const other = sourceOf();
  const second = await openFleetPage({ port: 0, source: other.source, clock });
  const answer = await fetch(`${second.url}changes`);
  expect(other.listeners.size).toBe(1);
  await second.close();
  await expect(answer.text()).resolves.toContain('retry');
  expect(other.listeners.size).toBe(0);
});

test('a port in use is an error that names its code, and leaves no subscription', async () => {
  const before = listeners.size;
  const port = Number(new URL(page.url).port);
  await expect(openFleetPage({ port, source, clock })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(listeners.size).toBe(before);
});
