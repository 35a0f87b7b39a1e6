import type { Connection } from 'rhea';
import type { ErrorLog } from '../errors.ts';
import type { ServiceClock } from './clock.ts';
import type { Consumers } from './consumers.ts';
import type { EventHubsFault, Occasion } from './faults.ts';
import type { Hubs } from './hubs.ts';
import type { IdleLimits, Links } from './links.ts';
import type { TokenCheck } from './put-token.ts';
import type { Claim, Refusal } from './refusal.ts';
import type { Throttle } from './throttle.ts';

/** What all connections of one namespace have in common. */
export interface Broker {
  readonly hubs: Hubs;
  readonly tokens: TokenCheck;
  readonly log: ErrorLog;
  readonly clock: ServiceClock;
  readonly idle: IdleLimits;
  readonly fault: PlayFault;
  readonly throttle: Throttle;
  /** The open receivers of all connections: among them an epoch steals. */
  readonly consumers: Consumers;
  opened(peer: Peer): void;
  closed(peer: Peer): void;
}

/** The fault to play on this occasion, if one is set and fits; asking uses up one of its times. */
export type PlayFault = (occasion: Occasion, fits?: (fault: EventHubsFault) => boolean) => EventHubsFault | null;

/** One AMQP connection, seen from the service. */
export interface Peer {
  readonly connection: Connection;
  readonly links: Links;
  /** Breaks the connection without a word. */
  drop(): void;
  /** Null when a token was put on this connection that covers the entity and has not expired; else why not. */
  refusal(claim: Claim, entity: string): Refusal | null;
}
