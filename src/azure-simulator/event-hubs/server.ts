import { createHmac } from 'node:crypto';
import type { Certificate } from '../certificate.ts';
import type { ErrorLog } from '../errors.ts';
import { createFaultQueue } from '../fault-queue.ts';
import { inUrl } from '../listen.ts';
import { fullyQualifiedNamespace } from '../namespace.ts';
import type { TokenIssuer } from '../token-issuer.ts';
import type { Broker, Peer, PlayFault } from './broker.ts';
import { realClock, type ServiceClock } from './clock.ts';
import { createConsumers } from './consumers.ts';
import { type EventHubsFault, occasionOf } from './faults.ts';
import { answerSend } from './http-send.ts';
import { createHubs, type HubDefinition } from './hubs.ts';
import { type IdleLimits, idleLimits } from './links.ts';
import { openListeners } from './listeners.ts';
import { servePeer } from './peer.ts';
import type { StoredEvent } from './stored-event.ts';
import { createThrottle, type IngressLimit } from './throttle.ts';

/** One Event Hubs namespace. */
export interface EventHubsSimulator {
  /** `simulated.servicebus.windows.net`: what a token's audience names. It resolves nowhere; use `customEndpoint` with it. */
  readonly fullyQualifiedNamespace: string;
  /** `sb://localhost:PORT`, AMQP over TLS: the SDK's customEndpointAddress. */
  readonly customEndpoint: string;
  /** `wss://localhost:PORT`, AMQP over WebSockets. As a customEndpointAddress: `sb://localhost:PORT`; for sending by HTTP: `https://localhost:PORT`. */
  readonly websocketEndpoint: string;
  /** AMQP without TLS. */
  readonly plainPort: number;
  /** For the plain port, in the manner of the Event Hubs emulator. */
  readonly connectionString: string;
  /** The first hub. */
  readonly eventHubName: string;
  /** Everything stored in a hub (default: the first), in order of arrival. @throws a sentence when there is no such hub. */
  events(eventHubName?: string): readonly StoredEvent[];
  /** AMQP connections that are open now. */
  readonly connections: number;
  /** AMQP connections that were ever opened. */
  readonly connectionsOpened: number;
  /** Until cleared with `null`, or `times` times. */
  fault(fault: EventHubsFault | null, times?: number): void;
  /** On how many occasions a fault was played. */
  readonly faultsPlayed: number;
  /** From now on takes in no more than this; what is too much is refused as throttled. `null`, as in the beginning: anything. */
  limit(limit: IngressLimit | null): void;
  /** Refuses new connections until `resume`; `drop` breaks the open ones too. */
  pause(options?: { readonly drop?: boolean }): Promise<void>;
  resume(): Promise<void>;
  /** Breaks every open connection. */
  dropConnections(): void;
}

export interface EventHubsOptions {
  /** At least one. */
  readonly hubs: readonly HubDefinition[];
  readonly idle?: Partial<IdleLimits>;
  readonly clock?: ServiceClock;
  /** Default: loopback. */
  readonly host?: string;
  readonly ports?: { readonly tls?: number; readonly plain?: number; readonly webSocket?: number };
  readonly certificate: Certificate;
  readonly issuer: TokenIssuer;
  readonly log: ErrorLog;
}

export async function startEventHubs(
  options: EventHubsOptions,
): Promise<{ eventHubs: EventHubsSimulator; close(): Promise<void> }> {
  const { certificate, issuer, log, ports = {}, clock = realClock } = options;
  const hubs = createHubs(options.hubs);
  // The same for as long as the certificate is: connection strings then survive a restart.
  const key = createHmac('sha256', certificate.key).update('shared access key').digest('base64');
  const sharedAccessKey = { name: 'RootManageSharedAccessKey', key };
  const host = inUrl(options.host ?? 'localhost');
  const faults = createFaultQueue<EventHubsFault>();
  const peers = new Set<Peer>();
  let opened = 0;

  const fault: PlayFault = (occasion, fits = () => true) =>
    faults.take((one) => occasionOf(one) === occasion && fits(one));
  const consumers = createConsumers(hubs, fault);
  const throttle = createThrottle(clock.now);
  const broker: Broker = {
    hubs,
    tokens: { issuer, sharedAccessKey },
    log,
    clock,
    idle: { ...idleLimits, ...options.idle },
    fault,
    throttle,
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

  const listeners = await openListeners({
    certificate,
    log,
    ...(options.host !== undefined && { host: options.host }),
    ports: { tls: ports.tls ?? 0, plain: ports.plain ?? 0, webSocket: ports.webSocket ?? 0 },
    mute: () => fault('connect') !== null,
    accept: (stream) => servePeer(stream, broker),
    request: (request, response) => answerSend(request, response, broker),
  });

  const eventHubs: EventHubsSimulator = {
    fullyQualifiedNamespace,
    customEndpoint: `sb://${host}:${listeners.tlsPort}`,
    websocketEndpoint: `wss://${host}:${listeners.webSocketPort}`,
    plainPort: listeners.plainPort,
    connectionString: `Endpoint=sb://${host}:${listeners.plainPort};SharedAccessKeyName=${sharedAccessKey.name};SharedAccessKey=${sharedAccessKey.key};UseDevelopmentEmulator=true`,
    eventHubName: hubs.get().name,
    events: (name) => hubs.get(name).events,
    get connections() {
      return peers.size;
    },
    get connectionsOpened() {
      return opened;
    },
    fault: (one, times) => faults.set(one, times),
    get faultsPlayed() {
      return faults.played;
    },
    limit: throttle.limit,
    async pause({ drop = false } = {}) {
      await listeners.pause();
      if (drop) listeners.dropAll();
    },
    resume: listeners.resume,
    dropConnections: listeners.dropAll,
  };
  const stopSweeping = clock.everySecond(
    log.guard(() => {
      for (const { links } of peers) links.sweep();
    }),
  );
  return {
    eventHubs,
    async close() {
      stopSweeping();
      await listeners.pause();
      listeners.dropAll();
    },
  };
}
