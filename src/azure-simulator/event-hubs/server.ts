import { randomBytes } from 'node:crypto';
import rhea from 'rhea';
import type { Certificate } from '../certificate.ts';
import type { ErrorLog } from '../errors.ts';
import { createFaultQueue } from '../fault-queue.ts';
import type { TokenIssuer } from '../token-issuer.ts';
import type { Broker, Peer, PlayFault } from './broker.ts';
import { createConsumers } from './consumers.ts';
import { type EventHubsFault, occasionOf } from './faults.ts';
import { createHub } from './hub.ts';
import { openListeners } from './listeners.ts';
import { servePeer } from './peer.ts';
import type { StoredEvent } from './stored-event.ts';

/** One Event Hubs namespace with one hub. */
export interface EventHubsSimulator {
  /** `simulated.servicebus.windows.net`: what a token's audience names. It resolves nowhere; use `customEndpoint` with it. */
  readonly fullyQualifiedNamespace: string;
  /** `sb://localhost:PORT`, AMQP over TLS: the SDK's customEndpointAddress. */
  readonly customEndpoint: string;
  /** `wss://localhost:PORT`, AMQP over WebSockets. As a customEndpointAddress: `sb://localhost:PORT` of the same port. */
  readonly websocketEndpoint: string;
  /** AMQP without TLS. */
  readonly plainPort: number;
  /** For the plain port, in the manner of the Event Hubs emulator. */
  readonly connectionString: string;
  readonly eventHubName: string;
  /** Everything stored, in order of arrival. */
  events(): readonly StoredEvent[];
  /** AMQP connections that are open now. */
  readonly connections: number;
  /** AMQP connections that were ever opened. */
  readonly connectionsOpened: number;
  /** Until cleared with `null`, or `times` times. */
  fault(fault: EventHubsFault | null, times?: number): void;
  /** Refuses new connections until `resume`; `drop` breaks the open ones too. */
  pause(options?: { readonly drop?: boolean }): Promise<void>;
  resume(): Promise<void>;
  /** Breaks every open connection. */
  dropConnections(): void;
}

export interface EventHubsOptions {
  readonly eventHubName?: string;
  readonly partitions?: number;
  /** Default: `$Default`. */
  readonly consumerGroups?: readonly string[];
  readonly ports?: { readonly tls?: number; readonly plain?: number; readonly webSocket?: number };
  readonly certificate: Certificate;
  readonly issuer: TokenIssuer;
  readonly log: ErrorLog;
}

export async function startEventHubs(
  options: EventHubsOptions,
): Promise<{ eventHubs: EventHubsSimulator; close(): Promise<void> }> {
  const { certificate, issuer, log, ports = {} } = options;
  const hub = createHub(options.eventHubName ?? 'vm-lifecycle', options.partitions ?? 4);
  const consumerGroups = options.consumerGroups ?? ['$Default'];
  const sharedAccessKey = { name: 'RootManageSharedAccessKey', key: randomBytes(32).toString('base64') };
  const faults = createFaultQueue<EventHubsFault>();
  const peers = new Set<Peer>();
  let opened = 0;

  const fault: PlayFault = (occasion, fits = () => true) =>
    faults.take((one) => occasionOf(one) === occasion && fits(one));
  const consumers = createConsumers(hub, consumerGroups, fault);
  const broker: Broker = {
    hub,
    tokens: { issuer, sharedAccessKey },
    log,
    fault,
    consumers,
    opened(peer) {
      peers.add(peer);
      opened += 1;
    },
    closed(peer) {
      peers.delete(peer);
      consumers.forgetAll(peer);
    },
  };

  const container = rhea.create_container({ id: 'azure-simulator' });
  for (const mechanism of ['MSSBCBS', 'PLAIN', 'ANONYMOUS', 'EXTERNAL']) {
    container.sasl_server_mechanisms[mechanism] = acceptAnyone;
  }
  container.on('error', log.add);

  const listeners = await openListeners({
    certificate,
    log,
    ports: { tls: ports.tls ?? 0, plain: ports.plain ?? 0, webSocket: ports.webSocket ?? 0 },
    mute: () => fault('connect') !== null,
    accept: (stream) => servePeer(container, stream, broker),
  });

  const eventHubs: EventHubsSimulator = {
    fullyQualifiedNamespace: 'simulated.servicebus.windows.net',
    customEndpoint: `sb://localhost:${listeners.tlsPort}`,
    websocketEndpoint: `wss://localhost:${listeners.webSocketPort}`,
    plainPort: listeners.plainPort,
    connectionString: `Endpoint=sb://localhost:${listeners.plainPort};SharedAccessKeyName=${sharedAccessKey.name};SharedAccessKey=${sharedAccessKey.key};UseDevelopmentEmulator=true`,
    eventHubName: hub.name,
    events: () => hub.events,
    get connections() {
      return peers.size;
    },
    get connectionsOpened() {
      return opened;
    },
    fault: (one, times) => faults.set(one, times),
    async pause({ drop = false } = {}) {
      await listeners.pause();
      if (drop) listeners.dropAll();
    },
    resume: listeners.resume,
    dropConnections: listeners.dropAll,
  };
  return {
    eventHubs,
    async close() {
      await listeners.pause();
      listeners.dropAll();
    },
  };
}

/** Who a peer is, its tokens tell: the SASL layer lets everybody in, as the service does. */
function acceptAnyone(): { outcome: boolean | undefined; start(): void } {
  return {
    outcome: undefined,
    start() {
      this.outcome = true;
    },
  };
}
