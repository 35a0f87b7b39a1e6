import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import {
  certificatesDocument,
  type Deployment,
  extensionsDocument,
  type Goal,
  goalStateDocument,
  hostingDocument,
  manifestDocument,
  sharedDocument,
  versionsDocument,
} from './goal-state.ts';
import { makeTenantCertificate } from './tenant-certificate.ts';

/** Azure's fixed address of the wire server. https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16 */
export const wireServerAddress = '168.63.129.16';
const hostPluginPort = 32_526;

/** An extension in the status that the agent uploads. */
export interface HandlerStatus {
  readonly handlerName: string;
  readonly handlerVersion: string;
  readonly status: string;
  readonly code: number;
  readonly formattedMessage?: { readonly message: string };
  readonly runtimeSettingsStatus?: {
    readonly sequenceNumber: number;
    readonly settingsStatus: { readonly status: ExtensionStatus };
  };
}

/** What the handler has written into its status file. */
export interface ExtensionStatus {
  readonly status: string;
  readonly operation: string;
  readonly code: number;
  readonly formattedMessage: { readonly message: string };
  readonly substatus?: readonly {
    readonly name: string;
    readonly status: string;
    readonly formattedMessage: { readonly message: string };
  }[];
}

/** What a goal is made of. */
export interface GivenGoal extends Omit<Goal, 'protectedSettings'> {
  /** In clear. */
  readonly protectedSettings: object | null;
}

/** An upload of the agent. */
export interface UploadedStatus {
  readonly handlers: readonly HandlerStatus[];
}

export interface WireServer {
  /** What the agent is to reach from now on. */
  want(goal: GivenGoal): void;
  /** Makes a version known: its package is `<version>.zip`. */
  publish(version: string): void;
  /** The last status of the agent; null before its first upload. */
  readonly status: UploadedStatus | null;
  /** The paths to which the agent has ever sent this text: status, telemetry, health. */
  received(text: string): readonly string[];
}

/**
 * What the guest agent of a VM talks to: the wire server, the blob storage of the extension, and the plugin of the host through which
 * the agent uploads its status. It answers with what https://github.com/Azure/WALinuxAgent reads.
 * @param packages the folder of the packages.
 */
export async function startWireServer(extension: string, packages: string): Promise<WireServer> {
  const url = `http://${wireServerAddress}`;
  const tenant = makeTenantCertificate();
  const versions: string[] = [];
  let deployment: Deployment = {
    ...{ extension, url, versions, incarnation: 1, goal: null },
    thumbprint: tenant.thumbprint,
  };
  let status: UploadedStatus | null = null;
  const sent: { readonly path: string; readonly body: string }[] = [];

  function documentOf(query: URLSearchParams, { headers }: IncomingMessage): string | null {
    const [comp, type] = [query.get('comp'), query.get('type')];
    if (comp === 'versions') return versionsDocument;
    if (comp === 'goalstate') return goalStateDocument(deployment);
    if (comp === 'certificates')
      return certificatesDocument(tenant.sealedFor(String(headers['x-ms-guest-agent-public-x509-cert'])));
    if (type === 'hostingEnvironmentConfig') return hostingDocument;
    if (type === 'sharedConfig') return sharedDocument;
    if (type === 'extensionsConfig') return extensionsDocument(deployment);
    return null;
  }

  async function wire(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', url);
    // Health, role properties and telemetry of the agent.
    if (request.method === 'POST') {
      sent.push({ path: String(request.url), body: await text(request) });
      return void response.writeHead(200).end();
    }
    if (pathname === '/blob/manifest.xml') return void response.end(manifestDocument(deployment));
    const [, version] = /^\/blob\/(.+)\.zip$/.exec(pathname) ?? [];
    if (version !== undefined && versions.includes(version)) {
      return void createReadStream(join(packages, `${version}.zip`)).pipe(response);
    }
    const document = documentOf(searchParams, request);
    response.writeHead(document === null ? 404 : 200, { 'content-type': 'text/xml' }).end(document ?? '');
  }

  async function hostPlugin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/versions') return void response.end(JSON.stringify(['2015-09-01']));
    // No goal states on the faster way of the host: the agent takes those of the wire server.
    if (request.url !== '/status') return void response.writeHead(404).end();
    const { content } = (await json(request)) as { readonly content: string };
    const body = Buffer.from(content, 'base64').toString('utf8');
    sent.push({ path: request.url, body });
    const { aggregateStatus } = JSON.parse(body) as {
      readonly aggregateStatus: { readonly handlerAggregateStatus: readonly HandlerStatus[] };
    };
    status = { handlers: aggregateStatus.handlerAggregateStatus };
    response.writeHead(201).end();
  }

  await Promise.all([listen(80, wire), listen(hostPluginPort, hostPlugin)]);
  return {
    publish: (version) => void versions.push(version),
    want(goal) {
      const { protectedSettings } = goal;
      const encrypted = protectedSettings && tenant.encrypt(protectedSettings);
      deployment = {
        ...deployment,
        incarnation: deployment.incarnation + 1,
        goal: { ...goal, protectedSettings: encrypted },
      };
    },
    received: (part) => sent.filter(({ body }) => body.includes(part)).map(({ path }) => path),
    get status() {
      return status;
    },
  };
}

async function listen(port: number, answer: RequestListener): Promise<void> {
  const server = createServer(answer);
  server.listen(port, wireServerAddress);
  await once(server, 'listening');
}
