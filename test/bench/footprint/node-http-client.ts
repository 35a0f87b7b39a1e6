import { Agent, type ClientRequest, request } from 'node:http';
import type { Dispatcher } from 'undici';

/** What the bridge uses of undici's client, on `node:http`: put in its place in a bundle, it shows what undici costs. */
export default class Client {
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #open = new Set<ClientRequest>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  dispatch({ path, method, headers }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const controller = {} as Dispatcher.DispatchController;
    const sent = request(this.#origin + path, {
      method: method ?? 'GET',
      headers: headers as Record<string, string>,
      agent: this.#agent,
    });
    this.#open.add(sent);
    sent.on('close', () => this.#open.delete(sent));
    sent.on('error', (error) => handler.onResponseError?.(controller, error));
    sent.on('response', (answer) => {
      handler.onResponseStart?.(controller, answer.statusCode ?? 0, answer.headers, answer.statusMessage ?? '');
      answer.on('data', (chunk) => handler.onResponseData?.(controller, chunk));
      answer.on('end', () => handler.onResponseEnd?.(controller, {}));
    });
    handler.onRequestStart?.(controller, {});
    sent.end();
    return true;
  }

  async destroy(): Promise<void> {
    for (const sent of this.#open) sent.destroy();
    this.#agent.destroy();
  }
}
