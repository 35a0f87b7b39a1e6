import { oneLine } from '../http/one-line.ts';

/** Why an answer with another status than 200 is no observation. */
export interface StatusMeaning {
  /** `http-` and the status; statuses that say nothing special share `http-1xx` to `http-9xx`. */
  readonly code: string;
  readonly reason: string;
}

// assumption: imds-rate-limit, imds-update
/**
 * What the metadata service means by a status, or what else may have sent it.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#errors-and-debugging
 */
export function meaningOfStatus(
  status: number,
  answer: { readonly body: string; readonly location: string | null; readonly apiVersion: string },
): StatusMeaning {
  const advice = advices[status];
  const received = `HTTP ${status}${quoteError(answer.body)}`;
  if (status >= 300 && status < 400 && status !== 304) {
    const where = answer.location === null ? '' : ` to ${JSON.stringify(answer.location.slice(0, 100))}`;
    return {
      code: advice === undefined ? 'http-3xx' : `http-${status}`,
      reason: `The endpoint redirects${where} (HTTP ${status}), which the metadata service never does: something else answers, for instance a proxy; check imds.endpoint.`,
    };
  }
  if (advice !== undefined) return { code: `http-${status}`, reason: advice(received, answer.apiVersion) };
  return {
    code: `http-${Math.floor(status / 100)}xx`,
    reason:
      status >= 500
        ? `The metadata service failed (${received}); retrying.`
        : `An answer that the metadata service does not give came from the endpoint (${received}): check imds.endpoint.`,
  };
}

type Advice = (status: string, apiVersion: string) => string;

const redirected: Advice = (status) => status;
const serverFailed: Advice = (status) => `The metadata service failed (${status}); retrying.`;
const between: Advice = (status) =>
  `Something between this VM and the metadata service refuses the request (${status}): it must not go through a proxy.`;
// assumption: imds-metadata-security-protocol
/** https://learn.microsoft.com/azure/virtual-machines/metadata-security-protocol/overview */
const guarded: Advice = (status) =>
  `The metadata service refuses this process (${status}): where the proxy agent on this VM enforces the Metadata Security Protocol, its rules must allow this program; the request must not go through any other proxy.`;

const advices: Readonly<Partial<Record<number, Advice>>> = {
  301: redirected,
  302: redirected,
  303: redirected,
  307: redirected,
  308: redirected,
  204: (status) => `The answer has no content (${status}); it is ignored.`,
  304: (status) => `The endpoint returned "unchanged" (${status}) to an unconditional request; it is ignored.`,
  400: (status, apiVersion) =>
    `The metadata service refuses the request (${status}): it may not know api-version ${apiVersion}, or a proxy removed the header "Metadata: true".`,
  401: guarded,
  403: guarded,
  404: (status) =>
    `The endpoint does not know the path (${status}): check imds.endpoint; on Azure this passes by itself while the service is updated.`,
  405: (status) => `The endpoint does not take GET (${status}): check imds.endpoint.`,
  407: between,
  408: (status) => `The metadata service timed out waiting for the request (${status}); retrying.`,
  410: (status) => `The metadata service is being updated (${status}), which may last 70 s; retrying.`,
  429: (status) =>
    `The metadata service throttles requests (${status}): all programs of a VM together may send five requests a second.`,
  500: serverFailed,
  502: serverFailed,
  503: (status) => `The metadata service is unavailable (${status}); retrying.`,
  504: serverFailed,
};

/** The service's own words, which it puts into `error`: `: "…"`, or nothing. */
export function quoteError(body: string): string {
  const words = oneLine(errorOf(body) ?? '', 160);
  return words ? `: ${JSON.stringify(words)}` : '';
}

function errorOf(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}
