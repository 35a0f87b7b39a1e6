import type { TokenCredential } from '@azure/identity';
import { boundedHttpClient } from '../../azure/bounded-http.ts';
import { answerMs, createDeadlines } from '../../azure/deadline.ts';
import { classify } from '../../azure/errors.ts';
import { fetchToken } from '../../azure/token.ts';
import type { Clock } from '../../clock.ts';
import { heartbeatRow } from '../../heartbeat/row.ts';
import type { HeartbeatSender } from '../../heartbeat/sender.ts';
import { createIngestionClient } from './client.ts';
import { monitorScope } from './clouds.ts';
import { destinationOf, hostOf, type LogAnalyticsConfig } from './config.ts';

const tokenMs = 20_000;

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
  const scope = monitorScope(hostOf(endpoint));
  const destination = destinationOf(config);
  const deadlines = createDeadlines(destination.name);
  const client = createIngestionClient(config, credential, boundedHttpClient());
  return {
    name: destination.name,
    async send(facts, signal) {
      try {
        await fetchToken({ credential, scope }, deadlines, tokenMs, [signal]);
        await deadlines.run('upload', answerMs, [signal], (abortSignal) =>
          client.upload(ruleId, streamName, [heartbeatRow(facts)], { maxConcurrency: 1, abortSignal }),
        );
        return null;
      } catch (error) {
        return classify(error, destination, clock.now());
      }
    },
  };
}
