import type { Phase } from '../../../src/lifecycle/record.ts';
import type { Machine, Operation } from '../target.ts';

/** What a user or Azure does to one VM, and what happens then according to Microsoft's documents: written down before it is played. */
export interface Scenario {
  /** Its step is `scenario-<id>`. */
  readonly id: string;
  /** What is done, as a phrase. */
  readonly title: string;
  readonly role: Machine['role'];
  readonly operation: Operation;
  /** Who approves the event as soon as the hub has its first record: the VM itself, or another one of its scale set. Null: no one. */
  readonly approvedBy: 'self' | 'sibling' | null;
  /** Type and source of the event. Null: the documents name no event for this operation, and what happens is only recorded. */
  readonly event: { readonly type: string; readonly source: 'User' | 'Platform' | null } | null;
  /** The least notice that is documented, in seconds; null without an event. */
  readonly noticeSeconds: number | null;
  readonly timeline: readonly ExpectedStep[];
  /** The VM after the event. One that is stopped is started again, so that its recording can be read. */
  readonly afterwards: 'running' | 'stopped' | 'deleted';
  /** Name of the same situation in the simulator (`src/azure-simulator/scenarios/`); null: the VM only stops there. */
  readonly simulated: string | null;
  /** Expected duration. */
  readonly minutes: number;
  /** After that the engine stops to wait, and reports what is missing. */
  readonly longestMinutes: number;
  /** The document that the timeline comes from. */
  readonly source: string;
}

/** A record that the bridge sends in this situation. `Updated` may come between any two of them. */
export interface ExpectedStep {
  readonly phase: Phase;
  /** False: it may be missing, because the VM may be gone before it can send it. */
  readonly required: boolean;
  readonly within: TimeLimits;
}

/** Earliest and latest time of a record, in seconds after something that happened before. The latest is generous: a later one is an error. */
export interface TimeLimits {
  readonly after: 'request' | 'notBefore' | 'approval' | 'previous';
  readonly earliest: number;
  readonly latest: number;
}
