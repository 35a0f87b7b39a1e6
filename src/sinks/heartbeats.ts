import type { TokenCredential } from '@azure/identity';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { HeartbeatSender } from '../heartbeat/sender.ts';
import { destinationOf as hubOf } from './event-hubs/config.ts';
import { destinationOf as tableOf } from './log-analytics/config.ts';

/** A place that heartbeats go to. */
export interface HeartbeatKind extends Pick<HeartbeatSender, 'name'> {
  /** The sink with the same destination. */
  readonly sink: string;
  /** Loads its libraries. */
  readonly open: (around: { readonly credential: TokenCredential; readonly clock: Clock }) => Promise<HeartbeatSender>;
}

/** Those that this configuration asks for. */
export function heartbeatSenders({ heartbeat, sinks }: Config): readonly HeartbeatKind[] {
  const { streamName, eventHubs: alsoToHub } = heartbeat;
  const { eventHubs, logAnalytics } = sinks;
  const kinds: HeartbeatKind[] = [];
  if (logAnalytics) {
    const config = { ...logAnalytics, streamName };
    const open: HeartbeatKind['open'] = async (around) =>
      (await import('./log-analytics/heartbeat.ts')).createTableSender({ config, ...around });
    kinds.push({ name: tableOf(config).name, sink: 'log-analytics', open });
  }
  if (alsoToHub && eventHubs) {
    const open: HeartbeatKind['open'] = async (around) =>
      (await import('./event-hubs/heartbeat.ts')).createHubSender({ config: eventHubs, ...around });
    kinds.push({ name: hubOf(eventHubs).name, sink: 'event-hubs', open });
  }
  return kinds;
}
