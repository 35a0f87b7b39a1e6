import type { Clock } from '../clock.ts';
import type { System } from './system.ts';

/** A configuration that was read and checked. `stateDirectory` is what it makes of that option. */
export type CheckedConfiguration =
  | { readonly problems: readonly string[]; readonly stateDirectory?: never }
  | { readonly stateDirectory: string; readonly problems?: never };

/** Whether the running service answered, which proves that it can write its state. `message` completes "because …". */
export type PingResult =
  | { readonly ok: true; readonly reach: Reach }
  | { readonly ok: false; readonly message: string };

/**
 * Whether the running service reaches the metadata service, as it reports itself: a firewall may admit root and not its account.
 * `waiting`: the first call, of up to two minutes, has not ended. `unreported`: its version has no such report.
 */
export type Reach =
  | { readonly kind: 'connected' | 'waiting' | 'unreported' }
  /** One sentence, with the address. */
  | { readonly kind: 'no-connection'; readonly reason: string };

/** The machine to install on, and what the installer takes from around it; a test gives its own. */
export interface Machine {
  readonly system: System;
  readonly clock: Clock;
  /** Prints one sentence for the operator. */
  readonly say: (sentence: string) => void;
  /** Reads a configuration file as the service would. */
  readonly checkConfiguration: (file: string) => CheckedConfiguration;
  /** Has the service that runs write something into its state, and answer. */
  readonly ping: (stateDirectory: string) => Promise<PingResult>;
}
