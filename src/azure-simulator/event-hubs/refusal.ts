/** Why the service ends or refuses something: an AMQP error. */
export interface Refusal {
  readonly condition: string;
  readonly description: string;
  /** Said outright, since Microsoft's Python client reads errors by position: rhea would leave the field out. */
  readonly info: null;
}

/** What a token has to allow. */
export type Claim = 'Send' | 'Listen' | 'Manage';

export function refusal(condition: string, description: string): Refusal {
  return { condition, description, info: null };
}

export function notFound(entity: string): Refusal {
  return refusal('amqp:not-found', `The messaging entity '${entity}' could not be found.`);
}

export function outOfRange(partition: string): Refusal {
  const description = `The specified partition '${partition}' is out of range.`;
  return refusal('com.microsoft:argument-out-of-range', description);
}

export function unauthorized(claim: Claim, entity: string): Refusal {
  const description = `Unauthorized access. '${claim}' claim(s) are required to perform this operation. Resource: '${entity}'.`;
  return refusal('amqp:unauthorized-access', description);
}

/** @param expiredAt milliseconds since the epoch. */
export function expired(expiredAt: number): Refusal {
  return refusal('amqp:unauthorized-access', expiredToken(expiredAt));
}

export function expiredToken(expiredAt: number): string {
  const time = new Date(expiredAt).toISOString().replace('T', ' ').replace(/\.\d+/, '');
  return `ExpiredToken: The token is expired. Expiration time: '${time}'`;
}

export const detached = refusal('amqp:link:detach-forced', 'The link is force detached by the broker.');

/** https://learn.microsoft.com/azure/event-hubs/event-hubs-amqp-troubleshoot */
export function idleLink(limitMs: number): Refusal {
  const timeout = new Date(limitMs).toISOString().slice(11, 19);
  const origin = `AmqpEventHubPublisher.IdleTimerExpired: Idle timeout: ${timeout}.`;
  return refusal(detached.condition, `${detached.description} Detach origin: ${origin}`);
}

export const forced = refusal('amqp:connection:forced', 'The connection was closed by the broker.');

/** https://learn.microsoft.com/azure/event-hubs/event-hubs-amqp-troubleshoot */
export function idleConnection(limitMs: number): Refusal {
  const why = `because it did not have any active links in the past ${limitMs} milliseconds`;
  return refusal(forced.condition, `The connection was closed by the broker ${why}.`);
}

export const busy = refusal(
  'com.microsoft:server-busy',
  'The request was terminated because the entity is being throttled. Error code : 50002. Please wait 4 seconds and try again.',
);

export function tooLarge(bytes: number, limit: number): Refusal {
  const description = `The received message (${bytes} bytes) exceeds the limit (${limit} bytes) currently allowed on the link.`;
  return refusal('amqp:link:message-size-exceeded', description);
}
