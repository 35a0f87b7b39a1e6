import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { guidOf } from './guid-of.ts';

/** What the token endpoint knows about its client. */
export interface TokenRequest {
  /** As the client wrote it: it becomes the token's `aud`. */
  readonly resource: string;
  /** Client id of a user-assigned identity; the system-assigned one otherwise. */
  readonly clientId: string | null;
  /** Resource id of the VM, as in `xms_mirid`. */
  readonly vmResourceId: string;
}

export interface IssuedToken {
  readonly token: string;
  readonly clientId: string;
  /** Seconds since the epoch. */
  readonly notBefore: number;
  readonly expiresOn: number;
}

/** A stand-in for Microsoft Entra ID: signs tokens for managed identities and verifies them. */
export interface TokenIssuer {
  issue(request: TokenRequest): Promise<IssuedToken>;
  /** Null when the token is ours, unexpired and for one of `audiences` (a trailing slash does not matter); else why not. */
  refusal(token: string, audiences: readonly string[]): Promise<string | null>;
  /** Every token given so far is refused from now on. */
  revoke(): void;
}

export interface TokenIssuerOptions {
  /** Not under 2 minutes: the Event Hubs SDK renews 2 minutes early and would spin. Default a day. */
  readonly lifetimeSeconds?: number;
  /** PEM of a private key, P-256: an issuer with the same one accepts the tokens of the other. Default: a fresh one. */
  readonly key?: string;
}

/** ES256 where Azure signs with RS256: no client verifies it. */
const algorithm = 'ES256';

export async function createTokenIssuer({
  lifetimeSeconds = 86_400,
  key,
}: TokenIssuerOptions = {}): Promise<TokenIssuer> {
  const privateKey = key === undefined ? freshKey() : createPrivateKey(key);
  const publicKey = createPublicKey(privateKey);
  const name = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const tenant = guidOf(`tenant ${name}`);
  const issuer = `https://sts.windows.net/${tenant}/`;
  const systemAssigned = guidOf(`system-assigned ${name}`);
  const issued = new Set<string>();
  const revoked = new Set<string>();

  return {
    async issue({ resource, clientId, vmResourceId }) {
      const notBefore = Math.floor(Date.now() / 1000);
      const expiresOn = notBefore + lifetimeSeconds;
      const identity = clientId ?? systemAssigned;
      const id = randomUUID();
      issued.add(id);
      const token = await new SignJWT({ appid: identity, oid: identity, tid: tenant, xms_mirid: vmResourceId })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: 'azure-simulator' })
        .setIssuer(issuer)
        .setAudience(resource)
        .setSubject(identity)
        .setIssuedAt(notBefore)
        .setNotBefore(notBefore)
        .setExpirationTime(expiresOn)
        .setJti(id)
        .sign(privateKey);
      return { token, clientId: identity, notBefore, expiresOn };
    },
    async refusal(token, audiences) {
      const audience = audiences.flatMap((one) => [one, `${one}/`]);
      try {
        const { payload } = await jwtVerify(token, publicKey, {
          issuer,
          audience,
          algorithms: [algorithm],
          clockTolerance: 60,
        });
        return revoked.has(payload.jti ?? '') ? 'the token has been revoked' : null;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    revoke() {
      for (const id of issued) revoked.add(id);
      issued.clear();
    },
  };
}

const freshKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
