import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline';
import { boundedHttpClient } from '../../azure/bounded-http.ts';
import type { ReplaceableCredential } from '../../azure/credential.ts';
import { answerMs, createDeadlines, type DeadlineCounts } from '../../azure/deadline.ts';
import { classify } from '../../azure/errors.ts';
import { aborted, failedCheck, rejected } from '../../azure/failure.ts';
import { statusFailure } from '../../azure/status-failure.ts';
import { fetchToken, retryWithNewToken } from '../../azure/token.ts';
import type { Clock } from '../../clock.ts';
import { oneLine } from '../../http/one-line.ts';
import { type CheckResult, type Entry, parsed, type SendResult, type Sink } from '../sink.ts';
import { createIngestionClient } from './client.ts';
import { monitorScope } from './clouds.ts';
import { destinationOf, hostOf, type LogAnalyticsConfig, logAnalyticsShape, mostBytes, mostRows } from './config.ts';
import { encodeRow, type Row } from './encode.ts';
import { statuses } from './statuses.ts';

export interface LogAnalyticsSinkOptions {
  readonly config: LogAnalyticsConfig;
  readonly credential: ReplaceableCredential;
  readonly clock: Clock;
  /** Deadlines, in ms. */
  readonly waits?: { readonly tokenMs: number; readonly uploadMs: number };
}

export interface LogAnalyticsSink extends Sink {
  readonly deadlines: DeadlineCounts;
}

const defaultWaits = { tokenMs: 20_000, uploadMs: answerMs };

// assumption: logs-accepted
/**
 * A stream of a data collection rule. One request per `upload()`, since with more the SDK can resolve with part of them
 * unsent; one `upload()` at a time, in order; its retries off, since it would sleep a `Retry-After` of an hour in the call.
 *
 * A 204 means accepted, not stored: what is lost behind it shows in the workspace's `DCRLogErrors` only.
 */
export function createLogAnalyticsSink(options: LogAnalyticsSinkOptions): LogAnalyticsSink {
  const { config, credential, clock, waits = defaultWaits } = options;
  const { endpoint, ruleId, streamName } = config;
  const scope = monitorScope(hostOf(endpoint));
  const destination = destinationOf(config);
  const deadlines = createDeadlines(destination.name);
  const httpClient = boundedHttpClient();
  let client = createIngestionClient(config, credential, httpClient);
  /** What the last request was signed with. */
  let token = '';

  async function authorize(signal: AbortSignal): Promise<void> {
    const current = await fetchToken({ credential, scope }, deadlines, waits.tokenMs, [signal]);
    // The client keeps its token for as long as that says it is valid, also where the service refuses it.
    if (current !== token) client = createIngestionClient(config, credential, httpClient);
    token = current;
  }

  async function attempt(batch: readonly Entry[], signal: AbortSignal): Promise<SendResult> {
    try {
      return await upload(batch, signal);
    } catch (error) {
      return classify(error, destination, clock.now());
    }
  }

  async function upload(batch: readonly Entry[], signal: AbortSignal): Promise<SendResult> {
    const rows = batch.map((entry) => encodeRow(parsed(entry).record));
    const excess = isWithinLimits(batch) ? null : excessOf(rows);
    if (excess !== null) return rejected('too-large', 'batch-too-large', excess);
    await authorize(signal);
    await deadlines.run('upload', waits.uploadMs, [signal], (abortSignal) =>
      client.upload(ruleId, streamName, rows, { maxConcurrency: 1, abortSignal }),
    );
    // Aborted while nothing was failing, `upload()` resolves anyway, whatever it had sent.
    return signal.aborted ? aborted : { kind: 'delivered' };
  }

  // assumption: logs-empty-list
  /** The role, the rule and the stream are judged before the body is: an empty list is enough, and writes nothing. */
  async function postNothing(signal: AbortSignal): Promise<CheckResult> {
    await authorize(signal);
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
    const said = oneLine(bodyAsText ?? '', 1000);
    const { kind, code, reason } = statusFailure(status, { retryAfterMs: null, message: said }, destination, statuses);
    // What is wrong with an empty list is nothing that a row would meet.
    if (status === 204 || (status === 400 && kind === 'rejected')) {
      return { ok: true, code: 'ok', detail: `${destination.name} takes rows of this VM.` };
    }
    return { ok: false, code, detail: reason, said };
  }

  return {
    ...logAnalyticsShape,
    send: (batch, signal) =>
      retryWithNewToken(
        'http-401',
        () => attempt(batch, signal),
        async () => credential.replace?.(scope, token, signal),
      ),
    async check(signal) {
      try {
        return await postNothing(signal);
      } catch (error) {
        return failedCheck(classify(error, destination, clock.now()));
      }
    },
    async close() {
      // Nothing is held: idle sockets of the SDK's agent keep no process alive.
    },
    deadlines,
  };
}

/** The rows of such a batch fit into one call, whatever is in them: to measure them is to encode them once more. */
function isWithinLimits(batch: readonly Entry[]): boolean {
  const { records, bytes } = logAnalyticsShape.limits;
  return batch.length <= records && batch.reduce((sum, { json }) => sum + json.length, 0) <= bytes;
}

/** Why one call does not take these rows; null where it does. */
function excessOf(rows: readonly Row[]): string | null {
  const bytes = Buffer.byteLength(JSON.stringify(rows));
  if (rows.length <= mostRows && bytes <= mostBytes) return null;
  return `A batch of ${rows.length} rows and ${bytes} bytes is over the ${mostRows} rows and ${mostBytes} bytes that one call takes; retrying in smaller batches.`;
}
