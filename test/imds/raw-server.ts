import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A request as it came over the wire. */
export interface RawRequest {
  readonly line: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A server that is allowed to be wrong: it answers with bytes. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** Connections that were ever opened. */
  readonly connections: () => number;
  /** Connections that are open now. */
  readonly open: () => number;
  /** What answers from now on. Null: nothing does. */
  answer(with_: RawAnswer | null): void;
}

export type RawAnswer = (socket: Socket, request: RawRequest) => void;

export async function startRawServer(): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let answer: RawAnswer | null = null;

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let pending = '';
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const heads = (pending + chunk.toString('latin1')).split('\r\n\r\n');
      pending = heads.pop() ?? '';
      for (const head of heads) {
        const [line = '', ...fields] = head.split('\r\n');
        const request = { line, headers: Object.fromEntries(fields.map(toField)) };
        requests.push(request);
        answer?.(socket, request);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    answer(with_) {
      answer = with_;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function toField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** An answer as it should be. */
export const http =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): RawAnswer =>
  (socket) => {
    const fields = { 'content-length': String(Buffer.byteLength(body)), ...headers };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n${body}`);
  };

/** Bytes, and then the end of the connection, or not. */
export const bytes =
  (text: string, then: 'end' | 'reset' | 'nothing' = 'end'): RawAnswer =>
  (socket) => {
    socket.write(text, () => {
      if (then === 'end') socket.end();
      if (then === 'reset') socket.resetAndDestroy();
    });
  };

/** An answer of bytes that may be no text. */
export const raw =
  (body: Buffer): RawAnswer =>
  (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  };
