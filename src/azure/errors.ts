import type { Failure } from '../sinks/sink.ts';
import { type ErrorDetail, errorDetailsOf } from './error-detail.ts';
import { aborted, type Destination, KnownFailure, retry, sentence } from './failure.ts';
import { networkFailure } from './network-failure.ts';

/**
 * What an error means for the batch: an error of a sink's library, of Node's network or of our own deadlines.
 *
 * An error may hold several, one per attempt, address or level. The one that helps the operator most is taken: a refused role rather
 * than the time-out around it.
 */
export function classify(error: unknown, destination: Destination, now: Date = new Date()): Failure {
  const details = errorDetailsOf(error, now);
  const known = details.map(({ error: found }) => found).find((found) => found instanceof KnownFailure);
  if (known) return known.failure;
  const failures = details.flatMap((detail) => failureOf(detail, destination) ?? []);
  return mostHelpful(failures) ?? unknown(details, destination);
}

function failureOf(detail: ErrorDetail, destination: Destination): Failure | null {
  return destination.explain?.(detail, destination) ?? networkFailure(detail, destination) ?? abortFailure(detail);
}

/** Last: undici calls a refusal by a proxy an AbortError too. */
const abortFailure = ({ name }: ErrorDetail): Failure | null => (name === 'AbortError' ? aborted : null);

const precedence = ['configuration', 'too-large', 'poison', 'throttled', 'transient'] as const;

function mostHelpful(failures: readonly Failure[]): Failure | undefined {
  for (const cause of precedence) {
    const found = failures.find((failure) => failure.cause === cause && failure.code !== 'aborted');
    if (found) return found;
  }
  return failures[0];
}

/** An unknown error: the records are kept. Its message is the only hint, so it is passed on. */
function unknown(details: readonly ErrorDetail[], { name }: Destination): Failure {
  const message = details.map(({ message }) => message).find((one) => one !== '' && one !== 'undefined }');
  return retry(
    'transient',
    'unknown',
    `${sentence(name)} could not be reached: ${message ?? 'no reason given'}; retrying.`,
  );
}
