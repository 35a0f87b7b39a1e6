import type { Foldable } from '../../../lifecycle/fold.ts';
import type { LifecycleRecord } from '../../../lifecycle/record.ts';

export type FleetRecord = Foldable & Pick<LifecycleRecord, 'eventType' | 'vmName' | 'observerAffected'>;

/** One thing that happened to the fleet. `at`: seconds since the show began. */
export type FleetMoment = { readonly at: number } & FleetHappening;

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
