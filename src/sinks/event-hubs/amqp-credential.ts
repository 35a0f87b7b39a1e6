import type { AccessToken, TokenCredential } from '@azure/identity';

const minute = 60_000;
/** How long before the expiry that it is given the SDK renews. */
const sdkMarginMs = 2 * minute;

// assumption: hub-token-renewal, token-lifetime
/**
 * Shows the SDK an expiry at which it does the right thing. It renews an AMQP connection's authorisation endlessly in the
 * interval that it computed from the *first* token: with one of a day, renewed by us at half its life, the second
 * interval would end 12 hours after the token; with one that has less than two minutes left the interval is negative and
 * it spins (49 calls in 2 s, measured). So: half the time left, at most 30 min, at least one.
 */
export function amqpExpiry(expiresOnTimestamp: number, now: number): number {
  const renewIn = Math.min(30 * minute, Math.max(minute, (expiresOnTimestamp - now) / 2));
  return now + renewIn + sdkMarginMs;
}

export interface AmqpCredential extends TokenCredential {
  /** No token any more: no timer can reconnect a discarded client. */
  revoke(): void;
}

/** The credential for one connection. */
export function amqpCredential(credential: TokenCredential, now: () => number = Date.now): AmqpCredential {
  let revoked = false;
  return {
    async getToken(scopes, options): Promise<AccessToken> {
      if (revoked) throw new Error('this connection was discarded');
      const token = await credential.getToken(scopes, options);
      if (!token) throw new Error('no token was given');
      return { ...token, expiresOnTimestamp: amqpExpiry(token.expiresOnTimestamp, now()) };
    },
    revoke: () => {
      revoked = true;
    },
  };
}
