import type { Failure } from '../sinks/sink.ts';
import { quoted, retry } from './failure.ts';

/** The answer of the token endpoint. */
export interface TokenAnswer {
  /** Null: no answer. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** Its error message; empty where it had none. */
  readonly message: string;
}

/**
 * Whether a failure with this code may be over as soon as there is a valid token: none was given, or the service refused the one that was
 * held, as `http-401` or, over AMQP, `unauthorized`.
 */
export const lacksToken = (code: string): boolean =>
  code.startsWith('token-') || code === 'http-401' || code === 'unauthorized';

/** The source of tokens. */
export interface TokenEndpoint {
  /** Its address, as the operator configured it. */
  readonly name: string;
  /** The platform's, not one that `imds.endpoint` names. */
  readonly isOfAzure: boolean;
}

/** From the variable that moves the token host, which is set from `imds.endpoint`. */
export function tokenEndpoint(env: NodeJS.ProcessEnv = process.env): TokenEndpoint {
  const moved = env.AZURE_POD_IDENTITY_AUTHORITY_HOST;
  return moved ? { name: moved, isOfAzure: false } : { name: '169.254.169.254', isOfAzure: true };
}

// assumption: token-none
/**
 * What an answer without a token means. The records are kept in every case.
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#error-handling
 */
export function tokenFailure(
  { status, retryAfterMs, message }: TokenAnswer,
  { clientId, endpoint }: { readonly clientId: string | null; readonly endpoint: TokenEndpoint },
): Failure {
  const { name, isOfAzure } = endpoint;
  if (status === null) {
    return retry(
      'transient',
      'token-unreachable',
      `The token endpoint ${name} does not answer; retrying. If this continues, check ${isOfAzure ? `that no firewall on this VM blocks ${name}` : 'imds.endpoint'}.`,
    );
  }
  if (status === 400) {
    const hasSeveral = /multiple/i.test(message);
    const fix = clientId
      ? `assign the identity to this VM (az vm identity assign) or correct identity.clientId, now ${clientId}`
      : hasSeveral
        ? 'name the one to use in identity.clientId'
        : 'assign an identity to this VM (az vm identity assign)';
    return retry(
      'configuration',
      'token-no-identity',
      `IMDS has no token for this VM (HTTP 400${quoted(message)}): ${fix}.`,
    );
  }
  if (status === 401 || status === 403) {
    return retry(
      'configuration',
      'token-refused',
      `The token endpoint ${name} refuses to give a token (HTTP ${status}${quoted(message)}): where the proxy agent on this VM enforces the Metadata Security Protocol, its rules must allow this program.`,
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
      `The token endpoint of IMDS is being updated (HTTP ${status}); retrying. It is usually back within 70 s.`,
      retryAfterMs,
    );
  }
  if (status === 429) {
    return retry(
      'throttled',
      'token-throttled',
      'The token endpoint of IMDS throttles requests (HTTP 429); retrying later. Another program on this VM may send too many.',
      retryAfterMs,
    );
  }
  if (status >= 500) {
    return retry(
      'transient',
      'token-server-error',
      `The token endpoint of IMDS failed (HTTP ${status}); retrying.`,
      retryAfterMs,
    );
  }
  return retry(
    'transient',
    'token-unreadable',
    `The token endpoint of IMDS answered without a token (HTTP ${status}${quoted(message)}); retrying.`,
  );
}
