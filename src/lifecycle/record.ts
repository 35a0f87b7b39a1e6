import type { Observer } from './scheduled-event.ts';

/** Ours, not Azure's: Azure only ever says Scheduled and Started. `Completed`, `Canceled` and `Ended` all mean "recover now". */
export const phases = [
  'Scheduled',
  'Updated',
  'Started',
  'Completed',
  'Canceled',
  'Ended',
  'Approved',
  'Snapshot',
] as const;
export type Phase = (typeof phases)[number];

/** Why we say that an event ended, in the order in which a record lists them. */
export const endEvidence = [
  'said-by-azure',
  'boot-id-changed',
  'incarnation-reset',
  'physical-host-changed',
  'pause-observed',
  'reboot-became-freeze',
  'left-after-started',
  'left-before-not-before',
  'incarnation-gap',
  'observation-gap',
  'not-before-passed',
  'not-before-near',
  'not-before-unknown',
  'approved',
  'superseded',
  'status-went-back',
  'status-unknown',
  'unreadable-entry',
  'impact-ambiguous',
] as const;

/** Why we say any other step, in the order in which a record lists them. */
export const stepEvidence = [
  'started-without-notice',
  'said-by-azure',
  'observation-gap',
  'present-at-first-look',
  'reappeared',
  'became-affected',
  'left-resources',
  'status-went-back',
  'status-unknown',
  'notBefore-earlier',
  'notBefore-later',
  'eventType-changed',
  'affectedResources-changed',
  'durationSeconds-changed',
] as const;

export type EndEvidence = (typeof endEvidence)[number];
export type StepEvidence = (typeof stepEvidence)[number];

/** What became of an approval: the evidence of an `Approved` record. */
export const approvalEvidence = ['accepted', 'refused', 'outcome-unknown'] as const;

/** Why a `Snapshot` is made. */
export const snapshotEvidence = ['new-stream'] as const;

/** One field that an `Updated` changed. Values over 4 KB are cut. */
export interface Change {
  readonly field: 'notBefore' | 'eventType' | 'affectedResources' | 'durationSeconds' | 'eventStatus';
  readonly from: unknown;
  readonly to: unknown;
}

/** ISO 8601 in UTC with milliseconds: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export type IsoTime = string;

/** `1.1`; the minor grows when a field is added. Fields are only ever added. */
export const schemaVersion = '1.1';

/**
 * The immutable, published fact of one step in the life of a scheduled event, as one observer saw it.
 * On Event Hubs as it stands here, in Log Analytics as the columns of `bicep/schema/columns.json`.
 * Every key is always present; unknown is null, never an empty string.
 */
export interface LifecycleRecord extends Observer {
  /** Same step and observer: always the same id. */
  readonly recordId: string;
  /** Same step of the same event, for every observer: consumers fold the copies of several VMs by it. */
  readonly transitionId: string;
  readonly schemaVersion: string;
  readonly eventId: string;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly eventStatus: string | null;
  readonly resourceType: string | null;
  /** At most 4 KB. */
  readonly description: string | null;
  /** `Resources`; over 16 KB cut, this VM kept first. */
  readonly affectedResources: readonly string[];
  /** Before any cut. */
  readonly affectedResourceCount: number;
  /** The last one given: Started blanks it on the wire, the record remembers it. */
  readonly notBefore: IsoTime | null;
  /** Raw: -1 stays -1. */
  readonly durationSeconds: number | null;
  /** Of the document that showed the step. */
  readonly documentIncarnation: number;
  readonly imdsApiVersion: string;
  /** The event as IMDS gave it last; over 16 KB its `Resources` are cut. */
  readonly rawEvent: Readonly<Record<string, unknown>>;
  readonly phase: Phase;
  readonly evidence: readonly string[];
  readonly changes: readonly Change[];
  /** 1, 2, 3 … per event, observer and stream. Numbers of records that were sent but could not be stored are used again after a kill. */
  readonly sequence: number;
  /** Random, created with the state file: a new one means that state was lost. */
  readonly streamId: string;
  /** 1, 2, 3 … over all records of a stream: a gap is a loss or a dead letter. */
  readonly position: number;
  /** How often this observer had already recorded this same step: usually 0. */
  readonly repeat: number;
  /** When this VM saw the step, or decided it. */
  readonly observedAt: IsoTime;
  /** Of an event that joined us later: when our name joined. */
  readonly firstSeenAt: IsoTime | null;
  readonly startedAt: IsoTime | null;
  /** False: it started within a gap, so `startedAt` is the latest possible time. Null: it has not started. */
  readonly startSeen: boolean | null;
  /**
   * The actual warning: from the first observation to the earliest of a pause, the last observation before an outage, the start and
   * `notBefore`, by Azure's time. Null when polls were missed at its start or end.
   */
  readonly noticeSeconds: number | null;
  /** How long Azure listed the event as Started. Not the interruption. Null across a gap. */
  readonly startedSeconds: number | null;
  /** Longest pause this VM measured on itself while the impact of this event was possible. Each pause is one event's. */
  readonly observedPauseMs: number | null;
  /** All such pauses together. */
  readonly observedPauseTotalMs: number | null;
  /** Across a reboot: last poll before it to first poll after it; null if no clock shows it. After a power cut the poll before it may have been up to 5 s later than known. */
  readonly observedOutageSeconds: number | null;
  readonly bootId: string | null;
  readonly physicalHost: string | null;
  /** The physical host on which the event found us, where it is another one than `physicalHost`. */
  readonly previousPhysicalHost: string | null;
  readonly clockOffsetSeconds: number | null;
  /** This VM is in `affectedResources`. */
  readonly observerAffected: boolean;
  /** Meets Azure's own preview feed. Lower case. */
  readonly scheduledEventResourceId: string | null;
  /** Of a `Snapshot`: the EventIds that had not ended when this stream began. Null in every other record. */
  readonly eventsInSight: readonly string[] | null;
  /** Written by `emit-test`: shipped functions and alerts leave it out. */
  readonly isTest: boolean;
  readonly bridgeVersion: string;
}
