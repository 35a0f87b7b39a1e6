import type { RecordContext } from './describe.ts';
import type { HostImpact } from './impact.ts';
import type { Moment } from './moment.ts';
import type { IsoTime } from './record.ts';
import type { EventsDocument, HostEvidence } from './scheduled-event.ts';
import type { Scope } from './scope.ts';
import type { Sighting } from './state.ts';

/** An observation compared with the state before it: everything that decides what its events did. */
export interface DecisionContext extends RecordContext {
  /** Null: the same document as before. */
  readonly document: EventsDocument | null;
  readonly moment: Moment;
  /** `Date` of the answer, else our own clock corrected by the last known offset. */
  readonly azureTime: IsoTime;
  readonly incarnation: number;
  /** The smallest step by which it has grown before. */
  readonly incarnationStep: number;
  readonly host: HostEvidence;
  /** The last valid document before this one. */
  readonly previous: Sighting;
  /** Too long since the previous document, another boot, or no previous document. */
  readonly gap: boolean;
  /** Entries without a readable EventId in this document. */
  readonly unreadable: number;
  /** The previous document had more of them: a new event may have been one of them. */
  readonly wasHidden: boolean;
  // assumption: imds-incarnation-counts
  /** The incarnation went backwards in this document or less than five minutes before. */
  readonly reset: boolean;
  /** Around a reset, and while Scheduled Events is being enabled, the list may be incomplete. */
  readonly settling: boolean;
  /** The machine has just booted and may be on another host: an event that is new here may be older. */
  readonly mayHaveMoved: boolean;
  readonly impact: HostImpact;
  readonly scope: Scope;
  readonly gapAfterMs: number;
  readonly approved: ReadonlySet<string>;
  /** Of the newest record before this observation. */
  readonly position: number;
}
