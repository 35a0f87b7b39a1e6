import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** The answer at each path. May be called often; never rejects. */
export type HttpRoutes = Readonly<Record<string, () => HttpAnswer | Promise<HttpAnswer>>>;

export interface HttpOptions {
  readonly port: number;
  readonly routes: HttpRoutes;
  readonly clock: Clock;
  readonly log: Log;
}

/** The only address: health is for programs on this VM. */
const loopback = '127.0.0.1';
/** A port in use may be free later, for instance when the previous instance has ended. */
const retryMs = 60_000;
/** Probes are few and short: more than this is an error of the client. */
const most = { connections: 32, requestMs: 5_000, headerBytes: 8 * 1024 } as const;

export const textAnswer = (status: number, ...lines: readonly string[]): HttpAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${lines.join('\n')}\n`,
});

export const jsonAnswer = (status: number, value: unknown): HttpAnswer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value)}\n`,
});

/**
 * Answers on 127.0.0.1 until closed. A port in use is a warning, retried every minute: the client notices, and health reports are not
 * the purpose of the bridge.
 */
export function serveHttp({ port, routes, clock, log }: HttpOptions): { close(): Promise<void> } {
  const closing = new AbortController();
  let server: Server | null = null;

  async function listenOnce(): Promise<NodeJS.ErrnoException | null> {
    const fresh = createServer(
      { maxHeaderSize: most.headerBytes, requestTimeout: most.requestMs },
      (request, response) => {
        void respond(request, response, routes, port);
      },
    );
    fresh.headersTimeout = most.requestMs;
    fresh.maxConnections = most.connections;
    return new Promise((resolve) => {
      fresh.once('error', resolve);
      fresh.listen(port, loopback, () => {
        fresh.off('error', resolve);
        fresh.on('error', () => {}); // of a connection that could not be accepted: the next one may be
        server = fresh;
        if (closing.signal.aborted) fresh.close();
        resolve(null);
      });
    });
  }

  async function listen(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      const error = await listenOnce();
      const address = `http://${loopback}:${port}`;
      if (error === null) {
        log.info({ port }, `Health and metrics are at ${address}: ${Object.keys(routes).join(' ')}`);
        return;
      }
      if (failures === 0) {
        const why = error.code === 'EADDRINUSE' ? 'another program has that port' : error.message;
        log.warn(
          { port, code: error.code ?? 'unknown' },
          `Health and metrics cannot be served at ${address} (${why}); retrying every minute. End that program, or set another http.port; everything else continues.`,
        );
      }
      await clock.sleep(retryMs, closing.signal);
    }
  }
  const listening = listen();

  return {
    async close() {
      closing.abort();
      await listening;
      const open = server;
      if (open === null) return;
      await new Promise<void>((resolve) => {
        open.close(() => resolve());
        open.closeAllConnections();
      });
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  routes: HttpRoutes,
  port: number,
): Promise<void> {
  const { status, contentType, body } = await answerTo(request, routes, port).catch(internalError);
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function answerTo({ headers, method, url = '' }: IncomingMessage, routes: HttpRoutes, port: number) {
  if (!isOurName(headers.host ?? '', port)) {
    return textAnswer(421, `The Host header must name this address: ${loopback}:${port} or localhost:${port}.`);
  }
  if (method !== 'GET' && method !== 'HEAD') return textAnswer(405, 'Only GET and HEAD are allowed.');
  const path = url.split('?', 1)[0] ?? '';
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  return route ? await route() : textAnswer(404, `Not found. Paths: ${Object.keys(routes).join(' ')}`);
}

/** An internal error in one answer does not affect the bridge. */
const internalError = (error: unknown): HttpAnswer => textAnswer(500, `Internal error: ${String(error)}`);

/**
 * A page in a browser on this VM can have its own name resolve to 127.0.0.1 and then read what is served here (DNS
 * rebinding). It cannot choose the Host header: that is the name it came by.
 */
const isOurName = (host: string, port: number): boolean =>
  [loopback, 'localhost'].some((name) => host.toLowerCase() === `${name}:${port}` || (port === 80 && host === name));
