import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A relay to a local port that can go dead: connections stay open, nothing passes, and no error is raised. */
export interface TcpRelay {
  readonly port: number;
  /** Connections that the client has not ended. */
  readonly connections: number;
  goDead(): void;
  close(): Promise<void>;
}

export async function startTcpRelay(toPort: number): Promise<TcpRelay> {
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(toPort, '127.0.0.1');
    clients.add(client);
    upstreams.add(upstream);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    const ended = (): void => {
      clients.delete(client);
      upstream.destroy();
    };
    // Read on, so that the end of the connection is seen.
    upstream.once('close', () => client.resume());
    client.once('end', ended);
    client.once('close', ended);
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return clients.size;
    },
    goDead() {
      for (const upstream of upstreams) upstream.unpipe();
      for (const client of clients) {
        client.unpipe();
        client.resume();
      }
    },
    async close() {
      for (const socket of [...clients, ...upstreams]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
