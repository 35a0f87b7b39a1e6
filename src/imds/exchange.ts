import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import type { Clock } from '../clock.ts';
import { aborted, failureOfDeadline, failureOfNetwork, failureOfSize, type HttpFailure } from './http-failure.ts';

/** A longer body is not a document: a hundred events with a hundred names each take a third of it. */
export const longestBodyBytes = 2 ** 20;

export interface HttpRequest {
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with POST; without one it is a GET. */
  readonly body?: string;
  /** For the whole exchange: connecting, waiting, and the last byte of the body. */
  readonly deadlineMs: number;
}

export interface HttpAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Lower-case name; the first value when a header came twice. Null when it is missing. */
  readonly header: (name: string) => string | null;
  /** What is no UTF-8 is replaced in it. */
  readonly body: string;
  readonly isUtf8: boolean;
  /** From sending the request to the headers of the answer. */
  readonly roundTripMs: number;
  readonly arrivedAt: Date;
}

export interface HttpConnection {
  /** Never rejects. One at a time. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer | HttpFailure>;
  close(): Promise<void>;
}

/**
 * One keep-alive connection to one server, with limits on time and size. It is made directly: no variable of the
 * environment puts a proxy in between, which the metadata service refuses. Redirects are answers like others.
 * After a missed deadline or an abort the connection is discarded, so that a late answer never meets the next request;
 * after a longer pause too, because the server may be another one by then.
 */
export function openConnection(
  origin: string,
  { clock, connectTimeoutMs }: { readonly clock: Clock; readonly connectTimeoutMs: number },
): HttpConnection {
  let client: Client | null = null;
  let closed = false;
  let endedAt = timeOf(clock);

  const discard = (): Promise<void> | undefined => {
    const old = client;
    client = null;
    return old?.destroy();
  };

  return {
    async exchange(request, signal) {
      if (closed || signal.aborted) return aborted;
      if (isLongAgo(endedAt, timeOf(clock))) void discard();
      client ??= newClient(origin, connectTimeoutMs);
      const { outcome, isSettledByUs } = await exchangeOn(client, origin, request, signal, clock);
      endedAt = timeOf(clock);
      if (isSettledByUs) void discard();
      return outcome;
    },
    async close() {
      closed = true;
      await discard();
    },
  };
}

/**
 * A connection that was idle for longer is not used again. A VM that was moved meanwhile finds the service of another host
 * at the address, which does not know the connection: in the worst case it answers nothing at all, and a whole deadline
 * without a poll is what follows. A new connection takes less than a millisecond.
 */
const longestIdleMs = 2500;

interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

const timeOf = (clock: Clock): Moment => ({ wallMs: clock.now().getTime(), monotonicMs: clock.monotonicMs() });

/** By either clock: that of a frozen machine may have stopped, and then only the other one was corrected. */
const isLongAgo = (then: Moment, now: Moment): boolean =>
  Math.max(now.wallMs - then.wallMs, now.monotonicMs - then.monotonicMs) > longestIdleMs;

/** Its own time limits are off: the deadline of the exchange holds. */
const newClient = (origin: string, connectTimeoutMs: number): Client =>
  new Client(origin, {
    pipelining: 1,
    keepAliveTimeout: 10_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs },
  });

interface Exchanged {
  readonly outcome: HttpAnswer | HttpFailure;
  /** Aborted by us: the answer may still arrive on the connection. */
  readonly isSettledByUs: boolean;
}

function exchangeOn(
  client: Client,
  origin: string,
  { path, headers, body: content, deadlineMs }: HttpRequest,
  signal: AbortSignal,
  clock: Clock,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const startedMs = clock.monotonicMs();
    const over = new AbortController();
    const body = collectBody();
    let begun: Omit<HttpAnswer, 'body' | 'isUtf8' | 'kind'> | null = null;
    let isSent = false;

    const settle = (outcome: HttpAnswer | HttpFailure, isSettledByUs: boolean): void => {
      if (over.signal.aborted) return;
      // A constant reason: creating an error with a stack would be a twentieth of what a poll costs.
      over.abort('settled');
      signal.removeEventListener('abort', abort);
      resolve({ outcome, isSettledByUs });
    };
    const abort = (): void => settle(aborted, true);
    const miss = (): void => settle(failureOfDeadline(deadlineMs, { origin, isSent, hasBegun: begun !== null }), true);
    const fail = (error: Error): void => settle(failureOfNetwork(error, { origin, hasBegun: begun !== null }), false);

    signal.addEventListener('abort', abort, { once: true });
    void clock.sleep(deadlineMs, over.signal).then(miss);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {
        isSent = true;
      },
      onResponseStart(_controller, status, received) {
        if (status < 200) return;
        const header = (name: string): string | null => [received[name] ?? []].flat()[0] ?? null;
        begun = { status, header, roundTripMs: clock.monotonicMs() - startedMs, arrivedAt: clock.now() };
      },
      onResponseData(_controller, chunk) {
        if (!body.add(chunk)) settle(failureOfSize(longestBodyBytes), true);
      },
      onResponseEnd() {
        if (begun) settle({ kind: 'answer', ...begun, ...body.text() }, false);
      },
      onResponseError: (_controller, error) => fail(error),
    };
    try {
      client.dispatch(
        { path, method: content === undefined ? 'GET' : 'POST', headers, body: content ?? null },
        handler,
      );
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

const utf8 = new TextDecoder();

/** One buffer, whatever the size of the chunks: a server that sends single bytes costs a hundred times their size else. */
function collectBody() {
  let bytes = Buffer.alloc(0);
  let size = 0;
  return {
    /** False once the body is too long. */
    add(chunk: Buffer): boolean {
      const longer = size + chunk.length;
      if (longer > longestBodyBytes) return false;
      if (longer > bytes.length) {
        const grown = Buffer.alloc(Math.min(longestBodyBytes, Math.max(longer, 2 * bytes.length, 4096)));
        bytes.copy(grown, 0, 0, size);
        bytes = grown;
      }
      chunk.copy(bytes, size);
      size = longer;
      return true;
    },
    text(): Pick<HttpAnswer, 'body' | 'isUtf8'> {
      const received = bytes.subarray(0, size);
      return { body: utf8.decode(received), isUtf8: isUtf8(received) };
    },
  };
}
