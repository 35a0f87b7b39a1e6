import type { Foldable } from '../../../lifecycle/fold.ts';
import type { LifecycleRecord } from '../../../lifecycle/record.ts';
import type { At } from '../perform.ts';

export type FleetRecord = Foldable & Pick<LifecycleRecord, 'eventType' | 'vmName' | 'observerAffected'>;

/** One thing that happened to the fleet. */
export type FleetMoment = At<FleetHappening>;

export type FleetHappening =
  /** So many VMs have a bridge that looks. */
  | { readonly kind: 'looking'; readonly vms: number }
  /** Azure changed its document. */
  | {
      readonly kind: 'azure';
      readonly eventId: string;
      readonly eventType: string;
      readonly step: 'scheduled' | 'started' | 'updated' | 'removed';
      readonly resources: readonly string[];
      readonly incarnation: number;
    }
  /** A record was read back from the event hub. */
  | { readonly kind: 'hub'; readonly record: FleetRecord }
  /** A row stands in the table. */
  | { readonly kind: 'table'; readonly recordId: string };
