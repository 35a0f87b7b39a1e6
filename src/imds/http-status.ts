/** Why an answer with another status than 200 is no observation. */
export interface StatusMeaning {
  /** `http-` and the status; statuses that say nothing special share `http-1xx` to `http-9xx`. */
  readonly code: string;
  readonly reason: string;
}

/**
 * What the metadata service means by a status, or what else may have sent it.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#errors-and-debugging
 */
export function meaningOfStatus(
  status: number,
  answer: { readonly body: string; readonly location: string | null; readonly apiVersion: string },
): StatusMeaning {
  const advice = advices[status];
  const told = `HTTP ${status}${quoteError(answer.body)}`;
  if (status >= 300 && status < 400 && status !== 304) {
    const where = answer.location === null ? '' : ` to ${JSON.stringify(answer.location.slice(0, 100))}`;
    return {
      code: advice === undefined ? 'http-3xx' : `http-${status}`,
      reason: `The endpoint redirects${where} (HTTP ${status}), which the metadata service never does: something else answers, for instance a proxy; check imds.endpoint.`,
    };
  }
  if (advice !== undefined) return { code: `http-${status}`, reason: advice(told, answer.apiVersion) };
  return {
    code: `http-${Math.floor(status / 100)}xx`,
    reason:
      status >= 500
        ? `The metadata service has a problem of its own (${told}); it is asked again.`
        : `An answer that the metadata service does not give came from the endpoint (${told}): check imds.endpoint.`,
  };
}

type Advice = (told: string, apiVersion: string) => string;

const redirected: Advice = (told) => told;
const troubled: Advice = (told) => `The metadata service has a problem of its own (${told}); it is asked again.`;
const between: Advice = (told) =>
  `Something between this VM and the metadata service refuses the request (${told}): it must not go through a proxy.`;
/** https://learn.microsoft.com/azure/virtual-machines/metadata-security-protocol/overview */
const guarded: Advice = (told) =>
  `The metadata service refuses this process (${told}): where the proxy agent on this VM enforces the Metadata Security Protocol, its rules must allow this program; through any other proxy the request must not go.`;

const advices: Readonly<Partial<Record<number, Advice>>> = {
  301: redirected,
  302: redirected,
  303: redirected,
  307: redirected,
  308: redirected,
  204: (told) => `The answer has no content (${told}); it counts as no observation.`,
  304: (told) =>
    `The endpoint says that nothing changed (${told}) though it was not asked that; it counts as no observation.`,
  400: (told, apiVersion) =>
    `The metadata service refuses the request (${told}): it may not know api-version ${apiVersion}, or something between took the header "Metadata: true" away.`,
  401: guarded,
  403: guarded,
  404: (told) =>
    `The endpoint does not know the path (${told}): check imds.endpoint; on Azure this passes by itself while the service is updated.`,
  405: (told) => `The endpoint does not take GET (${told}): check imds.endpoint.`,
  407: between,
  408: (told) => `The metadata service waited in vain for the request (${told}); it is asked again.`,
  410: (told) => `The metadata service is gone for the moment (${told}); this may last 70 s, it is asked again.`,
  429: (told) =>
    `The metadata service is asked too often (${told}): all programs of a VM together may send five requests a second.`,
  500: troubled,
  502: troubled,
  503: (told) => `The metadata service is not available at the moment (${told}); it is asked again.`,
  504: troubled,
};

/** The service's own words, which it puts into `error`: `: "…"`, or nothing. */
export function quoteError(body: string): string {
  const words = errorOf(body)?.replace(/\s+/g, ' ').trim().slice(0, 160);
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
