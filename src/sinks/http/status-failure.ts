import type { ErrorDetail } from '../../azure/error-detail.ts';
import { asksForCredentials, type Destination, orProxy, rejected, retry, sentence } from '../../azure/failure.ts';
import type { Failure } from '../sink.ts';

/**
 * What a status means. Of an Event Grid topic: 400 malformed, 401 and 403 credential, 404 address, 413 over 1 MB, 429 and 503 overloaded.
 * https://learn.microsoft.com/azure/event-grid/post-to-custom-topic#response
 */
export function statusFailure({ status, retryAfterMs, message }: ErrorDetail, to: Destination): Failure | null {
  if (status === null) return null;
  const code = `http-${status}`;
  const configuration = (reason: string): Failure => retry('configuration', code, reason, retryAfterMs);
  if (status >= 300 && status < 400) {
    return configuration(
      `${to.host} answers with a redirect (HTTP ${status}), which is not followed since it could lead records elsewhere: check ${to.addressKey}, and set it to the address that it leads to.`,
    );
  }
  switch (status) {
    case 400:
    case 415:
    case 422:
      return rejected(
        'poison',
        code,
        `${to.host} finds the request malformed (HTTP ${status}${message === '' ? '' : `, "${message}"`}): check that it takes CloudEvents 1.0 in the content mode of sinks.http.mode.`,
      );
    case 401:
    case 403:
      return configuration(
        `${sentence(to.sender)} may not send to ${to.name} (HTTP ${status}): grant ${to.grant}.${orProxy(to)}`,
      );
    case 404:
    case 405:
    case 410:
      return configuration(`${to.host} takes no events at this address (HTTP ${status}): check ${to.whatToCheck}.`);
    case 407:
      return configuration(`${to.proxy === null ? 'A proxy' : `The proxy ${to.proxy}`} ${asksForCredentials}.`);
    case 408:
      return retry(
        'transient',
        code,
        `${to.host} waited in vain for the request (HTTP 408); it is sent again.`,
        retryAfterMs,
      );
    case 413:
      return rejected(
        'too-large',
        code,
        `${to.host} finds the request too large (HTTP 413); it is sent in smaller ones.`,
      );
    case 429:
    case 503:
      return retry(
        'throttled',
        code,
        `${to.host} asks for fewer requests (HTTP ${status}); it is sent again later.${orProxy(to)}`,
        retryAfterMs,
      );
  }
  if (status >= 500) {
    return retry(
      'transient',
      code,
      `${to.host} has a problem of its own (HTTP ${status}); it is sent again.${orProxy(to)}`,
      retryAfterMs,
    );
  }
  return configuration(
    `${to.host} answers HTTP ${status}, which no receiver of CloudEvents does: check ${to.addressKey} and what stands between, for instance a proxy.`,
  );
}
