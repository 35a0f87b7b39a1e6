import type { PollFigures } from '../../health/poll-condition.ts';
import type { SinkState } from '../../health/sink-condition.ts';
import type { Snapshot } from '../../health/snapshot.ts';
import type { SinkCounters } from '../../outbox/outbox.ts';

/** What the verdict is about. */
export interface Facts {
  readonly at: string;
  /** A service holds the state directory, or answers for it. Null: this user may not read its lock. */
  readonly running: boolean | null;
  /** The report of the running process; null if it was not running, or did not answer: see `answer`. */
  readonly service: ServiceFacts | null;
  /**
   * `answered`: all figures are those of the running process, as of now. Else they are those on disk. `silent`: it listens and
   * did not answer within 2 s. `nobody`: nothing listens. `denied`: this user may not ask.
   */
  readonly answer: 'answered' | 'silent' | 'nobody' | 'denied';
  readonly stateDirectory: string;
  /** The VM, as the bridge knows it; null until it has learned that. */
  readonly observer: null | {
    readonly vmName: string;
    readonly vmId: string;
    readonly resourceGroup: string | null;
    readonly location: string | null;
  };
  readonly document: {
    /** To the second where the service answered; else as stored, which is done once a minute. */
    readonly lastSeenAt: string | null;
    readonly ageSeconds: number | null;
    readonly incarnation: number | null;
    /** Azure's clock minus this VM's, at that document. */
    readonly clockOffsetSeconds: number | null;
  };
  /** What Azure still lists, oldest first. */
  readonly events: readonly StatusEvent[];
  readonly sinks: readonly StatusSink[];
  /** Begun and without an outcome. */
  readonly approvals: readonly { readonly eventId: string; readonly cause: string; readonly intendedAt: string }[];
  readonly outbox: {
    readonly streamId: string;
    /** Of the newest record. */
    readonly position: number;
    readonly bytes: number;
    /** The most that it may take: by the configuration, and of its disk; null where no configuration was read. */
    readonly maxBytes: number | null;
    /** On its disk, for the account of the bridge. */
    readonly freeBytes: number | null;
    readonly readOnlyDisk: boolean;
    /** Documents that wait for the VM's own name to be known. */
    readonly undecidedDocuments: number;
    /** The last time a damaged file was replaced. */
    readonly recovery: null | { readonly at: string; readonly reason: string; readonly movedTo: string };
  };
}

export interface ServiceFacts {
  readonly version: string;
  readonly pid: number;
  /** It is stopping, and sends what is pending. */
  readonly stopping: boolean;
  readonly poll: PollFigures;
  /** A sentence for each loop that is stuck. */
  readonly stuck: readonly string[];
  /** Records that are on no disk: they end with the process. */
  readonly inMemoryOnly: number;
  /** Since when and why nothing can be written. */
  readonly storageTrouble: null | { readonly since: string; readonly code: string; readonly reason: string };
  /** How long a record that is not urgent may wait on purpose, by the `connectJitterSeconds` of a sink. */
  readonly connectJitterSeconds: number;
  /** The processes that send and fetch tokens, with their unexpected ends since the service started. */
  readonly senders: Snapshot['senders'];
}

export interface StatusEvent {
  readonly eventId: string;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly phase: 'Scheduled' | 'Started';
  readonly notBefore: string | null;
  readonly firstSeenAt: string;
  readonly startedAt: string | null;
  readonly affectsThisVm: boolean;
  /** Its records are published. */
  readonly published: boolean;
}

export interface StatusSink {
  readonly name: string;
  readonly state: SinkState;
  readonly waiting: number;
  readonly oldestWaitingAt: string | null;
  readonly oldestAgeSeconds: number | null;
  /** For how long it has accepted nothing although something waits; null while that is under two minutes. */
  readonly lateSeconds: number | null;
  readonly deadLetters: number;
  /** The next attempt, where the last one failed and a service runs. */
  readonly retryAt: string | null;
  readonly lastSuccessAt: string | null;
  /** Also one that has ended: see `state`. */
  readonly lastError: null | { readonly at: string | null; readonly code: string; readonly reason: string };
  readonly counters: SinkCounters;
}
