import type { IsoTime } from './record.ts';
import type { HostEvidence, ScheduledEvent, SeenDocument } from './scheduled-event.ts';

/**
 * All that the lifecycle remembers between two looks. Immutable: a turn that changes an event replaces its
 * `EventMemory`, so the outbox writes just the rows whose identity changed. Plain JSON throughout.
 */
export interface LifecycleState {
  readonly streamId: string;
  /** Position of the newest record: the next one is one more. */
  readonly position: number;
  /** When the last valid document was seen. Stored at most once a minute, so after a crash it may be older than the truth. */
  readonly lastDocumentAt: IsoTime | null;
  /** Of the last valid document. */
  readonly incarnation: number | null;
  /** Of the machine, at the last valid document. */
  readonly bootId: string | null;
  readonly physicalHost: string | null;
  readonly clockOffsetSeconds: number | null;
  readonly imdsApiVersion: string | null;
  /** The last valid document held an entry without a readable EventId. */
  readonly hidden: boolean;
  /** When the incarnation last went backwards. */
  readonly resetAt: IsoTime | null;
  /** By lower-case EventId; open ones and, for 30 days, ended ones. */
  readonly events: ReadonlyMap<string, EventMemory>;
  /** Documents seen before the observer was known, oldest first. */
  readonly undecided: readonly UndecidedDocument[];
  /** EventIds (lower case) that this bridge approved or was about to approve. */
  readonly approved: ReadonlySet<string>;
}

/** A document that waits for the observer to be known, with everything needed to decide it later as if at once. */
export interface UndecidedDocument {
  readonly at: IsoTime;
  readonly previousDocumentAt: IsoTime | null;
  readonly document: SeenDocument;
  readonly imdsApiVersion: string;
  readonly azureTime: IsoTime | null;
  readonly clockOffsetSeconds: number | null;
  readonly host: HostEvidence;
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
  /** Since when it is listed as Scheduled; null once it is not. */
  readonly scheduledSince: IsoTime | null;
  /** Its true beginning is unknown: it was there at the first look or after a gap. */
  readonly presentAtFirstLook: boolean;
  readonly startedAt: IsoTime | null;
  /** `startedAt` was seen without a gap. */
  readonly startSeen: boolean;
  readonly endedAt: IsoTime | null;
  readonly sequence: number;
  /** How often each step has been recorded, by the transition id that it has the first time. */
  readonly recorded: Readonly<Record<string, number>>;
  readonly pauseMs: number | null;
  readonly pauseTotalMs: number | null;
  /** Longest pause since a document last listed it. */
  readonly pauseSinceListedMs: number;
  readonly outageSeconds: number | null;
  /** Physical host on which it found us. */
  readonly foundOnHost: string | null;
  /** The last look that listed it, where that was not the last valid document. */
  readonly listedIn: Sighting | null;
  /** Absent around a reset, waiting for the decision. */
  readonly absent: Absence | null;
}

/** Where and when a document was seen: what an absence is compared with. */
export interface Sighting {
  readonly at: IsoTime | null;
  readonly incarnation: number | null;
  readonly bootId: string | null;
  readonly physicalHost: string | null;
}

/** The facts of an event's first absence: the words of evidence whose condition held then. */
export interface Absence {
  readonly since: IsoTime;
  readonly incarnation: number;
  readonly facts: AbsenceFacts;
}

/** Everything that the rows about an absent event ask. */
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
}

/** Nothing seen yet: the state of a new stream. */
export const emptyState = (streamId: string): LifecycleState => ({
  streamId,
  position: 0,
  lastDocumentAt: null,
  incarnation: null,
  bootId: null,
  physicalHost: null,
  clockOffsetSeconds: null,
  imdsApiVersion: null,
  hidden: false,
  resetAt: null,
  events: new Map(),
  undecided: [],
  approved: new Set(),
});
