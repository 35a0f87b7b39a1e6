import type { Destination } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';

/** Where records go on Event Hubs: `sinks.eventHubs` of the configuration. */
export interface EventHubsConfig {
  /** `x.servicebus.windows.net`; null where a connection string is given. */
  readonly fullyQualifiedNamespace: string | null;
  /** Instead of the namespace and the managed identity. A secret: in no log, no error, no status. */
  readonly connectionString: string | null;
  readonly eventHubName: string;
  /** `sb://host:port` to connect to; the namespace stays the one that the token is for. */
  readonly customEndpoint: string | null;
  readonly transport: 'amqp' | 'amqp-ws';
  /** After so long without a send the connection is closed: a Standard namespace takes 5,000 of them. */
  readonly idleCloseSeconds: number;
  /** How long a record that can wait may wait for a cold connection, so that a fleet does not connect at once. 0 = not at all. */
  readonly connectJitterSeconds: number;
}

/** One EventId a batch: it is the partition key. */
export const eventHubsShape = {
  name: 'event-hubs',
  batchBy: 'event',
  inFlight: 16,
  limits: { records: 500, bytes: 256 * 1024 },
} as const;

/** What failures are said about. Names no secret. */
export function destinationOf(config: EventHubsConfig): Destination {
  const { connectionString, eventHubName: hub } = config;
  const namespace =
    config.fullyQualifiedNamespace ?? endpointHost(connectionString ?? '') ?? 'the Event Hubs namespace';
  const detour =
    config.customEndpoint && URL.canParse(config.customEndpoint) ? new URL(config.customEndpoint).host : null;
  const byKey = connectionString !== null;
  const host = detour ?? namespace;
  const proxy = config.transport === 'amqp-ws' ? proxyBefore(host) : null;
  const grant = byKey
    ? `Send to the access policy named in sinks.eventHubs.connectionString, or correct its key`
    : `the role 'Azure Event Hubs Data Sender' on ${hub} to the identity of this VM`;
  return {
    name: `the event hub ${hub} in ${namespace}`,
    host,
    addressKey: detour
      ? 'sinks.eventHubs.customEndpoint'
      : `sinks.eventHubs.${byKey ? 'connectionString' : 'fullyQualifiedNamespace'}`,
    proxy: proxy?.host ?? null,
    sender: byKey ? 'the access policy in sinks.eventHubs.connectionString' : 'the identity of this VM',
    grant,
    whatToCheck: 'sinks.eventHubs.eventHubName',
  };
}

/** `Endpoint=sb://host[:port]/;…` -> `host[:port]`. */
function endpointHost(connectionString: string): string | null {
  return /(?:^|;)\s*Endpoint\s*=\s*\w+:\/\/([^/;]+)/i.exec(connectionString)?.[1] ?? null;
}
