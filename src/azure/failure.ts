import type { CheckResult, Failure } from '../sinks/sink.ts';
import type { ErrorDetail } from './error-detail.ts';
/** An error with its meaning: {@link classify} returns it unchanged, however deep an SDK wrapped it. */
export class KnownFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.reason, options);
    this.name = 'KnownFailure';
    this.failure = failure;
  }
}

type Retry = Extract<Failure, { kind: 'retry' }>;

/** A failure after which the same batch is sent again. */
export function retry(cause: Retry['cause'], code: string, reason: string, retryAfterMs?: number | null): Retry {
  return { kind: 'retry', cause, code, reason, ...(typeof retryAfterMs === 'number' && { retryAfterMs }) };
}

/** A failure that the same batch would meet every time. */
export function rejected(cause: 'too-large' | 'poison', code: string, reason: string): Failure {
  return { kind: 'rejected', cause, code, reason };
}

/** A send that was aborted before its answer came. */
export const aborted = retry('transient', 'aborted', 'The send was aborted before an answer came; retrying.');

/** The result of a check that met a failure. */
export const failedCheck = ({ code, reason }: Failure): CheckResult => ({ ok: false, code, detail: reason });

/** What an HTTP 407 means and how to fix it: ends a sentence that begins with the proxy. */
export const proxyCredentials =
  'refuses requests without valid credentials (HTTP 407): put http://user:password@host:port into proxy.url, or into HTTPS_PROXY where that names the proxy';

/** What a failure is about: how messages name it, and the settings that lead there. */
export interface Destination {
  /** `the event hub vm-lifecycle in x.servicebus.windows.net`. */
  readonly name: string;
  readonly host: string;
  /** Configuration key that holds the address. */
  readonly addressKey: string;
  /** `host:port` of the proxy that every connection to it goes to; null where it is reached directly. */
  readonly proxy: string | null;
  /** Who sends: `the identity of this VM`. */
  readonly sender: string;
  /** What the sender needs: ends a sentence after "grant". */
  readonly grant: string;
  /** The settings that name it: ends a sentence after "check". */
  readonly whatToCheck: string;
  /** What an error of its library or service means; null for any other. Errors of the network need no row here. */
  readonly explain?: (detail: ErrorDetail, to: Destination) => Failure | null;
}

/** Words of a service, to follow what it did; empty where it had none. */
export const quoted = (message: string): string => (message === '' || message === 'undefined' ? '' : `, "${message}"`);

/** Who may not send where, and what to grant. `answer` follows the destination. */
export const notAllowed = (to: Destination, answer = ''): string =>
  `${sentence(to.sender)} may not send to ${to.name}${answer}: grant ${to.grant}.`;

/** A text as the beginning of a sentence. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A proxy that opens no tunnel answers in place of the service. */
export const orProxy = ({ host, proxy }: Pick<Destination, 'host' | 'proxy'>): string =>
  proxy === null ? '' : ` If this is the answer of the proxy ${proxy}, let it allow CONNECT to ${host}.`;
