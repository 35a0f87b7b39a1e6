import type { TokenCredential } from '@azure/identity';
import type * as v from 'valibot';
import type { ReplaceableCredential } from '../azure/credential.ts';
import type { SinkCheckContext } from '../check/context.ts';
import type { Finding } from '../check/finding.ts';
import type { Clock } from '../clock.ts';
import type { HeartbeatSender } from '../heartbeat/sender.ts';
import type { Sink } from './sink.ts';

/** What the relay needs to know of a sink before it sends: known without its libraries. */
export type SinkShape = Pick<Sink, 'name' | 'batchBy' | 'inFlight' | 'limits'>;

export interface SinkOptions {
  readonly credential: ReplaceableCredential;
  readonly clock: Clock;
  /** An event that affects this VM is about to start: connections are opened, and kept until it has. */
  readonly startDue: () => boolean;
}

/** Everything that the rest of the program knows about one sink. `Section`: its section of the configuration, if it is configured. */
export interface SinkDescriptor<Key extends string = string, Section = unknown> {
  /** Its section of the configuration is `sinks.<key>`, and its findings begin with it. */
  readonly key: Key;
  /** What that section may contain; null where it is not configured. */
  readonly section: v.GenericSchema<unknown, Section | null>;
  /** Of its deliveries in the outbox, its metrics, its process and its folder: changing it makes a new sink. */
  readonly name: string;
  /** For sentences. */
  readonly label: string;
  shape(section: Section): SinkShape;
  /** Its libraries may hang, throw asynchronously or take gigabytes: it gets a separate process. */
  readonly isIsolated: boolean;
  /** What it sends to, for sentences. Names no secret. */
  destination(section: Section): string;
  /** How an operator finds a record there; for the line of `emit-test` about it. */
  find(record: { readonly eventId: string; readonly recordId: string }): string;
  /** Codes of failures that only this sink answers and that last until a person acts, beside those of HTTP. */
  readonly refusals?: readonly string[];
  /** Scopes of the tokens that it will ask for: fetched at start and kept fresh, so that no send waits for IMDS. */
  tokenScopes(section: Section): readonly string[];
  /** How long a record that is not urgent may wait on purpose before it is sent. */
  holdSeconds?(section: Section): number;
  /** After how long without a send its process may end; at least a minute. */
  idleSeconds?(section: Section): number;
  /** Loads its libraries. Only where it is configured. */
  open(section: Section, options: SinkOptions): Promise<Sink>;
  /** Null or absent: no heartbeat goes there. */
  heartbeat?(section: Section, settings: HeartbeatSettings): HeartbeatTarget | null;
  readonly check: SinkCheck<Key, Section>;
}

/** How `check` verifies a sink. */
export interface SinkCheck<Key extends string, Section> {
  /** Left out by `--offline`. */
  readonly needsNetwork: boolean;
  /** What each finding verifies. Names are stable: scripts read them from `--json`. */
  readonly findings: Readonly<Record<`${Key}.${string}`, string>>;
  /** Exit code of a problem; null: that of a wrong configuration. */
  readonly exit: { readonly code: number; readonly meaning: string } | null;
  run(section: Section, context: SinkCheckContext): Promise<readonly Finding<`${Key}.${string}`>[]>;
}

/** `heartbeat` of the configuration. */
export interface HeartbeatSettings {
  readonly streamName: string;
  readonly eventHubs: boolean;
}

/** A destination of heartbeats. */
export interface HeartbeatTarget extends Pick<HeartbeatSender, 'name'> {
  /** Loads its libraries. */
  open(options: { readonly credential: TokenCredential; readonly clock: Clock }): Promise<HeartbeatSender>;
}
