import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { Certificate } from '../certificate.ts';
import type { ErrorLog } from '../errors.ts';
import { listen } from '../listen.ts';
import { pathOf } from '../path-of.ts';

/** The three listeners of a namespace. */
export interface Listeners {
  readonly tlsPort: number;
  readonly plainPort: number;
  readonly webSocketPort: number;
  /** Stops listening: new connections are refused. */
  pause(): Promise<void>;
  /** Listens again, on the same ports. */
  resume(): Promise<void>;
  /** Breaks every connection. */
  dropAll(): void;
}

export interface ListenerOptions {
  readonly certificate: Certificate;
  readonly log: ErrorLog;
  /** Default: loopback. */
  readonly host?: string;
  readonly ports: { readonly tls: number; readonly plain: number; readonly webSocket: number };
  /** Whether this connection is accepted and then left alone. */
  readonly mute: () => boolean;
  readonly accept: (stream: Duplex) => void;
  /** HTTP at the WebSockets' port, as in Azure. */
  readonly request: RequestListener;
}

/**
 * Every listener is a TCP listener of ours that hands the socket on to TLS or HTTPS: so a silent peer is silent from the
 * first byte, and closing the listener leaves open connections open.
 */
export async function openListeners({
  certificate,
  log,
  host,
  ports,
  mute,
  accept,
  request,
}: ListenerOptions): Promise<Listeners> {
  const { key, cert } = certificate;
  const tls = createTlsServer({ key, cert }, log.guard(accept));
  const https = createHttpsServer({ key, cert }, log.guard(request));
  const webSockets = new WebSocketServer({ server: https, perMessageDeflate: false });
  // Clients ask for the path with a slash at the end (Rust) or for the whole URL (Java) as well.
  webSockets.shouldHandle = ({ url }) => pathOf(url).toLowerCase() === '/$servicebus/websocket';
  webSockets.on(
    'connection',
    log.guard((webSocket) => accept(createWebSocketStream(webSocket))),
  );
  // A client that does not trust the certificate, or leaves in mid-handshake, is no error of ours.
  tls.on('tlsClientError', () => {});

  const sockets = new Set<Socket>();
  const createListener = (handOn: (socket: Socket) => unknown): Server => {
    const welcome = (socket: Socket): void => {
      sockets.add(socket);
      // AMQP opens with a dozen small frames: with Nagle's algorithm each would wait for the peer's delayed ACK.
      socket.setNoDelay(true);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => {});
      if (!mute()) handOn(socket);
    };
    return createServer(log.guard(welcome));
  };
  const listeners = [
    {
      what: 'Event Hubs over TLS',
      port: ports.tls,
      server: createListener((socket) => tls.emit('connection', socket)),
    },
    { what: 'Event Hubs without TLS', port: ports.plain, server: createListener(accept) },
    {
      what: 'Event Hubs over WebSockets',
      port: ports.webSocket,
      server: createListener((socket) => https.emit('connection', socket)),
    },
  ];
  const open = async (): Promise<void> => {
    for (const listener of listeners) {
      if (!listener.server.listening) listener.port = await listen(listener.server, listener.port, listener.what, host);
    }
  };
  const pause = async (): Promise<void> => {
    for (const { server } of listeners) if (server.listening) server.close();
  };

  try {
    await open();
  } catch (error) {
    await pause();
    throw error;
  }
  const [tlsPort = 0, plainPort = 0, webSocketPort = 0] = listeners.map(({ port }) => port);
  return {
    tlsPort,
    plainPort,
    webSocketPort,
    pause,
    resume: open,
    dropAll() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
