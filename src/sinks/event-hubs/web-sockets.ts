import type { Duplex } from 'node:stream';
import type { EventHubClientOptions } from '@azure/event-hubs';
import { type Dispatcher, EnvHttpProxyAgent, WebSocket } from 'undici';

/** The WebSockets of one line. */
export interface WebSockets {
  readonly options: Pick<EventHubClientOptions, 'webSocketOptions'>;
  /** Why the last one could not be opened; null where none failed. */
  readonly failure: () => unknown;
  destroy(): Promise<void>;
}

// assumption: hub-websocket
/**
 * WebSockets of undici, through the proxy of the process's proxy variables if there is one. The dispatcher belongs to
 * one line alone, and the socket under a WebSocket is kept: a peer that went dead never answers the closing handshake,
 * and destroying the dispatcher does not reach what it has handed over.
 */
export function createWebSockets(connectMs: number, onClose: () => void): WebSockets {
  // A connection that is still being made is out of reach too: it ends by itself.
  const agent = new EnvHttpProxyAgent({ connect: { timeout: connectMs } });
  let failure: unknown = null;
  let socket: Duplex | null = null;
  const dispatcher = agent.compose(
    watchHandshakes({
      failed: (error) => {
        failure = error;
      },
      opened: (duplex) => {
        socket = duplex;
      },
    }),
  );
  class LineSocket extends WebSocket {
    constructor(url: string, protocols: string | string[] = []) {
      super(url, { protocols, dispatcher });
      this.addEventListener('close', onClose);
    }
  }
  return {
    options: { webSocketOptions: { webSocket: LineSocket } },
    failure: () => failure,
    async destroy() {
      socket?.destroy();
      await agent.destroy();
    },
  };
}

/** By its standard a WebSocket does not report why it failed; the request under it does. */
const watchHandshakes =
  (on: { failed(error: unknown): void; opened(socket: Duplex): void }): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      onRequestStart: (...args) => handler.onRequestStart?.(...args),
      onRequestUpgrade(controller, status, headers, socket) {
        on.opened(socket);
        return handler.onRequestUpgrade?.(controller, status, headers, socket);
      },
      onResponseStart(controller, status, ...rest) {
        on.failed(new Error(`WebSocket refused (HTTP ${status})`));
        return handler.onResponseStart?.(controller, status, ...rest);
      },
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError(controller, error) {
        on.failed(error);
        return handler.onResponseError?.(controller, error);
      },
    });
