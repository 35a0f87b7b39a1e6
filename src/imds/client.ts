import type { Clock } from '../clock.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import type { PollResult } from '../lifecycle/scheduled-event.ts';
import { type ApprovalAnswer, postApproval } from './approve.ts';
import { readAzureTime } from './azure-time.ts';
import type { Locate } from './discover.ts';
import { excessOf, parseDocument } from './document.ts';
import { type HttpAnswer, type HttpConnection, openConnection } from './exchange.ts';
import type { HttpFailure } from './http-failure.ts';
import { meaningOfStatus } from './http-status.ts';
import { newestInstanceVersion, versionToTryAfter } from './instance-version.ts';

export interface ImdsOptions {
  /** Base URL, perhaps with a path prefix; or what finds it, asked before each request until it has found it. */
  readonly endpoint: string | Locate;
  /** Of the Scheduled Events API: one of the seven published ones. */
  readonly apiVersion: string;
  /** How long an answer may take, the last byte of its body included. */
  readonly timeoutMs: number;
  // assumption: imds-first-request
  /** The same while `warm()` is false: the first request enables Scheduled Events and may take two minutes. */
  readonly firstTimeoutMs: number;
  /** Whether Scheduled Events is known to be enabled: a valid document was seen in the last 24 h. */
  readonly warm: () => boolean;
  readonly clock: Clock;
}

/** The metadata service of this VM. Nothing here throws or rejects; a second `observe` waits for the first. */
export interface Imds {
  /**
   * Polls the scheduled events once. Only the `history` that received the last document gets `unchanged`: a caller with another
   * state, or without one, gets the whole document.
   */
  observe(signal: AbortSignal, history?: object): Promise<PollResult>;
  /** Makes the next poll return the whole document even if it is unchanged, after one that could not be processed. */
  forget(): void;
  /** The instance metadata of this VM, unparsed. */
  instance(signal: AbortSignal): Promise<InstanceAnswer>;
  /** Approves these events: Azure may start them now, for every VM that they name. */
  approve(eventIds: readonly string[], signal: AbortSignal): Promise<ApprovalAnswer>;
  close(): Promise<void>;
}

export type InstanceAnswer =
  | { readonly kind: 'metadata'; readonly metadata: unknown; readonly apiVersion: string }
  | Extract<PollResult, { kind: 'unavailable' }>;

type Unavailable = Extract<PollResult, { kind: 'unavailable' }>;

/** The service is on the host of the VM, a millisecond away: a connection that takes longer is never established. */
const longestConnectMs = 10_000;

/**
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
 */
export function createImds(options: ImdsOptions): Imds {
  const { apiVersion, timeoutMs, firstTimeoutMs, warm, clock } = options;
  const locate = typeof options.endpoint === 'string' ? fixed(options.endpoint) : options.endpoint;
  let polling: HttpConnection | null = null;
  // assumption: imds-etag
  /** Of the last document that was read completely, and the history that received it. */
  let last: { readonly etag: string; readonly history: object } | null = null;

  const connectTimeoutMs = Math.min(timeoutMs, longestConnectMs);
  const connect = (origin: string): HttpConnection => openConnection(origin, { clock, connectTimeoutMs });

  return {
    async observe(signal, history = {}) {
      const located = await locate(signal);
      if (located.kind === 'not-found') return unavailable('unreachable', located.reason);
      const { origin, prefix } = splitEndpoint(located.endpoint);
      polling ??= connect(origin);
      const asked = last?.history === history ? last.etag : null;
      const answer = await polling.exchange(
        {
          path: `${prefix}/metadata/scheduledevents?api-version=${apiVersion}`,
          headers: { ...metadataHeader, ...(asked === null ? {} : { 'If-None-Match': asked }) },
          deadlineMs: warm() ? timeoutMs : firstTimeoutMs,
        },
        signal,
      );
      const seen = toSeen(answer, { apiVersion, isConditional: asked !== null });
      if (seen.kind === 'document') {
        const etag = seen.document.unreadable === 0 ? entityTag(answer) : null;
        last = etag === null ? null : { etag, history };
      }
      return seen;
    },

    forget() {
      last = null;
    },

    // On its own connection: an answer that hangs here must not delay a poll.
    async instance(signal) {
      const located = await locate(signal);
      if (located.kind === 'not-found') return unavailable('unreachable', located.reason);
      const { origin, prefix } = splitEndpoint(located.endpoint);
      const connection = connect(origin);
      const ask = (version: string): Promise<HttpAnswer | HttpFailure> =>
        connection.exchange(
          {
            path: `${prefix}/metadata/instance?api-version=${version}`,
            headers: metadataHeader,
            deadlineMs: timeoutMs,
          },
          signal,
        );
      try {
        const first = await ask(newestInstanceVersion);
        const other = first.kind === 'answer' && first.status === 400 ? versionToTryAfter(first.body) : null;
        if (other === null) return toInstance(first, newestInstanceVersion);
        return toInstance(await ask(other), other);
      } finally {
        await connection.close();
      }
    },

    // On its own connection too: approving and polling do not wait for each other.
    async approve(eventIds, signal) {
      const located = await locate(signal);
      if (located.kind === 'not-found') return { outcome: 'outcome-unknown', reason: located.reason };
      const { origin, prefix } = splitEndpoint(located.endpoint);
      const connection = connect(origin);
      try {
        const path = `${prefix}/metadata/scheduledevents?api-version=${apiVersion}`;
        return await postApproval(connection, { path, headers: metadataHeader, eventIds, clock }, signal);
      } finally {
        await connection.close();
      }
    },

    async close() {
      await polling?.close();
    },
  };
}

