import { classify } from '../../azure/errors.ts';
import { retry } from '../../azure/failure.ts';
import type { Failure } from '../sink.ts';
import { destinationOf } from './config.ts';

const destination = destinationOf({
  fullyQualifiedNamespace: 'x.servicebus.windows.net',
  connectionString: null,
  eventHubName: 'vm-lifecycle',
  customEndpoint: null,
  transport: 'amqp',
  idleCloseSeconds: 10,
  connectJitterSeconds: 0,
});

/** Errors as the library throws them: one for each code that exists. */
const errors: readonly object[] = [
  ...[
    'UnauthorizedError MessagingEntityNotFoundError MessagingEntityDisabledError ServerBusyError QuotaExceededError',
    'MessageTooLargeError ArgumentError ArgumentOutOfRangeError InvalidOperationError DecodeError InvalidFieldError',
    'NotImplementedError PreconditionFailedError OperationTimeoutError SenderBusyError DetachForcedError',
    'ConnectionForcedError InternalServerError OperationCancelledError FramingError SendOperationFailedError',
  ]
    .join(' ')
    .split(' ')
    .map((code) => ({ code, message: '…' })),
  { code: 'UnauthorizedError', message: 'Ip has been prevented to connect to the endpoint.' },
  { message: 'Unable to open the amqp connection' },
  { message: 'connection lost' },
];

/** What this sink answers beyond the network's failures, for `infra/reference/failures.md`. */
export const failures: readonly Failure[] = [
  ...errors.map((error) => classify(error, { ...destination, proxy: null })),
  retry(
    'configuration',
    'bad-address',
    'The address of the event hub is unusable: check sinks.eventHubs.fullyQualifiedNamespace or connectionString, eventHubName and customEndpoint.',
  ),
];
