import type { TokenCredential } from '@azure/identity';
import { LogsIngestionClient } from '@azure/monitor-ingestion';
import { boundedHttpClient } from '../../azure/bounded-http.ts';
import { createDeadlines } from '../../azure/deadline.ts';
import { classify } from '../../azure/errors.ts';
import type { Clock } from '../../clock.ts';
import { heartbeatRow } from '../../heartbeat/row.ts';
import type { HeartbeatSender } from '../../heartbeat/sender.ts';
import { monitorAudience, monitorScope } from './clouds.ts';
import { destinationOf, hostOf, type LogAnalyticsConfig } from './config.ts';

const tokenMs = 20_000;
const uploadMs = 15_000;

/** To a stream of the same data collection rule as the records. `config.streamName` is that of the heartbeats. */
export function createTableSender({
  config,
  credential,
  clock,
}: {
  readonly config: LogAnalyticsConfig;
  readonly credential: TokenCredential;
  readonly clock: Clock;
}): HeartbeatSender {
  const { endpoint, ruleId, streamName } = config;
  const host = hostOf(endpoint);
  const destination = destinationOf(config);
  const deadlines = createDeadlines(destination.name);
  const client = new LogsIngestionClient(endpoint, credential, {
    audience: monitorAudience(host),
    retryOptions: { maxRetries: 0 },
    httpClient: boundedHttpClient(),
  });
  return {
    name: destination.name,
    async send(facts, signal) {
      try {
        // Asked here although the SDK asks too: its own wait for a token has no end and ignores its signal.
        await deadlines.run('token', tokenMs, [signal], (abortSignal) =>
          credential.getToken(monitorScope(host), { abortSignal }),
        );
        await deadlines.run('upload', uploadMs, [signal], (abortSignal) =>
          client.upload(ruleId, streamName, [heartbeatRow(facts)], { maxConcurrency: 1, abortSignal }),
        );
        return null;
      } catch (error) {
        return classify(error, destination, clock.now());
      }
    },
  };
}
