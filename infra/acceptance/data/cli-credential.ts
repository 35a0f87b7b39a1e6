import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessToken, TokenCredential } from '@azure/identity';

/** A token is used until so long before its end. */
const marginMs = 2 * 60_000;
const retryMs = [1_000, 3_000, 10_000];

/** Tokens of the account that is logged in with the Azure CLI. Its library takes longer to load than a plan takes to print. */
export const azureCliTokens = (): ReturnType<typeof shareTokens> =>
  shareTokens({
    async getToken(scope) {
      const { AzureCliCredential } = await import('@azure/identity');
      return await new AzureCliCredential().getToken(scope);
    },
  });

/**
 * Tokens of the Azure CLI, one call at a time, and each for as long as it is valid: a call that reads the CLI's file of tokens while another one
 * writes it fails as without a login, and is made again.
 */
export function shareTokens(
  cli: Pick<TokenCredential, 'getToken'>,
  wait: (ms: number) => Promise<unknown> = sleep,
): { readonly getToken: (scope: string) => Promise<AccessToken> } {
  const known = new Map<string, AccessToken>();
  let last: Promise<unknown> = Promise.resolve();

  async function fetchToken(scope: string): Promise<AccessToken> {
    const kept = known.get(scope);
    if (kept !== undefined && kept.expiresOnTimestamp - marginMs > Date.now()) return kept;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const token = await cli.getToken(scope);
        if (token === null) throw new Error('The Azure CLI gave no token.');
        known.set(scope, token);
        return token;
      } catch (error) {
        const ms = retryMs[attempt];
        if (ms === undefined) throw error;
        await wait(ms);
      }
    }
  }

  return {
    getToken(scope) {
      const token = last.then(() => fetchToken(scope));
      last = token.catch(() => {});
      return token;
    },
  };
}
