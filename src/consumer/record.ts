import type { Phase as KnownPhase, LifecycleRecord as WrittenRecord } from '../lifecycle/record.ts';

/** An open set: an application ignores phases that it does not know. */
export type Phase = KnownPhase | (string & {});

/** What one VM reports of one step of one scheduled event: every record of schema version 1.x. */
export interface LifecycleRecord extends Omit<WrittenRecord, 'phase' | 'changes' | 'startSeen' | 'eventsInSight'> {
  readonly phase: Phase;
  /** What an `Updated` changed. */
  readonly changes: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
  /** False: it started while the bridge was not polling, so `startedAt` is the latest possible time. Missing in 1.0. */
  readonly startSeen?: boolean | null;
  /** Of a `Snapshot`: the ids of the events that had not ended when this stream began. Missing in 1.0. */
  readonly eventsInSight?: readonly string[] | null;
}

/** What a bridge reports of itself, every hour unless configured otherwise. Fields that are not listed here are in the schema. */
export interface Heartbeat {
  readonly timeGenerated: string;
  readonly vmId: string;
  readonly vmName: string;
  readonly resourceId: string | null;
  /** `starting`, `running` or `stopping`. */
  readonly state: string;
  readonly bridgeVersion: string;
  readonly streamId: string;
  /** Position of the newest record of the stream. */
  readonly lastPosition: number;
  readonly openEvents: number;
  readonly isTest: boolean;
  /** Missing in heartbeats of 0.1.0. */
  readonly intervalMinutes?: number;
  readonly [field: string]: unknown;
}

/** Completed, Canceled and Ended: no further impact comes without a new event. */
export const isEnd = ({ phase }: Pick<LifecycleRecord, 'phase'>): boolean =>
  phase === 'Completed' || phase === 'Canceled' || phase === 'Ended';

/**
 * When the observer saw the step, by Azure's clock, in milliseconds since 1970: the clocks of two VMs may be minutes apart.
 * An offset below two seconds is noise, because Azure's clock is known in whole seconds.
 */
export function azureTime({
  observedAt,
  clockOffsetSeconds,
}: Pick<LifecycleRecord, 'observedAt' | 'clockOffsetSeconds'>): number {
  const offset = clockOffsetSeconds ?? 0;
  return Date.parse(observedAt) + (Math.abs(offset) < 2 ? 0 : 1000 * offset);
}
