import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';

/** What happens to connections that are opened from now on. */
export type FrontMode =
  /** They lead to the service. */
  | 'pass'
  /** Accepted, and nothing is ever answered. */
  | 'silent'
  /** This number of bytes of the service's answers arrives, then nothing: a TLS handshake stalls. */
  | { readonly stallAfterBytes: number }
  /** The answers arrive one byte at a time. */
  | { readonly byteEveryMs: number }
  /** TLS with this certificate; behind it the service, or silence. */
  | { readonly certificate: { readonly key: string; readonly cert: string }; readonly behind: 'pass' | 'silent' }
  /** TLS with this certificate, behind which the client's first bytes are answered with these, and then maybe with zeros without end. */
  | {
      readonly certificate: { readonly key: string; readonly cert: string };
      readonly answer: Buffer;
      readonly isEndless?: boolean;
    };

/** Stands between the bridge and a local port, and goes wrong below the protocols that the simulator speaks. */
export interface Front {
  readonly port: number;
  /** Connections that the client has not ended. */
  readonly open: number;
  /** Connections that met another mode than `pass`, or died with `goDead`. */
  readonly faulted: number;
  /** Breaks the open connections, unless the mode is `pass`: what is silent then stays silent, until the client gives up. */
  set(mode: FrontMode): void;
  /** Open connections stay open and pass nothing any more, as behind a firewall that forgot them; new ones are silent. */
  goDead(): void;
  close(): Promise<void>;
}

export async function startFront(toPort: number): Promise<Front> {
  const clients = new Set<Socket>();
  const links = new Map<Socket, Socket>();
  let mode: FrontMode = 'pass';
  let faulted = 0;

  const link = (client: Socket): Socket => {
    const upstream = connect(toPort, '127.0.0.1');
    links.set(client, upstream);
    upstream.on('error', () => {});
    // Read on, so that the end of the connection is seen.
    upstream.once('close', () => client.resume());
    client.once('close', () => upstream.destroy());
    return upstream;
  };

  const behindTls = (client: Socket, fault: Extract<FrontMode, { certificate: unknown }>): void => {
    const server = createTlsServer(fault.certificate, (secure) => {
      secure.on('error', () => {});
      if ('answer' in fault) {
        secure.once('data', () => {
          secure.write(fault.answer);
          if (fault.isEndless) flood(secure);
        });
      } else if (fault.behind === 'silent') secure.resume();
      else {
        const upstream = connectTls({ port: toPort, host: '127.0.0.1', rejectUnauthorized: false });
        upstream.on('error', () => {});
        secure.once('close', () => upstream.destroy());
        secure.pipe(upstream).pipe(secure);
      }
    });
    // A client that does not trust the certificate leaves in the handshake.
    server.on('tlsClientError', () => {});
    server.emit('connection', client);
  };

  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => {});
    client.once('close', () => clients.delete(client));
    client.once('end', () => client.destroy());
    const now = mode;
    if (now === 'pass') return void client.pipe(link(client)).pipe(client);
    faulted += 1;
    if (now === 'silent') client.resume();
    else if ('certificate' in now) behindTls(client, now);
    else {
      const upstream = link(client);
      client.pipe(upstream);
      if ('stallAfterBytes' in now) stall(upstream, client, now.stallAfterBytes);
      else drip(upstream, client, now.byteEveryMs);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return clients.size;
    },
    get faulted() {
      return faulted;
    },
    set(next) {
      mode = next;
      if (next !== 'pass') for (const client of clients) client.destroy();
    },
    goDead() {
      mode = 'silent';
      faulted += clients.size;
      for (const client of clients) {
        const upstream = links.get(client);
        client.unpipe();
        upstream?.unpipe();
        // Read on, so that the end of the connection is seen.
        client.resume();
      }
    },
    async close() {
      for (const socket of [...clients, ...links.values()]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function stall(upstream: Socket, client: Socket, bytes: number): void {
  let left = bytes;
  upstream.on('data', (chunk: Buffer) => {
    if (left > 0) client.write(chunk.subarray(0, left));
    left -= chunk.length;
  });
}

function drip(upstream: Socket, client: Socket, everyMs: number): void {
  const waiting: Buffer[] = [];
  upstream.on('data', (chunk: Buffer) => waiting.push(chunk));
  const timer = setInterval(() => {
    const [first] = waiting;
    if (!first) return;
    client.write(first.subarray(0, 1));
    if (first.length > 1) waiting[0] = first.subarray(1);
    else waiting.shift();
  }, everyMs);
  client.once('close', () => clearInterval(timer));
}

/** Writes zeros as fast as they are read. */
function flood(socket: Socket): void {
  const piece = Buffer.alloc(1024 * 1024);
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}
