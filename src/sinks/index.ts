import { eventHubsScope, monitorScope } from '../azure/clouds.ts';
import type { ReplaceableCredential } from '../azure/credential.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { eventHubsShape, destinationOf as hubOf } from './event-hubs/config.ts';
import { hostOf, logAnalyticsShape, destinationOf as tableOf } from './log-analytics/config.ts';
import type { Sink } from './sink.ts';
import { createStdoutSink, stdoutShape } from './stdout/sink.ts';

export interface SinkSurroundings {
  readonly credential: ReplaceableCredential;
  readonly clock: Clock;
  /** An event that affects this VM is Started or less than 20 min away: connections are opened and kept. */
  readonly near: () => boolean;
}

/** What the relay has to know of a sink before it sends: known without its libraries. */
export type SinkShape = Pick<Sink, 'name' | 'batchBy' | 'inFlight' | 'limits'>;

type Sections = Config['sinks'];

/** A sink that there can be. */
export interface SinkKind {
  readonly shape: SinkShape;
  /** Its section of the configuration and no other: null where it is not configured. */
  readonly section: (sections: Sections) => Partial<Sections>;
  /** For sentences. */
  readonly destination: (sections: Sections) => string;
  /** It has libraries that may hang, throw out of turn or take gigabytes: it gets a process of its own. */
  readonly isIsolated: boolean;
  /** Loads its libraries. Only where it is configured. */
  readonly open: (sections: Sections, around: SinkSurroundings) => Promise<Sink>;
}

/**
 * ADD A SINK HERE: one row, and its section in `config.ts`. Start from `stdout/sink.ts`, the worked example; the suite in
 * `test/sinks/contract.ts` says whether it is one.
 */
export const sinkKinds: readonly SinkKind[] = [
  {
    shape: eventHubsShape,
    section: ({ eventHubs }) => ({ eventHubs }),
    destination: ({ eventHubs }) => (eventHubs ? hubOf(eventHubs).name : ''),
    isIsolated: true,
    async open({ eventHubs: config }, around) {
      const { createEventHubsSink } = await import('./event-hubs/sink.ts');
      return createEventHubsSink({ config: configured(config), ...around });
    },
  },
  {
    shape: logAnalyticsShape,
    section: ({ logAnalytics }) => ({ logAnalytics }),
    destination: ({ logAnalytics }) => (logAnalytics ? tableOf(logAnalytics).name : ''),
    isIsolated: true,
    async open({ logAnalytics: config }, around) {
      const { createLogAnalyticsSink } = await import('./log-analytics/sink.ts');
      return createLogAnalyticsSink({ config: configured(config), ...around });
    },
  },
  {
    shape: stdoutShape,
    section: ({ stdout }) => ({ stdout }),
    destination: () => 'standard output',
    isIsolated: false,
    open: async () => createStdoutSink(),
  },
];

/** Those that this configuration asks for. */
export const configuredSinks = (sections: Sections): readonly SinkKind[] =>
  sinkKinds.filter(({ section }) => Object.values(section(sections)).some((config) => config !== null));

function configured<T>(config: T | null): T {
  if (config === null) throw new Error('this sink is not configured');
  return config;
}

/** Scopes of the tokens that these sinks will ask for: fetched at start and kept fresh, so that no send waits for IMDS. */
export function tokenScopes({ eventHubs, logAnalytics }: Config['sinks']): readonly string[] {
  return [
    ...(eventHubs && eventHubs.connectionString === null ? [eventHubsScope] : []),
    ...(logAnalytics ? [monitorScope(hostOf(logAnalytics.endpoint))] : []),
  ];
}
