import { decodeJwt } from 'jose';
import type { TokenIssuer } from '../token-issuer.ts';
import { audiencePath } from './address.ts';
import type { Request } from './answer.ts';
import { expiredToken } from './refusal.ts';
import { type SharedAccessKey, sasExpiry, sasRefusal } from './sas.ts';

export interface TokenCheck {
  readonly issuer: TokenIssuer;
  readonly sharedAccessKey: SharedAccessKey;
}

export type TokenVerdict =
  | { readonly accepted: true; readonly entityPath: string; readonly expiresAt: number }
  | { readonly accepted: false; readonly description: string };

const audiences = ['https://eventhubs.azure.net', 'https://servicebus.azure.net'];

/**
 * Judges a `put-token` request of claims-based security.
 * https://docs.oasis-open.org/amqp/amqp-cbs/v1.0/amqp-cbs-v1.0.html
 *
 * @param now milliseconds since the epoch.
 */
export async function putToken(
  request: Request,
  { issuer, sharedAccessKey }: TokenCheck,
  now: number,
): Promise<TokenVerdict> {
  const asked = request.application_properties ?? {};
  if (asked.operation !== 'put-token') return refuse(`InvalidOperation: ${asked.operation} is unknown`);
  return judgeToken(String(request.body), String(asked.name ?? ''), { issuer, sharedAccessKey }, now);
}

/**
 * Whether a token, a JWT or a signature, gives access to what the audience names.
 *
 * @param now milliseconds since the epoch.
 */
export async function judgeToken(
  token: string,
  audience: string,
  { issuer, sharedAccessKey }: TokenCheck,
  now: number,
): Promise<TokenVerdict> {
  // Sniffed rather than read from `type`: Microsoft's Python client 5.11 sends signatures as type "jwt".
  const isSignature = token.startsWith('SharedAccessSignature ');
  const expiresAt = isSignature ? sasExpiry(token) : jwtExpiry(token);
  if (expiresAt !== null && expiresAt <= now) return refuse(expiredToken(expiresAt));
  const refusal = isSignature ? sasRefusal(token, audience, sharedAccessKey) : await issuer.refusal(token, audiences);
  if (refusal !== null || expiresAt === null) return refuse(`InvalidSignature: ${refusal ?? 'it does not expire'}`);
  return { accepted: true, entityPath: audiencePath(audience), expiresAt };
}

const refuse = (description: string): TokenVerdict => ({ accepted: false, description });

function jwtExpiry(token: string): number | null {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? null : exp * 1000;
  } catch {
    return null;
  }
}
