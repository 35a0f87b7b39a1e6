import type { Connection } from 'rhea';
import type { ErrorLog } from '../errors.ts';
import type { Consumers } from './consumers.ts';
import type { EventHubsFault, Occasion } from './faults.ts';
import type { Hub } from './hub.ts';
import type { TokenCheck } from './put-token.ts';

/** What all connections of one hub have in common. */
export interface Broker {
  readonly hub: Hub;
  readonly tokens: TokenCheck;
  readonly log: ErrorLog;
  readonly fault: PlayFault;
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
  /** Breaks the connection without a word. */
  drop(): void;
  /** Whether a token was put on this connection that covers the entity. The path is in lower case. */
  mayUse(entityPath: string): boolean;
}

/** Why a link is detached or a transfer refused. */
export interface Refusal {
  readonly condition: string;
  readonly description: string;
}

export function notFound(entity: string): Refusal {
  return { condition: 'amqp:not-found', description: `The messaging entity '${entity}' could not be found.` };
}

export function outOfRange(partition: string): Refusal {
  return {
    condition: 'com.microsoft:argument-out-of-range',
    description: `The specified partition '${partition}' is out of range.`,
  };
}

export function unauthorized(claim: 'Send' | 'Listen' | 'Manage', entity: string): Refusal {
  return {
    condition: 'amqp:unauthorized-access',
    description: `Unauthorized access. '${claim}' claim(s) are required to perform this operation. Resource: '${entity}'.`,
  };
}