/** Without it every path of the service answers 400; it also blocks requests that a server was tricked into making. */
const metadataHeader = { Metadata: 'true' };

const fixed =
  (endpoint: string): Locate =>
  async () => ({ kind: 'found', endpoint });

function splitEndpoint(endpoint: string): { readonly origin: string; readonly prefix: string } {
  const { origin, pathname } = new URL(endpoint);
  return { origin, prefix: pathname.replace(/\/+$/, '') };
}

function toSeen(
  answer: HttpAnswer | HttpFailure,
  { apiVersion, isConditional }: { readonly apiVersion: string; readonly isConditional: boolean },
): PollResult {
  if (answer.kind === 'failure') return unavailable(answer.code, answer.reason);
  const time = readAzureTime(answer.header('date'), answer);
  if (answer.status === 304 && isConditional) return { kind: 'unchanged', ...time };
  if (answer.status !== 200) return refused(answer, apiVersion);
  const parsed = parseDocument(answer.body, apiVersion, answer.isUtf8);
  if (parsed.kind === 'unavailable') return unavailable(parsed.code, parsed.reason);
  return { kind: 'document', document: parsed.document, imdsApiVersion: apiVersion, ...time };
}

function toInstance(answer: HttpAnswer | HttpFailure, apiVersion: string): InstanceAnswer {
  if (answer.kind === 'failure') return unavailable(answer.code, answer.reason);
  if (answer.status !== 200) return refused(answer, apiVersion);
  if (!answer.isUtf8 || excessOf(answer.body) === 'too-deep') return notJson;
  try {
    return { kind: 'metadata', metadata: JSON.parse(answer.body), apiVersion };
  } catch {
    return notJson;
  }
}

function refused(answer: HttpAnswer, apiVersion: string): Unavailable {
  const { status, body, header, arrivedAt } = answer;
  const { code, reason } = meaningOfStatus(status, { body, location: header('location'), apiVersion });
  const { azureTime } = readAzureTime(header('date'), answer);
  const retryAfterMs = readRetryAfter(header('retry-after'), azureTime ?? arrivedAt);
  return { kind: 'unavailable', code, reason, retryAfterMs };
}

const unavailable = (code: string, reason: string): Unavailable => ({
  kind: 'unavailable',
  code,
  reason,
  retryAfterMs: null,
});

const notJson = unavailable('not-json', 'The instance metadata is not JSON; it is asked for again.');

/** Null without a tag that can be sent back unchanged. */
function entityTag(answer: HttpAnswer | HttpFailure): string | null {
  const tag = answer.kind === 'answer' ? answer.header('etag') : null;
  return tag !== null && /^[\x21-\x7e]{1,500}$/.test(tag) ? tag : null;
}
