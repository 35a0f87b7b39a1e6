import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline';
import { LogsIngestionClient } from '@azure/monitor-ingestion';
import { boundedHttpClient } from '../../azure/bounded-http.ts';
import type { ReplaceableCredential } from '../../azure/credential.ts';
import { createDeadlines, type Deadlines } from '../../azure/deadline.ts';
import { classify } from '../../azure/errors.ts';
import { rejected, retry } from '../../azure/failure.ts';
import type { Clock } from '../../clock.ts';
import type { CheckResult, Entry, SendResult, Sink } from '../sink.ts';
import { monitorAudience, monitorScope } from './clouds.ts';
import { destinationOf, hostOf, type LogAnalyticsConfig, logAnalyticsShape, mostBytes, mostRows } from './config.ts';
import { encodeRow } from './encode.ts';
import { httpFailure } from './http-failure.ts';

export interface LogAnalyticsSinkOptions {
  readonly config: LogAnalyticsConfig;
  readonly credential: ReplaceableCredential;
  readonly clock: Clock;
  /** Deadlines, in ms. */
  readonly waits?: { readonly tokenMs: number; readonly uploadMs: number };
}

export interface LogAnalyticsSink extends Sink {
  readonly deadlines: Pick<Deadlines, 'missed' | 'lateSettles'>;
}

const defaultWaits = { tokenMs: 20_000, uploadMs: 15_000 };

/**
 * A stream of a data collection rule. One request per `upload()`, since with more the SDK can resolve with part of them
 * unsent; one `upload()` at a time, in order; its retries off, since it would sleep a `Retry-After` of an hour in the call.
 *
 * A 204 means accepted, not stored: what is lost behind it shows in the workspace's `DCRLogErrors` only.
 */
export function createLogAnalyticsSink(options: LogAnalyticsSinkOptions): LogAnalyticsSink {
  const { config, credential, clock, waits = defaultWaits } = options;
  const { endpoint, ruleId, streamName } = config;
  const host = hostOf(endpoint);
  const destination = destinationOf(config);
  const deadlines = createDeadlines(destination.name);
  const httpClient = boundedHttpClient();
  const makeClient = (): LogsIngestionClient =>
    new LogsIngestionClient(endpoint, credential, {
      audience: monitorAudience(host),
      retryOptions: { maxRetries: 0 },
      httpClient,
    });
  let client = makeClient();
  /** What the last request was signed with. */
  let token = '';

  /** The SDK's own wait for a token has no end and ignores its signal. */
  async function fetchToken(signal: AbortSignal): Promise<void> {
    const found = await deadlines.run('token', waits.tokenMs, [signal], (abortSignal) =>
      credential.getToken(monitorScope(host), { abortSignal }),
    );
    token = found?.token ?? '';
  }

  /** A 401 may be the token's fault: revoked, or signed with a key that is no longer trusted. */
  async function replaceToken(signal: AbortSignal): Promise<boolean> {
    if (!(await credential.replace?.(monitorScope(host), token, signal))) return false;
    // The client keeps its token for as long as that says it is valid.
    client = makeClient();
    return true;
  }

  async function attempt(batch: readonly Entry[], signal: AbortSignal): Promise<SendResult> {
    try {
      return await upload(batch, signal);
    } catch (error) {
      return classify(error, destination, clock.now());
    }
  }

  async function upload(batch: readonly Entry[], signal: AbortSignal): Promise<SendResult> {
    const rows = batch.map(({ record }) => encodeRow(record));
    const bytes = Buffer.byteLength(JSON.stringify(rows));
    if (rows.length > mostRows || (bytes > mostBytes && rows.length > 0)) {
      const reason = `A batch of ${rows.length} rows and ${bytes} bytes is over the ${mostRows} rows and ${mostBytes} bytes that one call takes; it is sent in smaller ones.`;
      return rejected('too-large', 'batch-too-large', reason);
    }
    await fetchToken(signal);
    await deadlines.run('upload', waits.uploadMs, [signal], (abortSignal) =>
      client.upload(ruleId, streamName, rows, { maxConcurrency: 1, abortSignal }),
    );
    // Called off while nothing was failing, `upload()` resolves all the same, whatever it had sent.
    if (signal.aborted)
      return retry('transient', 'aborted', 'The send was called off before an answer came; it is sent again.');
    return { kind: 'delivered' };
  }

  /** The role, the rule and the stream are judged before the body is: an empty list is enough, and writes nothing. */
  async function postNothing(signal: AbortSignal): Promise<CheckResult> {
    await fetchToken(signal);
    const { status, bodyAsText } = await deadlines.run('check', waits.uploadMs, [signal], (abortSignal) =>
      client.pipeline.sendRequest(
        httpClient,
        createPipelineRequest({
          url: `${endpoint.replace(/\/$/, '')}/dataCollectionRules/${encodeURIComponent(ruleId)}/streams/${encodeURIComponent(streamName)}?api-version=2023-01-01`,
          method: 'POST',
          body: '[]',
          headers: createHttpHeaders({ 'content-type': 'application/json', 'content-encoding': 'gzip' }),
          abortSignal,
        }),
      ),
    );
    const said = (bodyAsText ?? '').replace(/\s+/g, ' ').slice(0, 1000);
    const { kind, code, reason } = httpFailure(status, { retryAfterMs: null, message: said }, destination);
    // What is wrong with an empty list is nothing that a row would meet.
    if (status === 204 || (status === 400 && kind === 'rejected')) {
      return { ok: true, code: 'ok', detail: `${destination.name} takes rows of this VM.` };
    }
    return { ok: false, code, detail: reason, said };
  }

  return {
    ...logAnalyticsShape,
    async send(batch, signal) {
      const result = await attempt(batch, signal);
      const isRefused = result.kind === 'retry' && result.code === 'http-401';
      return isRefused && (await replaceToken(signal)) ? await attempt(batch, signal) : result;
    },
    async check(signal) {
      try {
        return await postNothing(signal);
      } catch (error) {
        const { code, reason } = classify(error, destination, clock.now());
        return { ok: false, code, detail: reason };
      }
    },
    async close() {
      // Nothing is held: idle sockets of the SDK's agent keep no process alive.
    },
    deadlines,
  };
}
