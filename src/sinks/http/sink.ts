import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import type { ReplaceableCredential } from '../../azure/credential.ts';
import { answerMs, createDeadlines, type DeadlineCounts } from '../../azure/deadline.ts';
import { classify } from '../../azure/errors.ts';
import { aborted, failedCheck, KnownFailure, rejected, retry } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';
import { fetchToken, retryWithNewToken } from '../../azure/token.ts';
import type { Clock } from '../../clock.ts';
import type { CheckResult, Entry, SendResult, Sink } from '../sink.ts';
import { destinationOf, type HttpConfig, httpShape, maxRequestBytes } from './config.ts';
import { type EncodedRequest, encodeRequests } from './encode.ts';
import { readHeaderFile } from './header-file.ts';

export interface HttpSinkOptions {
  readonly config: HttpConfig;
  /** Used only where a token scope is configured. */
  readonly credential: ReplaceableCredential;
  readonly clock: Clock;
  /** Deadlines, in ms. */
  readonly waits?: { readonly tokenMs: number; readonly connectMs: number; readonly sendMs: number };
}

export interface HttpSink extends Sink {
  readonly deadlines: DeadlineCounts;
}

const defaultWaits = { tokenMs: 20_000, connectMs: 10_000, sendMs: answerMs };
/** Of an answer, which is not needed beyond its first words. */
const longestAnswerBytes = 64 * 1024;
/** How long the rest of the answer to a request that was accepted may take, so that its connection can be used again. */
const drainMs = 2_000;

interface Answer {
  readonly status: number;
  readonly retryAfter: string;
  /** The answer's first words; empty where it was accepted. */
  readonly text: string;
}

/**
 * CloudEvents by HTTP POST. Redirects are not followed, nothing is retried in here, and only a status from 200 to 299 counts as accepted.
 * Connections go through the proxy of the process's proxy variables, as those of Logs Ingestion do.
 */
export function createHttpSink({ config, credential, clock, waits = defaultWaits }: HttpSinkOptions): HttpSink {
  const destination = destinationOf(config);
  const deadlines = createDeadlines(destination.name);
  const closed = new AbortController();
  const connect = { timeout: waits.connectMs };
  const agent: Dispatcher =
    proxyBefore(new URL(config.url).hostname) === null ? new Agent({ connect }) : new EnvHttpProxyAgent({ connect });
  /** What the last request was signed with. */
  let token = '';

  async function credentialHeaders(signal: AbortSignal): Promise<Record<string, string>> {
    const { headerFile, tokenScope } = config;
    if (headerFile !== null) {
      const { name, value } = await readHeaderFile(headerFile);
      return { [name]: value };
    }
    if (tokenScope === null) return {};
    token = await fetchToken({ credential, scope: tokenScope }, deadlines, waits.tokenMs, [signal, closed.signal]);
    return { authorization: `Bearer ${token}` };
  }

  /** One exchange. Rejects with the error of undici, or with a `KnownFailure` for an answer that is too long or too late. */
  async function exchange(
    operation: 'send' | 'check',
    method: 'POST' | 'OPTIONS',
    { headers, body }: { readonly headers: Record<string, string>; readonly body: Buffer | null },
    signal: AbortSignal,
  ): Promise<Answer> {
    const signals = [signal, closed.signal];
    return await deadlines.run(operation, waits.sendMs, signals, async (abortSignal) => {
      const answer = await request(config.url, { method, headers, body, dispatcher: agent, signal: abortSignal });
      const status = answer.statusCode;
      const retryAfter = String(answer.headers['retry-after'] ?? '');
      if (isAccepted(status)) {
        const late = AbortSignal.any([closed.signal, AbortSignal.timeout(drainMs)]);
        void answer.body.dump({ limit: longestAnswerBytes, signal: late }).catch(() => {}); // it was accepted all the same
        return { status, retryAfter, text: '' };
      }
      return { status, retryAfter, text: withoutSecrets(await firstLine(answer.body), config.url, headers) };
    });
  }

  async function post({ contentType, body }: EncodedRequest, signal: AbortSignal): Promise<SendResult> {
    if (body.length > maxRequestBytes) {
      const reason = `A request of ${body.length} bytes is over the ${maxRequestBytes} that ${destination.name} gets at once; retrying in smaller batches.`;
      return rejected('too-large', 'batch-too-large', reason);
    }
    const headers = { ...(await credentialHeaders(signal)), 'content-type': contentType };
    const answer = await exchange('send', 'POST', { headers, body }, signal);
    return isAccepted(answer.status) ? { kind: 'delivered' } : failureOf(answer);
  }

  const failureOf = ({ status, retryAfter, text }: Answer) => {
    const response = { headers: new Headers(retryAfter === '' ? {} : { 'retry-after': retryAfter }) };
    return classify({ statusCode: status, message: text, response }, destination, clock.now());
  };

  async function attempt(encoded: EncodedRequest, signal: AbortSignal): Promise<SendResult> {
    try {
      if (signal.aborted) return aborted;
      return await post(encoded, signal);
    } catch (error) {
      return classify(error, destination, clock.now());
    }
  }

  const sendOne = (encoded: EncodedRequest, signal: AbortSignal): Promise<SendResult> =>
    retryWithNewToken(
      'http-401',
      () => attempt(encoded, signal),
      async () => config.tokenScope !== null && credential.replace?.(config.tokenScope, token, signal),
    );

  return {
    ...httpShape(config),

    async send(batch: readonly Entry[], signal) {
      for (const encoded of encodeRequests(batch, config.mode)) {
        const result = await sendOne(encoded, signal);
        if (result.kind !== 'delivered') return result;
      }
      return { kind: 'delivered' };
    },

    /** By OPTIONS, which writes nothing: it shows that the endpoint answers, and no more than that. */
    async check(signal): Promise<CheckResult> {
      try {
        const answer = await exchange(
          'check',
          'OPTIONS',
          { headers: await credentialHeaders(signal), body: null },
          signal,
        );
        if (isAccepted(answer.status) || refusalsOfOptions.has(answer.status))
          return { ok: true, code: 'ok', detail: `${destination.name} answers (HTTP ${answer.status}).` };
        return failedCheck(failureOf(answer));
      } catch (error) {
        return failedCheck(classify(error, destination, clock.now()));
      }
    },

    async close() {
      closed.abort(new KnownFailure(retry('transient', 'aborted', 'The sink was closed.')));
      await agent.destroy();
    },
    deadlines,
  };
}

const isAccepted = (status: number): boolean => status >= 200 && status < 300;

/** Answers to OPTIONS of endpoints that take a POST: many have no handler for it, or expect a body first. */
const refusalsOfOptions: ReadonlySet<number> = new Set([400, 404, 405, 410, 413, 415, 422, 501]);

/** An endpoint may repeat what it was sent. */
function withoutSecrets(text: string, url: string, headers: Readonly<Record<string, string>>): string {
  const { search } = new URL(url);
  const query = search.slice(1).split('&');
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(' ')]);
  const secrets = [search, ...query, ...query.map((pair) => pair.slice(pair.indexOf('=') + 1)), ...values];
  return secrets.filter(({ length }) => length >= 6).reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}

/** Enough to say why; the rest of a long answer is not read. */
async function firstLine(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= longestAnswerBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, 1000);
}
