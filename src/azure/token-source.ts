import type { HttpClient, PipelineRequest, PipelineResponse } from '@azure/core-rest-pipeline';
import { type AccessToken, ManagedIdentityCredential, type TokenCredential } from '@azure/identity';
import { oneLine } from '../http/one-line.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import { boundedHttpClient } from './bounded-http.ts';
import { KnownFailure } from './failure.ts';
import { scopeOf } from './token.ts';
import { type TokenAnswer, tokenEndpoint, tokenFailure } from './token-failure.ts';

/**
 * Fetches tokens of the VM's managed identity. Every failure is a {@link KnownFailure}.
 *
 * `ManagedIdentityCredential` and nothing else: the default chain tries eight sources and half of them start programs.
 * Its own retries are off, since they sleep for up to 74 s inside the call. What it cannot do comes from the HTTP client
 * under it: a time-out that ends the request (the credential has none and ignores its AbortSignal: a silent endpoint
 * held it indefinitely, measured), no proxy regardless of the environment, and the endpoint's answer (the credential turns
 * a 410, a 500 and a reset all into "network_error").
 *
 * @param requestTimeoutMs the endpoint is on this host's own hardware: after 10 s it hangs.
 */
export function managedIdentityTokens(clientId: string | null, requestTimeoutMs = 10_000): TokenCredential {
  const answers = new Map<string, TokenAnswer>();
  const credential = new ManagedIdentityCredential({
    ...(clientId !== null && { clientId }),
    retryOptions: { maxRetries: 0 },
    httpClient: tokenHttpClient(requestTimeoutMs, (resource, answer) => answers.set(resource, answer)),
  });
  return {
    async getToken(scopes): Promise<AccessToken> {
      const resource = resourceOf(scopes);
      answers.delete(resource);
      try {
        return await credential.getToken(scopes);
      } catch (error) {
        const answer = answers.get(resource) ?? answerOf(error);
        throw new KnownFailure(tokenFailure(answer, { clientId, endpoint: tokenEndpoint() }), { cause: error });
      }
    },
  };
}

function tokenHttpClient(timeoutMs: number, note: (resource: string, answer: TokenAnswer) => void): HttpClient {
  const client = boundedHttpClient();
  return {
    async sendRequest(request: PipelineRequest): Promise<PipelineResponse> {
      const resource = new URL(request.url).searchParams.get('resource') ?? '';
      request.timeout = timeoutMs;
      delete request.agent;
      delete request.proxySettings;
      try {
        const response = await client.sendRequest(request);
        const retryAfter = response.headers.get('retry-after') ?? '';
        note(resource, {
          status: response.status,
          retryAfterMs: readRetryAfter(retryAfter, new Date()),
          message: descriptionIn(response.bodyAsText ?? ''),
        });
        return response;
      } catch (error) {
        const isTooLong = (error as { code?: unknown }).code === 'ANSWER_TOO_LONG';
        note(resource, isTooLong ? { ...noAnswer, status: 200, message: 'a body of more than 64 KB' } : noAnswer);
        throw error;
      }
    },
  };
}

const noAnswer: TokenAnswer = { status: null, retryAfterMs: null, message: '' };

/** MSAL keeps the network client of the first credential of a process for all later ones: then only this is left. */
function answerOf(error: unknown): TokenAnswer {
  const status = (error as { cause?: { status?: unknown } }).cause?.status;
  return { ...noAnswer, status: typeof status === 'number' ? status : null };
}

/** `error_description` names the identity that IMDS does not know. Nothing else of the body is read: it may hold the token. */
function descriptionIn(body: string): string {
  try {
    const description: unknown = JSON.parse(body).error_description;
    return typeof description === 'string' ? oneLine(description) : '';
  } catch {
    return '';
  }
}

/** The parameter of the token endpoint for a scope. */
const resourceOf = (scopes: string | string[]): string => scopeOf(scopes).replace(/\/\.default$/, '');
