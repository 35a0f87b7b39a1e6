import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { classify } from '../../../src/azure/errors.ts';
import { destinationOf } from '../../../src/sinks/log-analytics/config.ts';
import type { Destinations } from '../target.ts';
import { type HttpReply, type Posted, post } from './post.ts';

/** What the bridge does with a batch: a cause of `src/sinks/sink.ts`, or `accepted`. */
type Meaning = 'accepted' | 'configuration' | 'poison' | 'too-large' | 'throttled' | 'transient';

/** A request that the bridge itself would never send, or only by a mistake in its configuration. */
export interface RefusalCase {
  readonly id: string;
  /** A phrase: `a body that is not JSON`. */
  readonly what: string;
  readonly to: 'logs' | 'hub';
  /** What the bridge must make of the answer; null where its sinks send no such request. */
  readonly expected: Meaning | null;
  readonly request: (
    to: Addresses,
  ) => Omit<Posted, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };
  /** Whose token is sent. Default: that of the destination. */
  readonly token?: 'hub' | 'logs' | 'none';
}

/** What a request is made of. */
export interface Addresses extends Pick<Destinations, 'logs' | 'hub'> {
  /** In `StreamId` of every row, so that the rows of a run can be found. */
  readonly mark: string;
}

const oneMegabyte = 1_048_576;
/** Of more characters than the service keeps in a field. */
const longText = 'x'.repeat(70_000);
const dayMs = 86_400_000;

/** A row as the table has it, with the id of its case. It counts as a test, so functions and alerts leave it out. */
const row = (mark: string, id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  TimeGenerated: new Date().toISOString(),
  StreamId: mark,
  RecordId: id,
  IsTest: true,
  Sequence: 1,
  ...more,
});

const streamUrl = ({ logs }: Addresses, { ruleId = logs.ruleId, stream = logs.streamName } = {}): string =>
  `${logs.endpoint}/dataCollectionRules/${ruleId}/streams/${stream}?api-version=2023-01-01`;

const uploading =
  (id: string, more: Readonly<Record<string, unknown>> = {}): RefusalCase['request'] =>
  (to) => ({ url: streamUrl(to), body: JSON.stringify([row(to.mark, id, more)]) });

const messagesUrl = ({ hub }: Addresses, eventHubName = hub.eventHubName): string =>
  `${hub.endpoint}/${eventHubName}/messages?api-version=2014-01`;

/** Rows that are accepted, or should be: `refuse-row` reads back what the table made of them. */
export const rowCases: readonly RefusalCase[] = [
  { id: 'plain', what: 'a row as it should be', to: 'logs', expected: 'accepted', request: uploading('plain') },
  {
    id: 'unknown-column',
    what: 'a column that the stream does not declare',
    to: 'logs',
    expected: 'accepted',
    request: uploading('unknown-column', { NotDeclared: 'x' }),
  },
  {
    id: 'long-field',
    what: 'a text of 70,000 characters in one field',
    to: 'logs',
    expected: 'accepted',
    request: uploading('long-field', { Description: longText }),
  },
  {
    id: 'old-time',
    what: 'a row of four days ago',
    to: 'logs',
    expected: 'accepted',
    request: (to) => uploading('old-time', { TimeGenerated: new Date(Date.now() - 4 * dayMs).toISOString() })(to),
  },
  {
    id: 'wrong-type',
    what: 'a text in a column of numbers',
    to: 'logs',
    expected: null,
    request: uploading('wrong-type', { Sequence: 'first' }),
  },
  {
    id: 'not-json',
    what: 'a body that is not JSON',
    to: 'logs',
    expected: 'poison',
    request: (to) => ({ url: streamUrl(to), body: 'this is not JSON' }),
  },
  {
    id: 'not-a-list',
    what: 'an object instead of a list of rows',
    to: 'logs',
    expected: 'poison',
    request: (to) => ({ url: streamUrl(to), body: JSON.stringify(row(to.mark, 'not-a-list')) }),
  },
];

export const streamCases: readonly RefusalCase[] = [
  {
    id: 'empty-list',
    what: 'an empty list of rows',
    to: 'logs',
    expected: 'accepted',
    request: (to) => ({ url: streamUrl(to), body: '[]' }),
  },
  {
    id: 'wrong-stream',
    what: 'a stream that the rule does not have',
    to: 'logs',
    expected: 'configuration',
    request: (to) => ({ url: streamUrl(to, { stream: 'Custom-NoSuchTable_CL' }), body: '[]' }),
  },
  {
    id: 'wrong-rule',
    what: 'a rule that does not exist',
    to: 'logs',
    expected: 'configuration',
    request: (to) => ({ url: streamUrl(to, { ruleId: `dcr-${'0123456789abcdef'.repeat(2)}` }), body: '[]' }),
  },
];

export const audienceCases: readonly RefusalCase[] = [
  {
    id: 'no-token',
    what: 'no token',
    to: 'logs',
    token: 'none',
    expected: 'configuration',
    request: (to) => ({ url: streamUrl(to), body: '[]' }),
  },
  {
    id: 'wrong-audience',
    what: 'a token for Event Hubs',
    to: 'logs',
    token: 'hub',
    expected: 'configuration',
    request: (to) => ({ url: streamUrl(to), body: '[]' }),
  },
  {
    id: 'wrong-audience-hub',
    what: 'a token for Azure Monitor',
    to: 'hub',
    token: 'logs',
    expected: null,
    request: (to) => ({ url: messagesUrl(to), body: '{}' }),
  },
];

