import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { type CloudEvent, type CloudEventV1, HTTP } from 'cloudevents';

/** How the receiver behaves until it is changed. */
export type Behaviour =
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
      /** Status of the answer to OPTIONS, where it is another one. */
      readonly ofOptions?: number;
    }
  /** It takes the request and says nothing. */
  | 'silent'
  /** It begins an answer, and sends a byte of it every 50 ms without end. */
  | 'trickle'
  /** It refuses, with an answer that has no end. */
  | 'endless'
  | 'reset';

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Every request, in order. */
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  /** What arrived and was accepted, as the CloudEvents SDK reads and validates it. */
  readonly events: readonly CloudEventV1<unknown>[];
  behave(how: Behaviour | null): void;
  close(): Promise<void>;
}

/** A receiver of CloudEvents on a real socket of loopback. */
export async function startReceiver(
  tls: { readonly key: string; readonly cert: string } | null = null,
): Promise<Receiver> {
  const requests: Receiver['requests'][number][] = [];
  const events: CloudEventV1<unknown>[] = [];
  const sockets = new Set<Socket>();
  let behaviour: Behaviour | null = null;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const body = Buffer.concat(chunks).toString('utf8');
    requests.push({ method, path, headers, body });
    if (behaviour === 'silent') return;
    if (behaviour === 'reset') return void request.socket.resetAndDestroy();
    if (behaviour === 'trickle' || behaviour === 'endless') {
      const [size, status] = behaviour === 'trickle' ? [1, 500] : [64 * 1024, 400];
      response.writeHead(status);
      const timer = setInterval(() => response.write('x'.repeat(size)), behaviour === 'trickle' ? 50 : 1);
      response.on('close', () => clearInterval(timer));
      return;
    }
    const how = behaviour ?? { status: 202 };
    const { headers: answerHeaders = {}, body: answer = '' } = how;
    const status = method === 'OPTIONS' ? (how.ofOptions ?? how.status) : how.status;
    if (method === 'POST' && status < 300) {
      const found = HTTP.toEvent<unknown>({ headers, body }) as CloudEvent<unknown> | CloudEvent<unknown>[];
      for (const event of [found].flat()) {
        event.validate();
        events.push(event);
      }
    }
    response.writeHead(status, answerHeaders).end(answer);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://localhost:${port}/events`.replace('localhost', tls ? 'localhost' : '127.0.0.1'),
    port,
    requests,
    events,
    behave: (how) => {
      behaviour = how;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A port of loopback on which nothing listens. */
export async function unusedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
