/** What a token says about its identity. Read, not verified: its recipient does that. */
export interface TokenClaims {
  readonly clientId: string | null;
  /** Of the identity in its tenant: what roles are assigned to. */
  readonly objectId: string | null;
  readonly tenantId: string | null;
  /** Resource id of a user-assigned identity, or of the VM that has a system-assigned one. */
  readonly resourceId: string | null;
}

/**
 * Claims of a managed identity's token; null where it is not a JSON Web Token.
 * https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference
 */
export function readClaims(token: string): TokenClaims | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null) return null;
    const { appid, azp, oid, tid, xms_mirid: mirid } = claims as Record<string, unknown>;
    return {
      clientId: text(appid) ?? text(azp),
      objectId: text(oid),
      tenantId: text(tid),
      resourceId: text(mirid),
    };
  } catch {
    return null;
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
