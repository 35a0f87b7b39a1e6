import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/identity';
import type { Clock } from '../clock.ts';
import { createTroubleTeller, type Log } from '../log.ts';
import { createDeadlines, type Deadlines } from './deadline.ts';
import { classify } from './errors.ts';
import type { Destination } from './failure.ts';
import { tokenEndpoint } from './token-failure.ts';
import { managedIdentityTokens } from './token-source.ts';

/**
 * The one credential of the process. A token is fetched once for all who wait for it, within a deadline; a held one is
 * served while it is valid and replaced at half its life, so that a sink hardly ever waits for IMDS: its token endpoint
 * is sickest during host work, which is when there is something to report.
 */
export interface BridgeCredential extends TokenCredential {
  /** Rejects with a `KnownFailure` within 15 s. `options.abortSignal` ends the caller's wait, not the fetch that others share. */
  getToken(scopes: string | string[], options?: GetTokenOptions): Promise<AccessToken>;
  /** Fetches tokens for these scopes now and keeps them fresh until `close`. Failures are logged, not thrown. */
  prefetch(scopes: readonly string[]): void;
  readonly deadlines: Pick<Deadlines, 'missed' | 'lateSettles'>;
  close(): void;
}

export interface CredentialOptions {
  /** Client id of the user-assigned identity; null: the VM's system-assigned or only one. */
  readonly clientId: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Where tokens come from; default the managed identity of the VM. */
  readonly source?: TokenCredential;
  readonly deadlineMs?: number;
}

/** Longer than the 10 s that one request to the endpoint may take. */
const defaultDeadlineMs = 15_000;
/** The service checks the expiry by its own clock. */
const clockSkewMs = 30_000;
/** Between two tries to replace a token that still serves. */
const refreshPauseMs = 60_000;
const destination = (host: string): Destination => ({
  name: `the token endpoint ${host}`,
  host,
  addressKey: 'imds.endpoint',
  proxy: null,
  sender: 'this VM',
  grant: 'this VM an identity',
  whatToCheck: 'identity.clientId',
});

interface Held {
  token: AccessToken | null;
  /** When half of the life that it had on arrival is over; wall clock, ms. */
  refreshAt: number;
  fetching: Promise<AccessToken> | null;
}

export function createCredential(options: CredentialOptions): BridgeCredential {
  const { clock, log, deadlineMs = defaultDeadlineMs } = options;
  const endpoint = destination(tokenEndpoint().name);
  const source = options.source ?? managedIdentityTokens(options.clientId);
  const deadlines = createDeadlines(endpoint.name);
  const held = new Map<string, Held>();
  /** Scopes whose last refresh failed. */
  const failing = new Set<string>();
  const teller = createTroubleTeller({ clock });
  const closing = new AbortController();

  function heldFor(scope: string): Held {
    const found = held.get(scope) ?? { token: null, refreshAt: 0, fetching: null };
    held.set(scope, found);
    return found;
  }

  async function fetchToken(scope: string, before: AccessToken | null): Promise<AccessToken> {
    const first = await askSource(scope);
    // MSAL answers the call that makes it refresh with the token it had: the next call gets the new one.
    return first.token === before?.token ? await askSource(scope) : first;
  }

  async function askSource(scope: string): Promise<AccessToken> {
    const token = await deadlines.run('token', deadlineMs, [closing.signal], (signal) =>
      source.getToken(scope, { abortSignal: signal }),
    );
    if (!token) throw new Error('no token was given');
    return token;
  }

  /** One fetch at a time for a scope. On failure the held token stays, and a refresh is tried again after a pause. */
  function fetchOnce(scope: string): Promise<AccessToken> {
    const entry = heldFor(scope);
    entry.fetching ??= fetchToken(scope, entry.token)
      .then(
        (token) => {
          const now = clock.now().getTime();
          const life = token.expiresOnTimestamp - now;
          entry.token = token;
          entry.refreshAt = now + Math.max(refreshPauseMs, life / 2);
          return token;
        },
        (error: unknown) => {
          entry.refreshAt = clock.now().getTime() + refreshPauseMs;
          throw error;
        },
      )
      .finally(() => {
        entry.fetching = null;
      });
    return entry.fetching;
  }

  const isValid = (token: AccessToken | null): token is AccessToken =>
    token !== null && token.expiresOnTimestamp - clock.now().getTime() > clockSkewMs;

  async function getToken(scopes: string | string[], { abortSignal }: GetTokenOptions = {}): Promise<AccessToken> {
    const scope = typeof scopes === 'string' ? scopes : scopes.join(' ');
    const { token, refreshAt } = heldFor(scope);
    if (!isValid(token)) {
      const signals = abortSignal instanceof AbortSignal ? [abortSignal] : [];
      // Twice the deadline: MSAL may have to be asked twice.
      return await deadlines.run('token', 2 * deadlineMs + 1000, signals, () => fetchOnce(scope));
    }
    if (clock.now().getTime() >= refreshAt) void refresh(scope);
    return token;
  }

  async function refresh(scope: string): Promise<void> {
    try {
      await fetchOnce(scope);
      failing.delete(scope);
      if (failing.size === 0) tell(null, '');
    } catch (error) {
      if (closing.signal.aborted) return;
      const { code, reason } = classify(error, endpoint, clock.now());
      failing.add(scope);
      tell(code, reason);
    }
  }

  /** One story for all scopes: what fails for one fails for the others. */
  function tell(code: string | null, reason: string): void {
    const fields = () => ({
      code,
      scopes: [...failing].map((scope) => ({ scope, held: isValid(heldFor(scope).token) })),
    });
    teller(code, {
      begins: () => log.warn(fields(), `No token: ${reason}`),
      lasts: (seconds) => log.warn({ ...fields(), seconds }, `Still no token: ${reason}`),
      over: (seconds) => log.info({ seconds }, `Tokens are given again, after ${seconds} s without.`),
    });
  }

  async function keepFresh(scope: string): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      await refresh(scope);
      const { token, refreshAt } = heldFor(scope);
      failures = isValid(token) ? 0 : failures + 1;
      const untilRefresh = refreshAt - clock.now().getTime();
      // Without a token: 5 s, 10 s, … one minute. A sink with records asks by itself besides.
      await clock.sleep(
        failures > 0 ? Math.min(5000 * failures, refreshPauseMs) : Math.max(1000, untilRefresh),
        closing.signal,
      );
    }
  }

  return {
    getToken,
    prefetch: (scopes) => {
      for (const scope of new Set(scopes)) void keepFresh(scope);
    },
    deadlines,
    close: () => closing.abort(),
  };
}
