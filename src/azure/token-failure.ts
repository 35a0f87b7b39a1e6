import type { Failure } from '../sinks/sink.ts';
import { retry } from './failure.ts';

/** What came back from the token endpoint. */
export interface TokenAnswer {
  /** Null: nothing came back. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** Its own words, empty where it had none. */
  readonly said: string;
}

/** Where tokens come from. */
export interface TokenEndpoint {
  /** Its address, as the operator configured it. */
  readonly name: string;
  /** The platform's own, not one that `imds.endpoint` names. */
  readonly isOfAzure: boolean;
}

/** By the variable that moves the token host, which is set from `imds.endpoint`. */
export function tokenEndpoint(env: NodeJS.ProcessEnv = process.env): TokenEndpoint {
  const moved = env.AZURE_POD_IDENTITY_AUTHORITY_HOST;
  return moved ? { name: moved, isOfAzure: false } : { name: '169.254.169.254', isOfAzure: true };
}

/**
 * What a token endpoint that gives no token means for the records: they wait.
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#error-handling
 */
export function tokenFailure(
  { status, retryAfterMs, said }: TokenAnswer,
  { clientId, endpoint }: { readonly clientId: string | null; readonly endpoint: TokenEndpoint },
): Failure {
  const { name, isOfAzure } = endpoint;
  const quoted = said ? `, "${said.replace(/\s+/g, ' ')}"` : '';
  if (status === null) {
    return retry(
      'transient',
      'token-unreachable',
      `The token endpoint ${name} does not answer; it is asked again. If it stays, check ${isOfAzure ? `that no firewall on this VM blocks ${name}` : 'imds.endpoint'}.`,
    );
  }
  if (status === 400) {
    const hasSeveral = /multiple/i.test(said);
    const fix = clientId
      ? `assign the identity to this VM (az vm identity assign) or correct identity.clientId, now ${clientId}`
      : hasSeveral
        ? 'name the one to use in identity.clientId'
        : 'assign an identity to this VM (az vm identity assign)';
    return retry('configuration', 'token-no-identity', `IMDS has no token for this VM (HTTP 400${quoted}): ${fix}.`);
  }
  if (status === 401 || status === 403) {
    return retry(
      'configuration',
      'token-refused',
      `The token endpoint ${name} refuses a token (HTTP ${status}${quoted}): where the proxy agent on this VM enforces the Metadata Security Protocol, its rules must allow this program.`,
    );
  }
  if (status === 404 && !isOfAzure) {
    return retry(
      'configuration',
      'token-not-found',
      `${name} has no token endpoint (HTTP 404): check imds.endpoint, which moves it.`,
    );
  }
  if (status === 404 || status === 410) {
    return retry(
      'transient',
      'token-not-ready',
      `The token endpoint of IMDS is being updated (HTTP ${status}); it is asked again, and is back within 70 s as a rule.`,
      retryAfterMs,
    );
  }
  if (status === 429) {
    return retry(
      'throttled',
      'token-throttled',
      'The token endpoint of IMDS asks for fewer requests (HTTP 429); another program on this VM may be asking too often.',
      retryAfterMs,
    );
  }
  if (status >= 500) {
    return retry(
      'transient',
      'token-server-error',
      `The token endpoint of IMDS has a problem of its own (HTTP ${status}); it is asked again.`,
      retryAfterMs,
    );
  }
  return retry(
    'transient',
    'token-unreadable',
    `The token endpoint of IMDS gave an answer without a token (HTTP ${status}${quoted}); it is asked again.`,
  );
}
