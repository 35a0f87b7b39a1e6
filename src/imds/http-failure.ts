import { oneLine } from '../http/one-line.ts';

/** An exchange that came to nothing. */
export interface HttpFailure {
  readonly kind: 'failure';
  /** One of few. */
  readonly code: string;
  /** One sentence that an operator understands. */
  readonly reason: string;
}

export const aborted: HttpFailure = {
  kind: 'failure',
  code: 'aborted',
  reason: 'The request was aborted because the bridge is stopping.',
};

export const failureOfSize = (longestBytes: number): HttpFailure => ({
  kind: 'failure',
  code: 'too-large',
  reason: `The body of the answer is longer than ${longestBytes / 1024 / 1024} MB; it is ignored.`,
});

export function failureOfDeadline(
  deadlineMs: number,
  { origin, isSent, hasBegun }: { readonly origin: string; readonly isSent: boolean; readonly hasBegun: boolean },
): HttpFailure {
  const seconds = `${deadlineMs / 1000} s`;
  if (hasBegun) {
    return {
      kind: 'failure',
      code: 'timeout',
      reason: `${origin} started to answer but did not finish within ${seconds}.`,
    };
  }
  if (isSent) return { kind: 'failure', code: 'timeout', reason: `${origin} did not answer within ${seconds}.` };
  return {
    kind: 'failure',
    code: 'connect-timeout',
    reason: `${noConnection(origin)} within ${seconds}: ${reachable}`,
  };
}

/**
 * What an error of the connection means to an operator. The codes are Node's and undici's:
 * https://nodejs.org/api/errors.html, https://undici.nodejs.org/#/docs/api/Errors
 */
export function failureOfNetwork(
  error: Error,
  { origin, hasBegun }: { readonly origin: string; readonly hasBegun: boolean },
): HttpFailure {
  const code = codeOf(error);
  const isNotHttp = error.name === 'HTTPParserError' || code.startsWith('HPE_');
  const meaning = isNotHttp ? notHttp : (meanings[code] ?? otherwise);
  const [name, reason] = hasBegun && (meaning === reset || meaning === otherwise) ? cutOff : meaning;
  return { kind: 'failure', code: name, reason: reason(origin, error) };
}

/** Several addresses of one name fail as one error that holds each. */
function codeOf(error: Error): string {
  const inner = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
  const codes = [error, error.cause, ...inner].map((one) => (one as { code?: unknown } | undefined)?.code);
  return codes.filter((code) => typeof code === 'string').find((code) => code !== 'UND_ERR') ?? '';
}

const noConnection = (origin: string): string => `No connection to ${origin} was established`;
const reachable =
  'check imds.endpoint and that this process may reach it (route, firewall, in a container the network of the host).';

type Meaning = readonly [code: string, reason: (origin: string, error: Error) => string];

const refused: Meaning = [
  'connection-refused',
  (origin) =>
    `Nothing listens at ${origin}: check imds.endpoint; on Azure the metadata service answers at http://169.254.169.254.`,
];
const noRoute: Meaning = [
  'no-route',
  (origin) =>
    `There is no route to ${origin}, or a firewall forbids it: the metadata service needs the primary network interface with DHCP; in a container, the network of the host.`,
];
const reset: Meaning = ['connection-reset', (origin) => `${origin} closed the connection without an answer.`];
const cutOff: Meaning = [
  'cut-off',
  (origin) => `${origin} closed the connection in the middle of the answer; it is ignored.`,
];
const notHttp: Meaning = ['not-http', (origin) => `The answer of ${origin} is not valid HTTP: check imds.endpoint.`];
const noName: Meaning = [
  'name-not-found',
  (origin) => `The host name of ${origin} does not resolve: check imds.endpoint, or give an address instead of a name.`,
];
const timedOut: Meaning = ['connect-timeout', (origin) => `${noConnection(origin)}: ${reachable}`];
const closing: Meaning = [aborted.code, () => aborted.reason];
const otherwise: Meaning = [
  'network-error',
  (origin, { message }) => `The exchange with ${origin} failed (${oneLine(message)}).`,
];

const meanings: Readonly<Partial<Record<string, Meaning>>> = {
  ECONNREFUSED: refused,
  ECONNRESET: reset,
  ECONNABORTED: reset,
  EPIPE: reset,
  UND_ERR_SOCKET: reset,
  ENETUNREACH: noRoute,
  EHOSTUNREACH: noRoute,
  ENETDOWN: noRoute,
  EHOSTDOWN: noRoute,
  EADDRNOTAVAIL: noRoute,
  EACCES: noRoute,
  EPERM: noRoute,
  ENOTFOUND: noName,
  EAI_AGAIN: noName,
  ETIMEDOUT: timedOut,
  UND_ERR_CONNECT_TIMEOUT: timedOut,
  UND_ERR_HEADERS_OVERFLOW: notHttp,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: cutOff,
  UND_ERR_DESTROYED: closing,
  UND_ERR_CLOSED: closing,
};
