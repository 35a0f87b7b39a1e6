import type { LifecycleRecord } from '../../lifecycle/record.ts';
import type { At } from './perform.ts';

/** What a record says that the demo shows, and by which it is told from others. */
export type Told = Pick<
  LifecycleRecord,
  'recordId' | 'eventId' | 'eventType' | 'phase' | 'evidence' | 'notBefore' | 'noticeSeconds' | 'observedPauseMs'
>;

/** One thing that happened. */
export type Moment = At<Happening>;

export type Happening =
  /** Azure changed its document. */
  | {
      readonly kind: 'azure';
      readonly eventId: string;
      readonly eventType: string;
      readonly step: 'scheduled' | 'started' | 'updated' | 'removed';
      readonly incarnation: number;
    }
  /** A record was read back from the event hub; `notBefore` as seconds since the show began. */
  | { readonly kind: 'hub'; readonly record: Told; readonly notBefore: number | null }
  /** A row stands in the table. */
  | { readonly kind: 'table'; readonly row: Pick<Told, 'recordId' | 'eventId' | 'eventType' | 'phase'> }
  | { readonly kind: 'bridge'; readonly state: BridgeState }
  /** The event hub refuses connections, or takes them again. */
  | { readonly kind: 'outage'; readonly begins: boolean }
  /** Records that wait in the outbox for the event hub. */
  | { readonly kind: 'waiting'; readonly records: number };

/** `frozen` by SIGSTOP, `killed` by `kill -9`; `running` from its first poll. */
export type BridgeState = 'starting' | 'running' | 'frozen' | 'killed';
