import type { TokenCredential } from '@azure/identity';
import type { SendResult } from '../sinks/sink.ts';
import type { Deadlines } from './deadline.ts';

/** The SDKs ask for one scope, as a text or as a list. */
export const scopeOf = (scopes: string | string[]): string => (typeof scopes === 'string' ? scopes : scopes.join(' '));

/**
 * A token within `ms`; empty where the credential has none. Fetched ahead of the SDKs: their own wait for a token has no end and
 * ignores its signal.
 */
export async function fetchToken(
  { credential, scope }: { readonly credential: TokenCredential; readonly scope: string },
  deadlines: Deadlines,
  ms: number,
  signals: readonly AbortSignal[],
): Promise<string> {
  const found = await deadlines.run('token', ms, signals, (abortSignal) => credential.getToken(scope, { abortSignal }));
  return found?.token ?? '';
}

/**
 * Sends, and once more with another token where the first one was refused with `code`: it may be revoked, or signed with a key that is
 * no longer trusted.
 *
 * @param replaceToken resolves whether another token is held now.
 */
export async function retryWithNewToken(
  code: string,
  send: () => Promise<SendResult>,
  replaceToken: () => Promise<boolean | undefined>,
): Promise<SendResult> {
  const result = await send();
  return result.kind === 'retry' && result.code === code && (await replaceToken()) ? await send() : result;
}