export const oversizedCases: readonly RefusalCase[] = [
  {
    id: 'oversized-call',
    what: 'a call of 1.2 MB',
    to: 'logs',
    expected: 'too-large',
    // Random, so that no service that compresses it finds it small.
    request: (to) => uploading('oversized-call', { Description: randomBytes(600_000).toString('hex') })(to),
  },
  {
    id: 'oversized-unpacked',
    what: 'a call of 2 MB that is compressed to a few KB',
    to: 'logs',
    expected: 'too-large',
    request: (to) => ({
      url: streamUrl(to),
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(
        JSON.stringify([row(to.mark, 'oversized-unpacked', { Description: 'x'.repeat(2 * oneMegabyte) })]),
      ),
    }),
  },
  {
    id: 'oversized-message',
    what: 'a message of 1.2 MB to the hub over HTTPS',
    to: 'hub',
    expected: null,
    request: (to) => ({ url: messagesUrl(to), body: JSON.stringify('x'.repeat(1_200_000)) }),
  },
];

/** Requests that an account with the roles may send. The message is no record, so readers ignore it. */
export const allowedCases: readonly RefusalCase[] = [
  ...streamCases.filter(({ id }) => id === 'empty-list'),
  {
    id: 'small-message',
    what: 'a small message to the hub over HTTPS',
    to: 'hub',
    expected: null,
    request: (to) => ({ url: messagesUrl(to), body: '{}' }),
  },
];

/** What was answered to a case. */
export interface RefusalAnswer extends Pick<HttpReply, 'status' | 'code' | 'message'> {
  readonly id: string;
  readonly what: string;
  readonly retryAfter: string | null;
  /** What the bridge makes of it; null where its sinks send no such request. */
  readonly meaning: { readonly cause: Meaning; readonly code: string } | null;
}

/**
 * Whether an assumption holds by these answers. Null, which is neither proven nor refuted, where one of them is no decision about the request:
 * the service was throttled or failed, or (`roles`) a role was not in force.
 */
export function verdictBy(
  answers: readonly Pick<RefusalAnswer, 'status'>[],
  holds: boolean,
  { roles = true }: { readonly roles?: boolean } = {},
): 'proven' | 'refuted' | null {
  const isUndecided = ({ status }: Pick<RefusalAnswer, 'status'>): boolean =>
    status < 200 || status === 408 || status === 429 || status >= 500 || (roles && (status === 401 || status === 403));
  if (answers.some(isUndecided)) return null;
  return holds ? 'proven' : 'refuted';
}

/** Sends each case, one after the other. */
export async function sendCases(
  cases: readonly RefusalCase[],
  destinations: Destinations,
  mark: string,
): Promise<readonly RefusalAnswer[]> {
  const answers: RefusalAnswer[] = [];
  for (const each of cases) {
    const { headers, ...posted } = each.request({ ...destinations, mark });
    const token = each.token ?? each.to;
    const authorization = token === 'none' ? null : `Bearer ${(await destinations.token(token)).token}`;
    const reply = await post(
      {
        ...posted,
        headers: { 'content-type': 'application/json', ...(authorization !== null && { authorization }), ...headers },
      },
      destinations,
    );
    answers.push(answerOf(each, reply, destinations));
  }
  return answers;
}

/** @param destinations of which the bridge would speak */
export function answerOf(
  { id, what, to }: Pick<RefusalCase, 'id' | 'what' | 'to'>,
  reply: HttpReply,
  { logs }: Pick<Destinations, 'logs'>,
): RefusalAnswer {
  const { status, code, message, headers } = reply;
  return {
    id,
    what,
    status,
    code,
    message: message.slice(0, 2_000),
    retryAfter: headers['retry-after'] ?? null,
    meaning: to === 'logs' ? meaningOf(reply, logs) : null,
  };
}

/** By the classification of the sink, from an error like that of its client. */
function meaningOf(
  { status, code, message, headers }: HttpReply,
  logs: Destinations['logs'],
): RefusalAnswer['meaning'] {
  if (status >= 200 && status < 300) return { cause: 'accepted', code: `http-${status}` };
  const response = { headers: new Map(Object.entries(headers)) };
  const error = status === 0 ? new Error(message) : { name: 'RestError', statusCode: status, code, message, response };
  const failure = classify(error, destinationOf(logs));
  return { cause: failure.cause, code: failure.code };
}

/** Where the bridge makes something else of an answer than it should, each a sentence. */
export const wrongMeanings = (cases: readonly RefusalCase[], answers: readonly RefusalAnswer[]): readonly string[] =>
  cases.flatMap(({ id, what, expected }) => {
    const answer = answers.find((each) => each.id === id);
    if (expected === null || answer === undefined || answer.meaning?.cause === expected) return [];
    return [
      `After ${what} (${describeAnswer(answer)}) the bridge takes the failure for ${answer.meaning?.cause}; expected was ${expected}.`,
    ];
  });

/** How two places answered differently to the same requests, each a sentence. The words of an error may differ. */
export const answerDifferences = (
  actual: readonly RefusalAnswer[],
  simulated: readonly RefusalAnswer[],
): readonly string[] =>
  actual.flatMap((answer) => {
    const other = simulated.find(({ id }) => id === answer.id);
    if (other === undefined) return [`The simulator was not asked about ${answer.what}.`];
    const asks = (given: RefusalAnswer): boolean => given.retryAfter !== null;
    const same = answer.status === other.status && answer.code === other.code && asks(answer) === asks(other);
    return same
      ? []
      : [`To ${answer.what} Azure answers ${describeAnswer(answer)}, the simulator ${describeAnswer(other)}.`];
  });

export const describeAnswer = ({ status, code, message, retryAfter }: RefusalAnswer): string =>
  [
    status === 0 ? `nothing (${message.slice(0, 100)})` : String(status),
    ...(code === null ? [] : [code]),
    ...(retryAfter === null ? [] : [`with Retry-After: ${retryAfter}`]),
  ].join(' ');
