import type { Failure } from '../sinks/sink.ts';
import type { ErrorDetail } from './error-detail.ts';
import { type Destination, proxyCredentials, retry } from './failure.ts';

/** What Node's codes for DNS, TCP, TLS and proxies mean. https://nodejs.org/api/errors.html, https://nodejs.org/api/tls.html#x509-certificate-error-codes */
export function networkFailure({ code, message }: ErrorDetail, to: Destination): Failure | null {
  return (
    tlsFailure(code, to) ?? proxyFailure(message, to) ?? webSocketFailure(message, to) ?? meanings[code]?.(to) ?? null
  );
}

type Meaning = (to: Destination) => Failure;

/** A connection that is not established: with a proxy in between, the destination was not tried. */
const byProxy =
  (cause: 'transient' | 'configuration', happened: (proxy: string) => string, direct: Meaning): Meaning =>
  (to) =>
    to.proxy === null
      ? direct(to)
      : retry(
          cause,
          'proxy-unreachable',
          `${happened(to.proxy)}, so ${to.host} cannot be reached; retrying. Check proxy.url or the environment variable HTTPS_PROXY, and that the proxy runs.`,
        );

const refused: Meaning = (to) =>
  retry(
    'transient',
    'connection-refused',
    `Nothing listens at ${to.host}; retrying. If this continues, check ${to.addressKey} and the firewall.`,
  );
const reset: Meaning = (to) => retry('transient', 'connection-reset', `The connection to ${to.host} broke; retrying.`);
const timedOut: Meaning = (to) =>
  retry(
    'transient',
    'connection-timeout',
    `${to.host} does not answer; retrying. If this continues, check the firewall, network security group or proxy on the way.`,
  );
const noRoute: Meaning = (to) =>
  retry(
    'transient',
    'no-route',
    `There is no route to ${to.host}; retrying. If this continues, check the network of this machine.`,
  );

const nothingListens = byProxy('transient', (proxy) => `Nothing listens at the proxy ${proxy}`, refused);
const noAnswer = byProxy('transient', (proxy) => `The proxy ${proxy} does not answer`, timedOut);
const noRouteFailure = byProxy('transient', (proxy) => `There is no route to the proxy ${proxy}`, noRoute);

const meanings: Readonly<Partial<Record<string, Meaning>>> = {
  ECONNREFUSED: nothingListens,
  ECONNRESET: reset,
  ECONNABORTED: reset,
  EPIPE: reset,
  ERR_STREAM_PREMATURE_CLOSE: reset,
  UND_ERR_SOCKET: reset,
  ETIMEDOUT: noAnswer,
  UND_ERR_CONNECT_TIMEOUT: noAnswer,
  ENETUNREACH: noRouteFailure,
  EHOSTUNREACH: noRouteFailure,
  ENETDOWN: noRouteFailure,
  EHOSTDOWN: noRouteFailure,
  ENETRESET: noRouteFailure,
  EADDRNOTAVAIL: noRouteFailure,
  ENOTFOUND: byProxy(
    'configuration',
    (proxy) => `The name of the proxy ${proxy} does not resolve`,
    (to) =>
      retry(
        'configuration',
        'name-not-found',
        `The name ${to.host} does not resolve: check ${to.addressKey} and the DNS of this machine (private endpoints need their private zone).`,
      ),
  ),
  EAI_AGAIN: (to) =>
    retry(
      'transient',
      'name-lookup-failed',
      `The DNS of this machine does not answer for ${to.proxy === null ? to.host : `the proxy ${to.proxy}`}; retrying. If this continues, check its name servers.`,
    ),
  REQUEST_SEND_ERROR: (to) =>
    retry('transient', 'request-failed', `The request to ${to.host} could not be sent; retrying.`),
  // Of our own HTTP client, see `bounded-http.ts`.
  ANSWER_TOO_LONG: (to) =>
    retry(
      'configuration',
      'answer-too-long',
      `The answer of ${to.host} is too long to be from Azure: check ${to.addressKey}, and for a proxy in between.`,
    ),
  PARSE_ERROR: (to) => retry('transient', 'unreadable-answer', `The answer of ${to.host} cannot be read; retrying.`),
};

const untrusted =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY|GET)\w*|CERT_(UNTRUSTED|SIGNATURE_FAILURE|CHAIN_TOO_LONG|REVOKED|REJECTED)|INVALID_CA|INVALID_PURPOSE)$/;
const outOfTime = /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/;

function tlsFailure(code: string, to: Destination): Failure | null {
  if (untrusted.test(code)) {
    return retry(
      'configuration',
      'tls-untrusted',
      `The certificate of ${to.host} is signed by an authority that the bridge does not trust (${code}): set tls.caFile to a PEM file with that authority, if a proxy or a private authority is expected there.`,
    );
  }
  if (outOfTime.test(code)) {
    return retry(
      'configuration',
      'tls-expired',
      `The certificate of ${to.host} is not valid at this time (${code}): renew it, or correct the clock of this machine.`,
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return retry(
      'configuration',
      'tls-wrong-name',
      `The certificate shown is not one of ${to.host}: check ${to.addressKey}, and for a proxy in between.`,
    );
  }
  if (/^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)) {
    return retry(
      'configuration',
      'tls-failed',
      `No TLS connection to ${to.host} (${code}): check the port in ${to.addressKey}, and for a proxy in between.`,
    );
  }
  return null;
}

/** undici has no code for it, only a message. */
function proxyFailure(message: string, to: Destination): Failure | null {
  const status = /Proxy response \((\d{3})\)/.exec(message)?.[1];
  if (!status) return null;
  const proxy = to.proxy === null ? 'The proxy' : `The proxy ${to.proxy}`;
  const refusal =
    status === '407'
      ? `${proxyCredentials}.`
      : `refuses the connection (HTTP ${status}): let it allow CONNECT to ${to.host}, port 443.`;
  return retry('configuration', 'proxy-refused', `${proxy} ${refusal}`);
}

/** The error of our own WebSockets: undici has none. */
function webSocketFailure(message: string, to: Destination): Failure | null {
  const status = /^WebSocket refused \(HTTP (\d{3})\)/.exec(message)?.[1];
  if (!status) return null;
  const cause = Number(status) >= 500 ? 'transient' : 'configuration';
  return retry(
    cause,
    'websocket-refused',
    `${to.host} refuses a WebSocket (HTTP ${status}); retrying. If this continues, check ${to.addressKey}, and for a proxy in between.`,
  );
}
