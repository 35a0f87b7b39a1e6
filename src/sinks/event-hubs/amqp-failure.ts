import type { ErrorDetail } from '../../azure/error-detail.ts';
import { type Destination, notAllowed, rejected, retry } from '../../azure/failure.ts';
import type { Failure } from '../sink.ts';

// assumption: hub-throttled
/** Event Hubs asks to wait about ten seconds. https://learn.microsoft.com/azure/event-hubs/event-hubs-messaging-exceptions */
const busyMs = 10_000;

/** What the `code` of a MessagingError of @azure/event-hubs means. Codes of the network are not here. */
export function amqpFailure({ code, message }: ErrorDetail, to: Destination): Failure | null {
  return meanings[conditions[code] ?? code]?.(to, message) ?? byMessage(message, to);
}

// assumption: hub-disconnects-idle
/** Links and connections that are closed say it in AMQP's own words, which the SDK translates only for sends. */
const conditions: Readonly<Partial<Record<string, string>>> = {
  'amqp:unauthorized-access': 'UnauthorizedError',
  'com.microsoft:auth-failed': 'UnauthorizedError',
  'amqp:not-found': 'ServiceCommunicationError',
  'com.microsoft:entity-disabled': 'MessagingEntityDisabledError',
  'com.microsoft:server-busy': 'ServerBusyError',
  'amqp:resource-limit-exceeded': 'QuotaExceededError',
  'amqp:link:message-size-exceeded': 'MessageTooLargeError',
  'amqp:link:detach-forced': 'DetachForcedError',
  'amqp:connection:forced': 'ConnectionForcedError',
  'amqp:internal-error': 'InternalServerError',
  'com.microsoft:timeout': 'ServiceUnavailableError',
};

type Meaning = (to: Destination, message: string) => Failure;

// assumption: hub-firewall, hub-role-missing
const unauthorized: Meaning = (to, message) =>
  /\bIp has been prevented\b/i.test(message)
    ? retry(
        'configuration',
        'network-refused',
        `The firewall of ${to.host} blocks the address of this VM: allow its subnet or a private endpoint in the networking settings of the namespace.`,
      )
    : retry('configuration', 'unauthorized', notAllowed(to));

const notFound: Meaning = (to) =>
  retry('configuration', 'not-found', `${to.host} does not know ${to.name}: check ${to.whatToCheck}.`);

const transient =
  (code: string, happened: string): Meaning =>
  (to) =>
    retry('transient', code, `${happened} by ${to.host}; retrying.`);

const poison =
  (code: string): Meaning =>
  (to, message) =>
    rejected('poison', code, `${to.host} refuses the batch as malformed (${code}): "${message}".`);

const noAnswer: Meaning = (to) =>
  retry(
    'transient',
    'amqp-timeout',
    `${to.host} did not answer in time; retrying. If this continues, check for a firewall on the way, and grant ${to.grant} if that is missing, which can have the same effect.`,
  );

const noCredit: Meaning = (to) =>
  retry('transient', 'no-credit', `${to.host} takes no messages at the moment; retrying.`);

const detached = transient('link-detached', 'The link was closed');

// assumption: hub-connections, hub-message-size, hub-not-found
const meanings: Readonly<Partial<Record<string, Meaning>>> = {
  UnauthorizedError: unauthorized,
  PublisherRevokedError: unauthorized,
  MessagingEntityNotFoundError: notFound,
  // `amqp:not-found` of a link, in spite of its name.
  ServiceCommunicationError: notFound,
  MessagingEntityDisabledError: (to) =>
    retry('configuration', 'disabled', `Sending to ${to.name} is switched off: set its status to Active.`),
  ServerBusyError: (to) =>
    retry(
      'throttled',
      'server-busy',
      `${to.host} throttles requests, since its throughput units are used up; retrying later.`,
      busyMs,
    ),
  QuotaExceededError: (to) =>
    retry(
      'throttled',
      'quota-exceeded',
      `A quota of ${to.host} is used up (connections: 5,000 in a Standard namespace); retrying later.`,
      busyMs,
    ),
  MessageTooLargeError: (to) =>
    rejected(
      'too-large',
      'message-too-large',
      `${to.host} refuses the batch as too large; retrying in smaller batches.`,
    ),
  ArgumentError: poison('argument-error'),
  ArgumentOutOfRangeError: poison('argument-out-of-range'),
  InvalidOperationError: poison('invalid-operation'),
  DecodeError: poison('decode-error'),
  InvalidFieldError: poison('invalid-field'),
  NotImplementedError: poison('not-implemented'),
  PreconditionFailedError: poison('precondition-failed'),
  OperationTimeoutError: noAnswer,
  ServiceUnavailableError: noAnswer,
  SenderBusyError: noCredit,
  SenderNotReadyError: noCredit,
  InsufficientCreditError: noCredit,
  TransferLimitExceededError: noCredit,
  DetachForcedError: detached,
  ReceiverDisconnectedError: detached,
  ResourceDeletedError: notFound,
  ConnectionForcedError: transient('connection-forced', 'The connection was closed'),
  InternalServerError: transient('internal-error', 'An internal error was reported'),
  OperationCancelledError: transient('operation-cancelled', 'The send was canceled'),
  FramingError: transient('protocol-error', 'The connection was closed after a protocol error'),
  SendOperationFailedError: transient('send-failed', 'The message was handed back'),
};

/** What rhea-promise and the SDK say in plain errors, without a code. Their texts are pinned with their versions. */
function byMessage(message: string, to: Destination): Failure | null {
  if (/^Unable to open the amqp connection|endpoint timed out|^Unable to create the/i.test(message)) {
    return retry(
      'transient',
      'connect-timeout',
      `${to.host} accepts connections but does not answer; retrying. If this continues, check for a proxy or firewall on the way that does not let AMQP through (sinks.eventHubs.transport amqp-ws uses port 443).`,
    );
  }
  if (/AMQP connection is closed|Failed to connect|connection lost|disconnected/i.test(message)) {
    return retry('transient', 'connection-closed', `The connection to ${to.host} broke; retrying.`);
  }
  return null;
}
