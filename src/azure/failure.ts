import type { CheckResult, Failure } from '../sinks/sink.ts';
import type { ErrorDetail } from './error-detail.ts';
/** An error that already knows what it means; {@link classify} passes it on unchanged, however deep an SDK wrapped it. */
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

/** A failure that the same batch would meet for ever. */
export function rejected(cause: 'too-large' | 'poison', code: string, reason: string): Failure {
  return { kind: 'rejected', cause, code, reason };
}

/** A send that was aborted before its answer came. */
export const aborted = retry('transient', 'aborted', 'The send was aborted before an answer came; it is sent again.');

/** The result of a check that met a failure. */
export const failedCheck = ({ code, reason }: Failure): CheckResult => ({ ok: false, code, detail: reason });

/** What an HTTP 407 means, wherever it came from, and how to fix it: ends a sentence that begins with the proxy. */
export const asksForCredentials =
  'asks for credentials, or does not take those that it gets (HTTP 407): put those of the proxy, http://user:password@host:port, into proxy.url, or into HTTPS_PROXY where that names the proxy';

/** What a failure is said about: the words for it and the names of the settings that lead there. */
export interface Destination {
  /** `the event hub vm-lifecycle in x.servicebus.windows.net`. */
  readonly name: string;
  readonly host: string;
  /** Configuration key that holds the address. */
  readonly addressKey: string;
  /** `host:port` of the proxy that every connection to it goes to; null where it is reached directly. */
  readonly proxy: string | null;
  /** Who asks to be let in: `the identity of this VM`. */
  readonly sender: string;
  /** Who is let in, and how to become one: ends a sentence after "grant". */
  readonly grant: string;
  /** What to compare when Azure says that there is no such thing: ends a sentence after "check". */
  readonly whatToCheck: string;
  /** What an error of its own library or service means; null: none of these. Those of the network are known. */
  readonly explain?: (detail: ErrorDetail, to: Destination) => Failure | null;
}

/** A text as the beginning of a sentence. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A proxy that opens no tunnel answers in the name of the service. */
export const orProxy = ({ host, proxy }: Pick<Destination, 'host' | 'proxy'>): string =>
  proxy === null ? '' : ` If it is the proxy ${proxy} that answers so, let it allow CONNECT to ${host}.`;
