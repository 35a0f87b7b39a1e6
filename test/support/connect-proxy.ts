import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A forward proxy that tunnels (`CONNECT`) and records the hosts. Plain requests are recorded and refused. */
export interface ConnectProxy {
  readonly url: string;
  /** `host:port` of each tunnel and the URL of each plain request, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * @param status answered to CONNECT; 200 tunnels.
 * @param credentials `user:password` without which the answer is 407.
 */
export async function startConnectProxy(status = 200, credentials?: string): Promise<ConnectProxy> {
  const authorization = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(502).end();
  });
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request.url ?? '');
    client.on('error', () => {});
    if (authorization !== undefined && request.headers['proxy-authorization'] !== authorization) {
      return client.end('HTTP/1.1 407 Refused\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n');
    }
    if (status !== 200) return client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    upstream.on('error', () => client.destroy());
    sockets.add(upstream);
    return client.pipe(upstream).pipe(client);
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
