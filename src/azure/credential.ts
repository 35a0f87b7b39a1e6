import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/identity';
import type { Clock } from '../clock.ts';
import { createStatusLogger, type Log } from '../log.ts';
import { createDeadlines, type DeadlineCounts } from './deadline.ts';
import { classify } from './errors.ts';
import type { Destination } from './failure.ts';
import { scopeOf } from './token.ts';
import { tokenEndpoint } from './token-failure.ts';

/** The credential of a sink. */
export interface ReplaceableCredential extends TokenCredential {
  /**
   * To be called when a service refused `token`. Fetches another one, unless there is one already or this was done a few minutes ago:
   * where the role is missing, a new token is refused as well. Resolves whether another one is held now. Never rejects for a
   * failure of the token endpoint.
   */
  replace?(scope: string, token: string, signal?: AbortSignal): Promise<boolean>;
}

// assumption: token-lifetime
/**
 * The one credential of the bridge. A token is fetched once for all callers, within a deadline, cached while it is valid and
 * replaced at half its life, so that a sink hardly ever waits for IMDS: its token endpoint is least reliable during host maintenance,
 * which is when there is something to report.
 */
export interface BridgeCredential extends ReplaceableCredential {
  /** Rejects with a `KnownFailure` within 15 s. `options.abortSignal` ends the caller's wait, not the fetch that others share. */
  getToken(scopes: string | string[], options?: GetTokenOptions): Promise<AccessToken>;
  /** Fetches tokens for these scopes now and keeps them fresh until `close`. Failures are logged, not thrown. */
  prefetch(scopes: readonly string[]): void;
  replace(scope: string, token: string, signal?: AbortSignal): Promise<boolean>;
  /** Calls back when a valid token was fetched for a scope for which the last request had not given one. */
  onRecovered(listener: () => void): void;
  readonly deadlines: DeadlineCounts;
  close(): void;
}

export interface CredentialOptions {
  /** The source of tokens: a new one for each call. */
  readonly source: TokenCredential;
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs?: number;
}

/** Longer than the 10 s that one request to the endpoint may take. */
const defaultDeadlineMs = 15_000;
/** The service compares the expiry with its own clock. */
const clockSkewMs = 30_000;
/** Between two attempts to replace a token that is still valid. */
const refreshPauseMs = 60_000;
/**
 * Between two requests while there is no token, regardless of the endpoint's Retry-After: the records of an event have seconds, and one
 * request in 20 s is no burden to an endpoint on this host.
 */
const longestPauseMs = 20_000;
const firstPauseMs = 5_000;
/** Between two replacements of refused tokens. */
const replacePauseMs = 5 * 60_000;

/** The token endpoint, for the messages of its failures. */
export function tokenDestination(): Destination {
  const { name: host } = tokenEndpoint();
  return {
    name: `the token endpoint ${host}`,
    host,
    addressKey: 'imds.endpoint',
    proxy: null,
    sender: 'this VM',
    grant: 'this VM an identity',
    whatToCheck: 'identity.clientId',
  };
}

interface Held {
  token: AccessToken | null;
  /** When half of its lifetime has passed; wall clock, ms. */
  refreshAt: number;
  /** When a refused token was last replaced; monotonic, ms. */
  replacedAt: number;
  /** The last request failed, or gave a token that is not valid. */
  isFailing: boolean;
  fetching: Promise<AccessToken> | null;
}

