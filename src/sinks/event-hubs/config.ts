import type * as v from 'valibot';
import type { Destination } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';
import {
  anyCase,
  number,
  oneOf,
  optionalSection,
  orNull,
  type Rule,
  required,
  text,
  url,
  withDefault,
  withSamples,
} from '../../config/schema.ts';
import { amqpFailure } from './amqp-failure.ts';

const byIdentityOrKey: Rule = {
  problem({ fullyQualifiedNamespace, connectionString }) {
    if ((fullyQualifiedNamespace === null) !== (connectionString === null)) return null;
    const found = connectionString === null ? 'neither is set' : 'both are set';
    return `sinks.eventHubs: expected exactly one of fullyQualifiedNamespace and connectionString; ${found}.`;
  },
  jsonSchema: {
    oneOf: ['fullyQualifiedNamespace', 'connectionString'].map((key) => ({
      required: [key],
      properties: { [key]: { type: 'string' } },
    })),
  },
};

const sameEventHub: Rule = {
  problem({ connectionString, eventHubName }) {
    if (typeof connectionString !== 'string' || typeof eventHubName !== 'string') return null;
    const entityPath = /;\s*EntityPath=([^;]+)/i.exec(connectionString)?.[1]?.trim();
    if (entityPath === undefined || entityPath === eventHubName) return null;
    return `sinks.eventHubs.eventHubName is ${JSON.stringify(eventHubName)}, but connectionString has the EntityPath ${JSON.stringify(entityPath)}: expected the same event hub in both.`;
  },
};

const overWebSockets = { required: ['transport'], properties: { transport: { const: 'amqp-ws' } } };

const noProxyForAmqp: Rule = {
  problem: ({ transport }, { proxy }) =>
    proxy !== null && transport === 'amqp'
      ? 'proxy is set, but sinks.eventHubs.transport is "amqp", which cannot go through a proxy: expected "amqp-ws", or no proxy.'
      : null,
  jsonSchemaOfAll: {
    anyOf: [
      { properties: { proxy: { type: 'null' } } },
      { properties: { sinks: { properties: { eventHubs: { anyOf: [{ type: 'null' }, overWebSockets] } } } } },
    ],
  },
};

/** `sinks.eventHubs` of the configuration. */
export const eventHubsSection = withSamples(
  optionalSection(
    {
      fullyQualifiedNamespace: orNull(
        text(
          'the full host name of the namespace, such as myns.servicebus.windows.net, optionally with a port',
          /^(?=localhost|.*[.:])[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/,
        ),
        'Event Hubs namespace, such as `x.servicebus.windows.net`. Either this or `connectionString`',
      ),
      connectionString: orNull(
        text(
          'Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…',
          new RegExp(
            String.raw`^\s*${anyCase('Endpoint=sb')}://[^;]+;.*${anyCase('SharedAccess')}(${anyCase('Key')}|${anyCase('Signature')})=`,
          ),
        ),
        'Instead of the namespace, for the emulator and for VMs without managed identity. Accepted only from a file that others cannot read, or from an environment variable',
        { isSecret: () => true },
      ),
      eventHubName: required(text('the name of an event hub', /^[A-Za-z0-9][\w.-]*$/), 'Name of the event hub'),
      customEndpoint: orNull(
        url('sb://host:port', 'sb'),
        'Address to connect to instead of the namespace, for private routes and the simulator',
      ),
      transport: withDefault('amqp', oneOf('amqp', 'amqp-ws'), '`amqp-ws`: over WebSockets, port 443'),
      idleCloseSeconds: withDefault(
        10,
        number(0, 86_400, ' (seconds)'),
        'The connection is closed after this long without a record, unless an event is about to start',
      ),
      connectJitterSeconds: withDefault(
        0,
        number(0, 600, ' (seconds)'),
        'For fleets with more than 4,000 VMs in a Standard namespace: maximum time that a record of an event more than 10 min ahead may wait for a new connection. If not 0, connections are not opened before an event starts',
      ),
    },
    byIdentityOrKey,
    sameEventHub,
    noProxyForAmqp,
  ),
  {
    'managed-identity': { fullyQualifiedNamespace: 'NAMESPACE.servicebus.windows.net', eventHubName: 'vm-lifecycle' },
    'connection-string': {
      connectionString: 'Endpoint=sb://NAMESPACE.servicebus.windows.net/;SharedAccessKeyName=NAME;SharedAccessKey=KEY',
      eventHubName: 'vm-lifecycle',
    },
  },
);

/** The event hub and its credentials. `connectionString` is a secret: in no log, no error, no status. */
export type EventHubsConfig = Readonly<NonNullable<v.InferOutput<typeof eventHubsSection>>>;

// assumption: token-clouds
/** Scope of a token for Event Hubs. The same in every cloud, and fixed in the SDK (double slash included). */
export const eventHubsScope = 'https://eventhubs.azure.net//.default';

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
    : `the role 'Azure Event Hubs Data Sender' on ${hub} to the identity of this VM (takes effect within 30 min)`;
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
    explain: amqpFailure,
  };
}

/** `Endpoint=sb://host[:port]/;…` -> `host[:port]`. */
function endpointHost(connectionString: string): string | null {
  return /(?:^|;)\s*Endpoint\s*=\s*\w+:\/\/([^/;]+)/i.exec(connectionString)?.[1] ?? null;
}
