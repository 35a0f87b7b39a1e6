import type { Failure } from '../sinks/sink.ts';
import { type ErrorDetail, errorDetailsOf } from './error-detail.ts';
import { aborted, type Destination, KnownFailure, retry, sentence } from './failure.ts';
import { networkFailure } from './network-failure.ts';

/**
 * What any error of the library of a sink, of Node's network or of our own deadlines means for the batch that met it.
 *
 * Where an error holds several (one per attempt, per address, per nesting) the one that helps the operator most wins:
 * a refused role beats the time-out around it.
 */
export function classify(error: unknown, destination: Destination, now: Date = new Date()): Failure {
  const details = errorDetailsOf(error, now);
  const known = details.map(({ error: found }) => found).find((found) => found instanceof KnownFailure);
  if (known) return known.failure;
  const failures = details.flatMap((detail) => failureOf(detail, destination) ?? []);
  return mostTelling(failures) ?? unknown(details, destination);
}

function failureOf(detail: ErrorDetail, destination: Destination): Failure | null {
  return destination.explain?.(detail, destination) ?? networkFailure(detail, destination) ?? abortFailure(detail);
}

/** Last: undici calls a refusal by a proxy an AbortError too. */
const abortFailure = ({ name }: ErrorDetail): Failure | null => (name === 'AbortError' ? aborted : null);

const precedence = ['configuration', 'too-large', 'poison', 'throttled', 'transient'] as const;

function mostTelling(failures: readonly Failure[]): Failure | undefined {
  for (const cause of precedence) {
    const found = failures.find((failure) => failure.cause === cause && failure.code !== 'aborted');
    if (found) return found;
  }
  return failures[0];
}

/** Never seen before: kept and tried again. The message is the only hint there is, so it is passed on. */
function unknown(details: readonly ErrorDetail[], { name }: Destination): Failure {
  const said = details.map(({ message }) => message).find((message) => message !== '' && message !== 'undefined }');
  return retry(
    'transient',
    'unknown',
    `${sentence(name)} could not be reached: ${said ?? 'no reason given'}; it is tried again.`,
  );
}