export function createCredential(options: CredentialOptions): BridgeCredential {
  const { source, clock, log, deadlineMs = defaultDeadlineMs } = options;
  const endpoint = tokenDestination();
  const deadlines = createDeadlines(endpoint.name);
  const held = new Map<string, Held>();
  /** Scopes whose last refresh failed. */
  const failing = new Set<string>();
  const logStatus = createStatusLogger({ clock });
  const closing = new AbortController();
  const listeners = new Set<() => void>();

  function heldFor(scope: string): Held {
    const found = held.get(scope) ?? {
      token: null,
      refreshAt: 0,
      replacedAt: Number.NEGATIVE_INFINITY,
      isFailing: false,
      fetching: null,
    };
    held.set(scope, found);
    return found;
  }

  async function fetchFromSource(scope: string): Promise<AccessToken> {
    const token = await deadlines.run('token', deadlineMs, [closing.signal], (signal) =>
      source.getToken(scope, { abortSignal: signal }),
    );
    if (!token) throw new Error('the source gave no token');
    return token;
  }

  /** One fetch at a time for a scope. On failure the held token stays, and a refresh is tried again after a pause. */
  function fetchOnce(scope: string): Promise<AccessToken> {
    const entry = heldFor(scope);
    entry.fetching ??= fetchFromSource(scope)
      .then(
        (token) => {
          const now = clock.now().getTime();
          const life = token.expiresOnTimestamp - now;
          entry.token = token;
          entry.refreshAt = now + Math.max(refreshPauseMs, life / 2);
          const wasFailing = entry.isFailing;
          // One that seems to have expired is given out all the same: the clock of this machine may be wrong, and the service judges by its own.
          entry.isFailing = !isValid(token);
          if (wasFailing && !entry.isFailing) for (const listener of listeners) listener();
          return token;
        },
        (error: unknown) => {
          entry.refreshAt = clock.now().getTime() + refreshPauseMs;
          entry.isFailing = true;
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
    const scope = scopeOf(scopes);
    const { token, refreshAt } = heldFor(scope);
    if (!isValid(token)) {
      const signals = abortSignal instanceof AbortSignal ? [abortSignal] : [];
      return await deadlines.run('token', deadlineMs + 1000, signals, () => fetchOnce(scope));
    }
    if (clock.now().getTime() >= refreshAt) void refresh(scope);
    return token;
  }

  async function refresh(scope: string): Promise<void> {
    try {
      await fetchOnce(scope);
      failing.delete(scope);
      if (failing.size === 0) report(null, '');
    } catch (error) {
      if (closing.signal.aborted) return;
      const { code, reason } = classify(error, endpoint, clock.now());
      failing.add(scope);
      report(code, reason);
    }
  }

  /** One status for all scopes: a failure of one is a failure of all. */
  function report(code: string | null, reason: string): void {
    const fields = () => ({
      code,
      scopes: [...failing].map((scope) => ({ scope, held: isValid(heldFor(scope).token) })),
    });
    logStatus(code, {
      begins: () => log.warn(fields(), `No token: ${reason}`),
      lasts: (seconds) => log.warn({ ...fields(), seconds }, `Still no token: ${reason}`),
      over: (seconds) => log.info({ seconds }, `Token acquisition recovered after ${seconds} s.`),
    });
  }

  async function keepFresh(scope: string): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      const before = heldFor(scope);
      if (!isValid(before.token) || clock.now().getTime() >= before.refreshAt) await refresh(scope);
      failures = isValid(heldFor(scope).token) ? 0 : failures + 1;
      // Also while the token is valid: a service may refuse it at any time.
      const pauseMs = failures > 0 ? Math.min(firstPauseMs * failures, longestPauseMs) : longestPauseMs;
      await clock.sleep(pauseMs, closing.signal);
    }
  }

  async function replace(scope: string, refused: string, signal?: AbortSignal): Promise<boolean> {
    const entry = heldFor(scope);
    if (entry.token?.token === refused) {
      const now = clock.monotonicMs();
      if (now - entry.replacedAt < replacePauseMs) return false;
      entry.replacedAt = now;
      entry.token = null;
      log.warn({ scope }, 'A service refused its token; fetching another one.');
    }
    try {
      const { token } = await getToken(scope, { ...(signal && { abortSignal: signal }) });
      return token !== refused;
    } catch {
      return false; // the next send says why
    }
  }

  return {
    getToken,
    prefetch: (scopes) => {
      for (const scope of new Set(scopes)) void keepFresh(scope);
    },
    replace,
    onRecovered: (listener) => void listeners.add(listener),
    deadlines,
    close: () => closing.abort(),
  };
}
