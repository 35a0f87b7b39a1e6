import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBicepProject } from './bicep.ts';
import { accountRoutes } from './replies/account.ts';
import { computeRoutes } from './replies/compute.ts';
import { dataRoutes } from './replies/data.ts';
import { deploymentRoutes } from './replies/deployments.ts';
import { resourceRoutes } from './replies/resources.ts';
import { subscriptionRoutes } from './replies/subscription.ts';
import { operationRoutes, type Parts, type Reply, type Route, refused, type StandInRequest } from './reply.ts';
import { createVirtualMachines } from './virtual-machines.ts';
import { createWorld, type Services, type World } from './world.ts';

/** Gives a reply instead of the usual one, or null. */
export type Interceptor = (request: StandInRequest) => Reply | null | Promise<Reply | null>;

/** A stand-in for Azure's side of the Azure CLI: an HTTP server to which the CLI's transport leads every request. */
export interface AzureStandIn {
  readonly url: string;
  readonly world: World;
  /** Every request so far: method and address. */
  readonly requests: readonly string[];
  /** Requests that had no reply. Tests assert that this is empty: a new command of the run needs its replies. */
  readonly unanswered: readonly string[];
  /** Answers requests before their usual reply does, as long as it gives one. Returns how to end that. */
  intercept(reply: Interceptor): () => void;
  close(): Promise<void>;
}

/** The first one that has a reply gives it. */
const routes: readonly Route[] = [
  ...accountRoutes,
  ...operationRoutes,
  ...subscriptionRoutes,
  ...deploymentRoutes,
  ...computeRoutes,
  ...dataRoutes,
  ...resourceRoutes,
];

const noServices = (): Services => ({
  machines: createVirtualMachines(),
  queries: { logs: async () => ({ columns: [], rows: [] }), graph: async () => [] },
  token: async () => null,
  rolesChanged: () => {},
});

export async function startAzureStandIn(services: Services = noServices()): Promise<AzureStandIn> {
  const world = createWorld(createBicepProject(), services);
  const requests: string[] = [];
  const unanswered: string[] = [];
  const interceptors = new Set<Interceptor>();

  async function replyTo(request: StandInRequest): Promise<Reply> {
    requests.push(`${request.method} ${request.url}`);
    for (const intercept of interceptors) {
      const reply = await intercept(request);
      if (reply !== null) return reply;
    }
    for (const route of routes) {
      const parts = partsOf(route, request);
      const reply = parts === null ? null : await route.reply(world, parts, request);
      if (reply !== null) return reply;
    }
    unanswered.push(`${request.method} ${request.url}`);
    const message = `The stand-in for Azure has no reply to ${request.method} ${request.url}`;
    return refused(400, { code: 'NoReplyInStandIn', message });
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await new Response(incoming as unknown as ReadableStream).text();
    const { method = '', headers: given } = incoming;
    const url = new URL(String(given['x-requested-url']));
    const { status, body, headers } = await Promise.try(() =>
      replyTo({
        method,
        url,
        step: String(given['x-step'] ?? ''),
        body: /json/.test(given['content-type'] ?? '') ? parsed(text) : text,
      }),
    ).catch((error: Error) => {
      unanswered.push(`${method} ${url}: ${error.stack}`);
      return refused(400, { code: 'FaultInStandIn', message: error.message });
    });
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  const server = createServer((incoming, response) => void serve(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world,
    requests,
    get unanswered() {
      return [...unanswered, ...world.faults];
    },
    intercept(reply) {
      interceptors.add(reply);
      return () => interceptors.delete(reply);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The CLI writes a compiled template without quotes around its key. */
const parsed = (text: string): unknown =>
  text === '' ? undefined : JSON.parse(text.replace(/(?<=, )template:(?=\{)/, '"template":'));

const isHost = (pattern: string, host: string): boolean =>
  pattern.startsWith('*') ? host.endsWith(pattern.slice(1)) : host === pattern;

const patterns = new Map<Route, RegExp>();

function partsOf(route: Route, { method, url }: StandInRequest): Parts | null {
  if (route.method !== method || !isHost(route.host, url.host)) return null;
  const source = route.path.replace(
    /\{(\w+)(\*?)\}/g,
    (_, name, many) => `(?<${name}>${many === '' ? '[^/]+' : '.+'})`,
  );
  const pattern = patterns.get(route) ?? new RegExp(`^${source}$`, 'i');
  patterns.set(route, pattern);
  const match = pattern.exec(url.pathname.replace(/\/+/g, '/').replace(/\/$/, ''));
  if (match === null) return null;
  return Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]));
}
