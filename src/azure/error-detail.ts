import { oneLine } from '../http/one-line.ts';
import { readRetryAfter } from '../http/retry-after.ts';

/** One of the errors in the error of an SDK. */
export interface ErrorDetail {
  /** The object itself: it may be an error of our own. */
  readonly error: unknown;
  /** `MessagingError`, `RestError`, `AbortError`, … */
  readonly name: string;
  /** `UnauthorizedError`, `ECONNREFUSED`, `CERT_HAS_EXPIRED`, …; empty without a code. */
  readonly code: string;
  /** HTTP status, where there was an answer. */
  readonly status: number | null;
  /** `Retry-After`, without an upper bound. */
  readonly retryAfterMs: number | null;
  /** One line, truncated. Never holds request bodies: they are in properties that are not read. */
  readonly message: string;
}

/** The SDKs nest deeply: a send wraps attempts, an attempt links, a link addresses. */
const mostDetails = 32;

/**
 * Every error in an error, outermost first: through `AggregateError`, `AggregateLogsUploadError` (whose own
 * message is literally "undefined\n}"), `cause`, rhea's `innerError` and the `error` of WebSocket events.
 */
export function errorDetailsOf(error: unknown, now: Date = new Date()): readonly ErrorDetail[] {
  const found: ErrorDetail[] = [];
  const seen = new Set<unknown>();
  const queue: unknown[] = [error];
  while (queue.length > 0 && found.length < mostDetails) {
    const next = queue.shift();
    if (next === undefined || next === null || seen.has(next)) continue;
    seen.add(next);
    found.push(detailOf(next, now));
    if (typeof next !== 'object') continue;
    const { errors, cause, innerError, error: inner } = next as Record<string, unknown>;
    queue.push(...(Array.isArray(errors) ? errors : []), cause, innerError, typeof inner === 'object' ? inner : null);
  }
  return found;
}

function detailOf(error: unknown, now: Date): ErrorDetail {
  if (typeof error !== 'object' || error === null) {
    return { error, name: '', code: '', status: null, retryAfterMs: null, message: oneLine(String(error)) };
  }
  const { name, code, condition, statusCode, message, description, response } = error as Record<string, unknown>;
  const status = typeof statusCode === 'number' ? statusCode : null;
  return {
    error,
    name: text(name),
    code: text(code) || text(condition),
    status,
    retryAfterMs: retryAfterOf(response, now),
    message: oneLine(text(message) || text(description)),
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** `Retry-After` of a response, in ms. */
function retryAfterOf(response: unknown, now: Date): number | null {
  const headers = (response as { headers?: { get?: unknown } } | undefined | null)?.headers;
  if (typeof headers?.get !== 'function') return null;
  return readRetryAfter(text(headers.get('retry-after')), now);
}
