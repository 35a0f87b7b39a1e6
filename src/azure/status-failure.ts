import type { Failure } from '../sinks/sink.ts';
import type { ErrorDetail } from './error-detail.ts';
import { type Destination, notAllowed, orProxy, proxyCredentials, rejected, retry, sentence } from './failure.ts';

type Answer = Pick<ErrorDetail, 'message' | 'retryAfterMs'> & Partial<Pick<ErrorDetail, 'code'>>;

/** The cause of a failure with a status, and the reason for the operator. */
type StatusMeaning = (
  status: number,
  to: Destination,
  answer: Answer,
) => readonly [cause: Failure['cause'], reason: string];

/** By status, or by its hundred. */
export type StatusMeanings = Readonly<Partial<Record<number | '3xx' | '5xx', StatusMeaning>>>;

const forbidden: StatusMeaning = (status, to) => [
  'configuration',
  `${notAllowed(to, ` (HTTP ${status})`)}${orProxy(to)}`,
];
const absent: StatusMeaning = (status, to) => [
  'configuration',
  `${sentence(to.name)} does not exist, or takes no records (HTTP ${status}): check ${to.whatToCheck}.`,
];
const unexpected: StatusMeaning = (status, to) => [
  'configuration',
  `Unexpected answer of ${to.host} (HTTP ${status}): check ${to.addressKey}, and for a proxy in between.`,
];

/** What a status means wherever it comes from. https://www.rfc-editor.org/rfc/rfc9110#name-status-codes */
const common: StatusMeanings = {
  401: forbidden,
  403: forbidden,
  404: absent,
  405: absent,
  407: (_, to) => ['configuration', `${to.proxy === null ? 'A proxy' : `The proxy ${to.proxy}`} ${proxyCredentials}.`],
  408: (_, { host }) => ['transient', `${host} timed out waiting for the request (HTTP 408); retrying.`],
  410: absent,
  413: (_, { host }) => [
    'too-large',
    `${host} refuses the batch as too large (HTTP 413); retrying in smaller batches. If this continues, check for a proxy in between that limits the size of requests.`,
  ],
  429: (_, to) => ['throttled', `${to.host} throttles requests (HTTP 429); retrying later.`],
  '5xx': (status, to) => ['transient', `${to.host} failed (HTTP ${status}); retrying.${orProxy(to)}`],
};

/** What the status of an answer means. `own`: the statuses that mean something else, or say more, at this destination. */
export function statusFailure(status: number, answer: Answer, to: Destination, own: StatusMeanings): Failure {
  const meanings = { ...common, ...own };
  const meaning = meanings[status] ?? meanings[`${Math.floor(status / 100)}xx` as '5xx'] ?? unexpected;
  const [cause, reason] = meaning(status, to, answer);
  const code = `http-${status}`;
  return cause === 'poison' || cause === 'too-large'
    ? rejected(cause, code, reason)
    : retry(cause, code, reason, answer.retryAfterMs);
}

/** The same of an error that holds an answer, for {@link Destination.explain}; null for one without. */
export const explainStatus =
  (own: StatusMeanings): NonNullable<Destination['explain']> =>
  (detail, to) =>
    detail.status === null ? null : statusFailure(detail.status, detail, to, own);
