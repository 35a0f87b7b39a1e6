import type { ReplaceableCredential } from '../azure/credential.ts';
import type { Clock } from '../clock.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import type { CheckResult, ParsedEntry } from '../sinks/sink.ts';
import type { TokenClaims } from './claims.ts';
import type { AccessRights } from './sddl.ts';

/** What the check of a sink stands on. What several of them need is fetched once, when the first of them asks. */
export interface SinkCheckContext {
  readonly clock: Clock;
  /** Aborted when the command is to end. */
  readonly signal: AbortSignal;
  readonly credential: ReplaceableCredential;
  /** No network calls (`--offline`). */
  readonly offline: boolean;
  readonly stateDirectory: string;
  /** On Windows, who may read and change a file; null on Linux, and where this user may not see it. */
  accessTo(path: string): Promise<AccessRights | null>;
  /** Whether a test record may be sent (`--write`). */
  readonly write: boolean;
  /** As the service knows it; null where neither the metadata service nor the outbox names it. */
  vm(): Promise<Observer | null>;
  /** A record to send with `--write`; null where the VM does not know its name. */
  testEntry(): Promise<ParsedEntry | null>;
  /** One for each scope that the sinks need; the credential has them from then on. Never rejects. */
  tokens(): Promise<readonly TokenSeen[]>;
}

export interface TokenSeen {
  readonly scope: string;
  readonly claims: TokenClaims | null;
  /** Null: a token came. */
  readonly failure: { readonly code: string; readonly reason: string } | null;
}

/** Deadlines in ms. With the token's, they keep the whole check of a sink under 30 s. */
export const tokenMs = 11_000;
export const networkMs = 10_000;

/** What a sink says of itself, once all tokens are there: without them it could only say the same again, as long afterwards. */
export async function withTokens(
  context: Pick<SinkCheckContext, 'tokens'>,
  check: () => Promise<CheckResult>,
): Promise<CheckResult> {
  const failure = (await context.tokens()).find((token) => token.failure !== null)?.failure;
  return failure ? { ok: false, code: failure.code, detail: failure.reason } : await check();
}

/** Object id of the identity that got a token for this scope; null where it is not known. */
export const objectIdFor = async (context: Pick<SinkCheckContext, 'tokens'>, scope: string): Promise<string | null> =>
  (await context.tokens()).find((token) => token.scope === scope)?.claims?.objectId ?? null;
