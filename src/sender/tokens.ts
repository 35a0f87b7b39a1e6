import type { AccessToken, TokenCredential } from '@azure/identity';
import { tokenDestination } from '../azure/credential.ts';
import { classify } from '../azure/errors.ts';
import { KnownFailure } from '../azure/failure.ts';
import { scopeOf } from '../azure/token.ts';
import { systemClock } from '../clock.ts';
import type { TokenAnswer } from './protocol.ts';

/** Tokens that the process at the other end of a channel gives. Failures arrive as {@link KnownFailure}. */
export const tokensOver = (ask: (scope: string, signal?: AbortSignal) => Promise<TokenAnswer>) =>
  ({
    async getToken(scopes, { abortSignal } = {}): Promise<AccessToken> {
      const answer = await ask(scopeOf(scopes), abortSignal instanceof AbortSignal ? abortSignal : undefined);
      if (answer.failure) throw new KnownFailure(answer.failure);
      return answer;
    },
  }) satisfies TokenCredential;

/** The answer to the process at the other end. */
export async function answerToken(source: TokenCredential, scope: string, signal?: AbortSignal): Promise<TokenAnswer> {
  try {
    const { token, expiresOnTimestamp } = (await source.getToken(scope, {
      ...(signal && { abortSignal: signal }),
    })) as AccessToken;
    return { token, expiresOnTimestamp };
  } catch (error) {
    return { failure: classify(error, tokenDestination(), systemClock.now()) };
  }
}
