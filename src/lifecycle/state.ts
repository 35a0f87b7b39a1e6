import type { Moment } from './moment.ts';
import type { Observation } from './observation.ts';
import type { IsoTime } from './record.ts';
import type { HostEvidence, ScheduledEvent } from './scheduled-event.ts';

/**
 * All that the lifecycle remembers between two observations. Immutable: a transition that changes an event replaces its
 * `EventMemory`, so the outbox writes just the rows whose identity changed. Plain JSON throughout.
 */
export interface LifecycleState {
  readonly streamId: string;
  /** Position of the newest record: the next one is one more. */
  readonly position: number;
  /** When the last valid document was seen. Stored at most once a minute, so after a crash it may be older than the truth. */
  readonly lastDocumentAt: IsoTime | null;
  /** The same as a moment, stored with it. */
  readonly lastDocument: Moment | null;
  /** Of the last valid document. */
  readonly incarnation: number | null;
  // assumption: imds-incarnation-counts
  /** The smallest step by which the incarnation was seen to grow: some services count by more than one. */
  readonly incarnationStep: number | null;
  /** Of the machine, at the last valid document. */
  readonly bootId: string | null;
  readonly physicalHost: string | null;
  readonly clockOffsetSeconds: number | null;
  readonly imdsApiVersion: string | null;
  /** The last valid document held an entry without a readable EventId: for builds that do not know `unreadable`. */
  readonly hidden: boolean;
  /** How many entries without a readable EventId the last valid document held. */
  readonly unreadable: number;
  /** When the incarnation last went backwards. */
  readonly resetAt: IsoTime | null;
  readonly reset: Moment | null;
  /** The first document, or the first one after Scheduled Events was disabled: its list may be incomplete. */
  readonly enabled: Moment | null;
  /** The last boot after which the service may have been that of another host. */
  readonly elsewhere: Moment | null;
  /** What the machine measured since the last valid document. */
  readonly unbooked: Unbooked | null;
  /** This stream still has to publish its `Snapshot`. */
  readonly snapshotDue: boolean;
  /** By lower-case EventId; open ones and, for 30 days, ended ones. */
  readonly events: ReadonlyMap<string, EventMemory>;
  /** Observations made before the observer was known, oldest first. */
  readonly undecided: readonly Observation[];
  /** EventIds (lower case) that this bridge approved or was about to approve. */
  readonly approved: ReadonlySet<string>;
}

/** What the machine measured while no document was received. Booked with the next one. */
export interface Unbooked {
  readonly tick: HostEvidence['tick'];
  readonly wallStepMs: number;
  /** When the pause in `tick` was over. */
  readonly pausedUntil: Moment | null;
  /** The first poll after a boot. */
  readonly booted: Moment | null;
  /** An outage that no event explains yet: a failure of the hardware may be listed minutes after the boot. */
  readonly outage: { readonly seconds: number; readonly over: Moment } | null;
}

/** What is remembered of one event. */
export interface EventMemory {
  readonly eventId: string;
  /** Last good value of every field. */
  readonly last: ScheduledEvent;
  /** The phase we hold while it is open. */
  readonly phase: 'Scheduled' | 'Started';
  readonly open: boolean;
  /** Its records are published. Decided when the event first concerns this VM; stays until its end. */
  readonly inScope: boolean;
  readonly affectsUs: boolean;
  readonly firstSeenAt: IsoTime;
  readonly firstSeen: Moment;
  /** Since when it is listed as Scheduled; null once it is not. */
  readonly scheduledSince: IsoTime | null;
  /** Its true beginning is unknown: it was listed in the first observation or after a gap. */
  readonly presentAtFirstLook: boolean;
  readonly startedAt: IsoTime | null;
  /** `startedAt` was seen without a gap. */
  readonly startSeen: boolean;
  readonly started: Moment | null;
  /** How long it was listed as Started before it went back to Scheduled, in milliseconds. */
  readonly startedBeforeMs: number;
  /** Azure's time of the earliest proof that its impact had begun: a pause, or the last observation before an outage. */
  readonly impactAt: IsoTime | null;
  /** By Azure's time. */
  readonly endedAt: IsoTime | null;
  readonly sequence: number;
  /** How often each step has been recorded, by the transition id that it has the first time. */
  readonly recorded: Readonly<Record<string, number>>;
  /** The highest count that was dropped from `recorded`: a step that is not in it is counted from here. */
  readonly recordedFloor: number;
  readonly pauseMs: number | null;
  readonly pauseTotalMs: number | null;
  /** Longest pause since a document last listed it. */
  readonly pauseSinceListedMs: number;
  /** The physical host changed, or the machine booted, since a document last listed it, and that was its impact. */
  readonly movedSinceListed: boolean;
  readonly bootedSinceListed: boolean;
  /** What was booked for it may have been the impact of another event. */
  readonly ambiguous: boolean;
  readonly outageSeconds: number | null;
  /** Physical host on which it found us. */
  readonly foundOnHost: string | null;
  /** The last observation that listed it, if that was not the last valid document. */
  readonly listedIn: Sighting | null;
  /** Since when an entry that cannot be read may be this event. */
  readonly hiddenSince: Moment | null;
  /** Absent, waiting for the decision. */
  readonly absent: Absence | null;
}

/** Where and when a document was seen: what an absence is compared with. */
export interface Sighting {
  readonly at: IsoTime | null;
  readonly moment: Moment | null;
  /** Entries without a readable EventId beside it. */
  readonly unreadable: number;
  readonly incarnation: number | null;
  readonly bootId: string | null;
  readonly physicalHost: string | null;
}

/** The facts of an event's first absence: the words of evidence whose condition held then. */
export interface Absence {
  readonly since: IsoTime;
  /** Of our clock then. */
  readonly clockOffsetSeconds: number | null;
  readonly moment: Moment;
  readonly incarnation: number;
  readonly facts: AbsenceFacts;
}

/** The conditions of the table `ends.ts`. */
export interface AbsenceFacts {
  readonly bootChanged: boolean;
  readonly bootKnownSame: boolean;
  readonly hostChanged: boolean;
  readonly paused: boolean;
  readonly reset: boolean;
  readonly exactlyOneMore: boolean;
  readonly gap: boolean;
  readonly notBefore: 'ahead' | 'near' | 'passed' | 'unknown';
  readonly approved: boolean;
  readonly superseded: boolean;
  /** The machine booted, and that was the impact of this event. */
  readonly rebooted: boolean;
  /** What was measured may have been the impact of another event. */
  readonly ambiguous: boolean;
  /** An entry that could not be read may have been this event. */
  readonly unreadable: boolean;
  /** The list of the service may have been incomplete. */
  readonly settling: boolean;
}

/** Nothing seen yet: the state of a new stream. */
export const emptyState = (streamId: string): LifecycleState => ({
  streamId,
  position: 0,
  lastDocumentAt: null,
  lastDocument: null,
  incarnation: null,
  incarnationStep: null,
  bootId: null,
  physicalHost: null,
  clockOffsetSeconds: null,
  imdsApiVersion: null,
  hidden: false,
  unreadable: 0,
  resetAt: null,
  reset: null,
  enabled: null,
  elsewhere: null,
  unbooked: null,
  snapshotDue: true,
  events: new Map(),
  undecided: [],
  approved: new Set(),
});
