import type { EventHubsFault } from '../event-hubs/faults.ts';
import type { Fault as ImdsFault } from '../imds/faults.ts';
import type { ImdsTarget } from '../imds/server.ts';
import type { VmDefinition } from '../imds/vm.ts';
import type { LogsFault } from '../logs-ingestion/server.ts';

/**
 * What Azure does to a VM or a group of them, as data: timed steps with the timing of the real thing
 * (https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events) and a speed at which it can be watched.
 */
export interface Scenario {
  readonly name: string;
  /** One sentence for the list of scenarios. */
  readonly description: string;
  /** How many times faster than real it is shown in a demonstration. */
  readonly demoSpeed: number;
  /** What is special about the VMs that it is about, by the numbers that its steps call them. Default: one VM, nothing special. */
  readonly vms?: readonly Omit<VmDefinition, 'name'>[];
  readonly steps: readonly Step[];
}

/** `afterSeconds` counts from the step before, in real time. 0: at once, so that no poll comes in between. */
export type Step = { readonly afterSeconds: number } & (Announce | Change | Happening | Disturbance);

/** An event appears. */
export interface Announce {
  readonly do: 'schedule';
  /** The scenario's own name for the event, by which later steps mean it. */
  readonly event: string;
  /** A word of the documents, or one that a later version may bring. */
  readonly eventType: string;
  /** From this step to NotBefore, in real time; null: the event is Started when it appears. */
  readonly noticeSeconds: number | null;
  /** The VMs that it is about. Default: number 0. */
  readonly on?: readonly number[];
  /** Default: 5 for a Freeze, else -1 (unknown). */
  readonly durationSeconds?: number;
  readonly eventSource?: 'Platform' | 'User';
  readonly description?: string;
}

/** An event becomes another. */
export interface Change {
  readonly do: 'change';
  readonly event: string;
  readonly noticeSeconds?: number;
  readonly eventType?: string;
  readonly durationSeconds?: number;
  readonly on?: readonly number[];
}

export type Happening =
  /** Ends its waiting early when the event is approved. */
  | { readonly do: 'start'; readonly event: string }
  | { readonly do: 'remove'; readonly event: string }
  /** VM number `by` approves the event. */
  | { readonly do: 'approve'; readonly event: string; readonly by: number }
  | ImpactStep;

/** The effect of an event on VMs (default: number 0), if it has started and was not canceled meanwhile. */
export interface ImpactStep {
  readonly do: 'impact';
  readonly event: string;
  readonly kind: ImpactKind;
  readonly on?: readonly number[];
  readonly seconds: number;
}

export type ImpactKind = 'freeze' | 'restart';

export type Disturbance =
  /** As after 24 hours without a poll: document numbers begin again, and the next first answer takes that long. */
  | { readonly do: 'switch-off'; readonly firstCallSeconds: number }
  /** From now on, until null. */
  | { readonly do: 'fault'; readonly at: ImdsTarget; readonly fault: ImdsFault | null }
  | { readonly do: 'fault'; readonly at: 'eventHubs'; readonly fault: EventHubsFault | null }
  | { readonly do: 'fault'; readonly at: 'logAnalytics'; readonly fault: LogsFault | null };

export const minute = 60;
export const hour = 60 * minute;
export const day = 24 * hour;
