import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { inUrl, listen, loopback } from '../listen.ts';
import { readBody } from '../read-body.ts';
import { InvalidInput } from '../read-fields.ts';
import { findRoute, Refusal, type Route } from './route.ts';

export interface ControlServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves rows as HTTP: JSON in, JSON out, and for what is not done `{"error": …}`.
 * @param routes made when the URL is known. @throws a sentence when the port is taken.
 */
export async function startControlServer(
  routes: (url: string) => readonly Route[],
  { port = 0, host = loopback }: { readonly port?: number; readonly host?: string } = {},
): Promise<ControlServer> {
  let rows: readonly Route[] = [];
  const server = createServer((message, response) => {
    void answer(rows, message, host).then(({ status, value, headers }) => {
      if (response.destroyed) return;
      write(response, status, value, headers);
    });
  });
  const url = `http://${inUrl(host)}:${await listen(server, port, 'the control API', host)}`;
  rows = routes(url);
  return {
    url,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly value: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Never rejects. */
async function answer(routes: readonly Route[], message: IncomingMessage, host: string): Promise<Answer> {
  try {
    refuseWebPages(message.headers, host);
    const text = String((await readBody(message)) ?? '');
    const { pathname, searchParams: query } = new URL(message.url ?? '/', 'http://control');
    const { route, parts } = findRoute(routes, message.method ?? 'GET', pathname);
    const value = await route.answer({ part: (name) => parts.get(name) ?? '', query, body: parse(text) });
    return { status: 200, value };
  } catch (error) {
    if (error instanceof Refusal)
      return { status: error.status, value: { error: error.message }, headers: error.headers };
    if (error instanceof InvalidInput) return { status: 400, value: { error: error.message } };
    return { status: 500, value: { error: error instanceof Error ? error.message : String(error) } };
  }
}

function write(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(`${JSON.stringify(value, null, 2)}\n`);
}

/** A web page could reach a port of this machine; its requests have an Origin, or a foreign Host. */
function refuseWebPages({ origin, host = '' }: IncomingHttpHeaders, own: string): void {
  if (origin !== undefined)
    throw new Refusal(403, 'A request with an Origin comes from a web page: it is not answered');
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (['127.0.0.1', 'localhost', '[::1]', inUrl(own).toLowerCase()].includes(name)) return;
  throw new Refusal(403, `A request for the host "${host}" is not answered; ask for ${own}`);
}

function parse(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'The body is not JSON; send one object');
  }
}
