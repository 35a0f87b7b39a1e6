import type { SinkCounters } from '../../outbox/tally.ts';

/** What the verdict is about. */
export interface Facts {
  readonly at: string;
  /** A service holds the state directory. Null: this user may not look at its lock. */
  readonly running: boolean | null;
  readonly stateDirectory: string;
  /** The VM, as the bridge knows it; null until it has learned that. */
  readonly observer: null | {
    readonly vmName: string;
    readonly vmId: string;
    readonly resourceGroup: string | null;
    readonly location: string | null;
  };
  readonly document: {
    /** While the service runs at most a minute older than the truth. */
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
    readonly createdAgeSeconds: number | null;
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
  /** `waiting`: it failed last of what passes by itself, and is asked again at `retryAt`. `refused`: a person has to act. */
  readonly state: 'delivering' | 'waiting' | 'refused' | 'not-configured';
  readonly waiting: number;
  readonly oldestWaitingAt: string | null;
  readonly oldestAgeSeconds: number | null;
  readonly deadLetters: number;
  readonly retryAt: string | null;
  readonly lastSuccessAt: string | null;
  /** Also one that is over: `state` tells. */
  readonly lastError: null | { readonly at: string | null; readonly code: string; readonly reason: string };
  readonly counters: SinkCounters;
}
