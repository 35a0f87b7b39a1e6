import type { TokenCredential } from '@azure/identity';
import { eventHubsScope, monitorScope } from '../azure/clouds.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { createEventHubsSink } from './event-hubs/sink.ts';
import { hostOf } from './log-analytics/config.ts';
import { createLogAnalyticsSink } from './log-analytics/sink.ts';
import type { Sink } from './sink.ts';
import { createStdoutSink } from './stdout.ts';

export interface SinkSurroundings {
  readonly credential: TokenCredential;
  readonly clock: Clock;
  /** An event that affects this VM is Started or less than 20 min away: connections are opened and kept. */
  readonly near: () => boolean;
}

/**
 * ADD A SINK HERE: one line, and its section in `config.ts`. Start from `stdout.ts`, the worked example; the suite in
 * `test/sinks/contract.ts` says whether it is one.
 */
export function createSinks(config: Config['sinks'], around: SinkSurroundings): readonly Sink[] {
  const { eventHubs, logAnalytics, stdout } = config;
  return [
    eventHubs && createEventHubsSink({ config: eventHubs, ...around }),
    logAnalytics && createLogAnalyticsSink({ config: logAnalytics, ...around }),
    stdout && createStdoutSink(),
  ].filter((sink) => sink !== null);
}

/** Scopes of the tokens that these sinks will ask for: fetched at start and kept fresh, so that no send waits for IMDS. */
export function tokenScopes({ eventHubs, logAnalytics }: Config['sinks']): readonly string[] {
  return [
    ...(eventHubs && eventHubs.connectionString === null ? [eventHubsScope] : []),
    ...(logAnalytics ? [monitorScope(hostOf(logAnalytics.endpoint))] : []),
  ];
}
