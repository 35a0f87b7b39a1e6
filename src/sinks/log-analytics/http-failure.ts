import type { ErrorDetail } from '../../azure/error-detail.ts';
import { asksForCredentials, type Destination, orProxy, rejected, retry, sentence } from '../../azure/failure.ts';
import type { Failure } from '../sink.ts';

/**
 * What an HTTP status of the Logs Ingestion API means.
 * https://learn.microsoft.com/azure/azure-monitor/logs/logs-ingestion-api-overview
 */
export function httpFailure(
  status: number,
  detail: Pick<ErrorDetail, 'retryAfterMs' | 'message'> & Partial<Pick<ErrorDetail, 'code'>>,
  to: Destination,
): Failure {
  const code = `http-${status}`;
  const wait = detail.retryAfterMs;
  const configuration = (reason: string): Failure => retry('configuration', code, reason, wait);
  switch (status) {
    case 400:
      if (namesStream.test(`${detail.code ?? ''} ${detail.message}`)) {
        return configuration(`${to.host} does not know ${to.name} (HTTP 400): check ${to.whatToCheck}.`);
      }
      return rejected(
        'poison',
        code,
        `${to.host} finds the batch malformed (HTTP 400${quoted(detail)}): check that ${to.name} exists and has the columns that this version writes.`,
      );
    case 401:
      return configuration(
        `${to.host} does not accept the token (HTTP 401): check that ${to.addressKey} is an address of the cloud that this VM is in, and the VM's clock.`,
      );
    case 403:
      return configuration(
        `${sentence(to.sender)} may not write to ${to.name} (HTTP 403): grant ${to.grant}; a new grant takes up to 30 min to work.${orProxy(to)}`,
      );
    case 404:
      return configuration(`${to.host} does not know ${to.name} (HTTP 404): check ${to.whatToCheck}.`);
    case 407:
      return configuration(`${to.proxy === null ? 'A proxy' : `The proxy ${to.proxy}`} ${asksForCredentials}.`);
    case 408:
      return retry('transient', code, `${to.host} waited in vain for the request (HTTP 408); it is sent again.`, wait);
    case 413:
      return rejected(
        'too-large',
        code,
        `${to.host} finds the batch too large (HTTP 413); it is sent in smaller ones. If it stays, look for a proxy on the way that limits the size of requests.`,
      );
    case 429:
      return retry(
        'throttled',
        code,
        `${to.host} asks for fewer requests (HTTP 429): a data collection rule takes 12,000 requests and 2 GB a minute; it is sent again later.`,
        wait,
      );
  }
  if (status >= 500) {
    const reason = `${to.host} has a problem of its own (HTTP ${status}); it is sent again.${orProxy(to)}`;
    return retry('transient', code, reason, wait);
  }
  return configuration(
    `An answer that Logs Ingestion does not give (HTTP ${status}) came from ${to.host}: check ${to.addressKey} and what stands between, for instance a proxy.`,
  );
}

/** How a data collection rule says that it has no such stream: no row is to blame for that, and every row meets it. */
const namesStream = /InvalidStream|\bstream\b.*\bnot\b.*\b(configured|found|exist)/i;

/** The service's own words for a malformed batch are the only way to the offending column. */
const quoted = ({ message }: Pick<ErrorDetail, 'message'>): string =>
  message && message !== 'undefined' ? `, "${message}"` : '';
