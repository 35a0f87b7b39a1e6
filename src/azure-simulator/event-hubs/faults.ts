/** How the hub may misbehave. */
export type EventHubsFault =
  /** Every token is refused: the role assignment is missing. */
  | 'unauthorized'
  /** The connection is closed with this AMQP condition when a token is put, before the answer: as when a quota of connections is used up. */
  | { readonly closeOnToken: string }
  /** No link can be attached: the hub does not exist. */
  | 'not-found'
  /** A transfer is refused as throttled. */
  | 'server-busy'
  /** The link is detached on a transfer; nothing is stored. */
  | 'detach'
  /** The connection is closed with an error on a transfer, as when a node of the service goes down; nothing is stored. */
  | 'force-close'
  /** The connection breaks on a transfer; nothing is stored. */
  | 'drop'
  /** Stored, and the connection breaks before the disposition. */
  | 'accept-then-drop'
  /** Nothing is stored and the transfer is never settled. */
  | 'silent'
  /** TCP is accepted, then nothing is sent. */
  | 'mute'
  /** A transfer that holds an event with such a body (default: every transfer) is refused with this AMQP condition. */
  | { readonly reject: string; readonly when?: (body: Buffer) => boolean }
  /** Stored at once, settled late. */
  | { readonly delayMs: number };

/** The occasion on which a fault is played. */
export type Occasion = 'connect' | 'put-token' | 'attach' | 'transfer';

export function occasionOf(fault: EventHubsFault): Occasion {
  if (fault === 'mute') return 'connect';
  if (fault === 'unauthorized' || (typeof fault === 'object' && 'closeOnToken' in fault)) return 'put-token';
  if (fault === 'not-found') return 'attach';
  return 'transfer';
}
