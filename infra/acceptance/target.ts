import type { AccessToken } from '@azure/identity';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import type { StepContext } from './step.ts';

/**
 * Where the scenarios take place: a subscription, or the simulator (`--against simulator`). The steps of the phases `events`, `read` and
 * `refusals` know only this, and are therefore the same for both.
 */
export interface Target {
  readonly kind: 'azure' | 'simulator';
  readonly pace: Pace;
  /** The VMs on which the bridge runs. */
  machines(): Promise<readonly Machine[]>;
  /** Does to a VM what a user or Azure does. Resolves when the request is accepted, not when the event has ended. */
  request(operation: Operation, machine: Machine, options?: RequestOptions): Promise<void>;
  /** Starts `scheduled-events-bridge record` on the VM; it survives a restart of the VM. */
  startRecording(machine: Machine): Promise<void>;
  /** The text of the recording so far. Rejects while the VM cannot be reached, and for good when it is deleted. */
  readRecording(machine: Machine): Promise<string>;
  /** Stops it, and returns the text of the recording (`src/recording/format.ts`). */
  stopRecording(machine: Machine): Promise<string>;
  /** `scheduled-events-bridge approve` on the VM. */
  approve(machine: Machine, eventId: string): Promise<void>;
  /** Runs the bridge's command on the VM, and returns what it printed and its exit code. */
  runBridge(machine: Machine, args: readonly string[]): Promise<{ readonly exitCode: number; readonly stdout: string }>;
  /** Every record that the event hub holds since that time, with the time at which it was enqueued. */
  readHub(since: Date): Promise<readonly EnqueuedRecord[]>;
  /** Runs a query over the tables and stored functions. Rejects with the message of the service, also when it has only a part of the result. */
  query(kql: string): Promise<QueryResult>;
  /** Changes a condition so that a destination refuses, and returns how to change it back. Rejects if it does not refuse after all. */
  breakDestination(fault: DestinationFault): Promise<() => Promise<void>>;
  /** Where records go, for requests that the bridge itself would never send. */
  destinations(): Promise<Destinations>;
  close(): Promise<void>;
}

/** How fast a target acts: steps wait accordingly. */
export interface Pace {
  /** Within minutes, as Azure, or within seconds, as the simulator. */
  readonly like: 'azure' | 'simulator';
  /** The longest that a step waits for something, in minutes. */
  readonly mostMinutes: number;
}
export const paceOfAzure: Pace = { like: 'azure', mostMinutes: Number.POSITIVE_INFINITY };
/** A bridge sends its first heartbeat within a minute. */
export const paceOfSimulator: Pace = { like: 'simulator', mostMinutes: 1.5 };

/** Makes a target at the start of the run. What it needs of the steps (`found`) it reads when it is used. */
export type CreateTarget = (context: Pick<StepContext, 'run' | 'az' | 'found' | 'say'>) => Target;

export interface Machine {
  readonly name: string;
  readonly role: 'single' | 'uniform' | 'flexible' | 'spot' | 'windows';
  readonly os: 'linux' | 'windows';
  /** Name of its scale set; null for one outside of any. */
  readonly scaleSet: string | null;
}

/** `start`: starts a VM again that was deallocated or evicted. */
export type Operation = 'restart' | 'redeploy' | 'evict' | 'delete-instance' | 'deallocate' | 'start';

export interface RequestOptions {
  /** The event will be approved. The simulator shortens the notice of an event that is not. */
  readonly approvalFollows?: boolean;
}

/** `…-role-removed`: the identity of the VMs loses its role. `throttled`: the data collection rule answers 429. */
export type DestinationFault = 'hub-role-removed' | 'rule-role-removed' | 'throttled';

/** A record with what the hub keeps beside it. */
export interface EnqueuedRecord {
  readonly record: LifecycleRecord;
  readonly enqueuedAt: Date;
  readonly partitionId: string;
  readonly partitionKey: string | null;
  readonly messageId: unknown;
  readonly correlationId: unknown;
  readonly contentType: string | null;
  /** Application properties: the attributes of the CloudEvent. */
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Values as JSON: times as ISO 8601 with seven digits, dynamic as what it holds. */
export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** Addresses of the destinations, and tokens for them. */
export interface Destinations {
  readonly logs: {
    /** `https://…`, without a path. */
    readonly endpoint: string;
    readonly ruleId: string;
    readonly streamName: string;
  };
  readonly hub: {
    /** For requests over HTTPS: `https://…`, without a path. */
    readonly endpoint: string;
    readonly eventHubName: string;
    readonly fullyQualifiedNamespace: string;
    /** For AMQP without a token; null where one is needed. */
    readonly connectionString: string | null;
  };
  /** PEM of an authority to trust beside those of Node.js; null without one. */
  readonly ca: string | null;
  token(audience: 'hub' | 'logs'): Promise<AccessToken>;
}
