import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp, textAnswer } from '../../src/health/http.ts';
import { silentLog } from '../../src/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { freePort } from './free-port.ts';

async function serve() {
  const port = await freePort();
  const lines: string[] = [];
  const log = {
    ...silentLog,
    info: (_: object, line: string) => lines.push(line),
    warn: (_: object, line: string) => lines.push(line),
  };
  const routes = {
    '/livez': () => textAnswer(200, 'alive'),
    '/broken': async () => Promise.reject(new Error('no such luck')),
  };
  const clock = createFakeClock();
  const server = serveHttp({ port, routes, clock, log });
  onTestFinished(() => server.close());
  return { port, lines, clock, server };
}

async function ask(port: number, path: string, { method = 'GET', host = `127.0.0.1:${port}` } = {}) {
  const asked = request({ host: '127.0.0.1', port, path, method, headers: { host } }).end();
  const [answer] = await once(asked, 'response');
  let body = '';
  for await (const chunk of answer) body += chunk;
  return { status: answer.statusCode, body, headers: answer.headers };
}

test('it answers on its port, and logs the address once', async () => {
  const { port, lines } = await serve();
  await until(() => lines.length > 0);
  expect(lines).toEqual([`Health and metrics are at http://127.0.0.1:${port}: /livez /broken`]);
  expect(await ask(port, '/livez?verbose')).toMatchObject({ status: 200, body: 'alive\n' });
  expect(await ask(port, '/livez', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  expect((await ask(port, '/livez')).headers['cache-control']).toBe('no-store');
});

const refusals: readonly { name: string; path: string; host?: string; method?: string; status: number }[] = [
  {
    name: 'a foreign host name that resolves to 127.0.0.1 is refused',
    path: '/livez',
    host: 'evil.example:80',
    status: 421,
  },
  { name: 'a Host that is no name is refused', path: '/livez', host: ':80', status: 421 },
  { name: 'our address with the port of another service is refused', path: '/livez', host: '127.0.0.1:1', status: 421 },
  { name: 'a request that would change something is refused', path: '/livez', method: 'POST', status: 405 },
  { name: 'a path that is not there is answered with those that are', path: '/secret', status: 404 },
  { name: 'a path by the name of what every object has is not there', path: '/constructor', status: 404 },
  { name: 'one failing answer does not affect others', path: '/broken', status: 500 },
];

test.for(refusals)('$name', async ({ path, status, ...rest }) => {
  const { port, lines } = await serve();
  await until(() => lines.length > 0);
  const answer = await ask(port, path, rest);
  expect(answer.status).toBe(status);
  expect(answer.body).not.toContain('alive');
  expect((await ask(port, '/livez', { host: `LOCALHOST:${port}` })).status).toBe(200);
});

test('nothing listens on other addresses of the machine', async (context) => {
  const outer = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  if (!outer) return context.skip('this machine has no other address');
  const { port, lines } = await serve();
  await until(() => lines.length > 0);
  const [error] = await once(connect({ host: outer.address, port }), 'error');
  expect(error.code).toBe('ECONNREFUSED');
});

test('a port that is taken is one warning, and it is served as soon as it is free', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const lines: string[] = [];
  const log = {
    ...silentLog,
    info: (_: object, line: string) => lines.push(line),
    warn: (_: object, line: string) => lines.push(line),
  };
  const clock = createFakeClock();
  const server = serveHttp({ port, routes: { '/livez': () => textAnswer(200, 'alive') }, clock, log });
  await until(() => clock.sleepers() === 1);
  await clock.advance(60_000);
  await until(() => clock.sleepers() === 1);
  expect(lines).toEqual([expect.stringMatching(/another program has that port.*set another http\.port/)]);
  other.close();
  await once(other, 'close');
  await clock.advance(60_000);
  await until(() => lines.length === 2);
  expect((await ask(port, '/livez')).status).toBe(200);
  await server.close();
});

test('closing waits neither for a port that is taken nor for a connection that is open', async () => {
  const { port, server, lines } = await serve();
  await until(() => lines.length > 0);
  const idle = connect({ host: '127.0.0.1', port });
  await once(idle, 'connect');
  await Promise.all([once(idle, 'close'), server.close()]);
  const busy = createServer().listen(port, '127.0.0.1');
  await once(busy, 'listening');
  const second = serveHttp({ port, routes: {}, clock: createFakeClock(), log: silentLog });
  await second.close();
  busy.close();
});
