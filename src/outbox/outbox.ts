/**
 * The contract of the durable middle: one SQLite file that remembers what the lifecycle knows and what every sink has yet to get.
 * `openOutbox` in `durable-outbox.ts` opens one.
 *
 * Constraints, each with a test by its name:
 * - State and records of one observation are one transaction, committed before any relay gets them.
 * - A commit that fails loses nothing while the process lives: what it held stays in memory, is offered to the relays from
 *   there, and is written by the next transaction that succeeds.
 * - Nothing found on the disk keeps the bridge from starting. Two things do: a second instance, and a file of a newer major.
 * - One process writes. Any number may read, at any time.
 * - Files that are removed while they are open are recreated from what is open, in the same stream.
 * - Everything is bounded: the file, its log, what is kept in memory, what is kept of damaged files.
 *
 * The tables are in `store/schema/0001.ts`; the README beside this file lists the files on disk and what survives which death.
 */
import type { Clock } from '../clock.ts';
import type { ApprovalTerms } from '../lifecycle/approval-terms.ts';
import type { LifecycleRecord } from '../lifecycle/record.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import type { LifecycleState } from '../lifecycle/state.ts';
import type { Log } from '../log.ts';

export interface OutboxOptions {
  /** The state directory. Created when it is missing. */
  readonly directory: string;
  /** Names of the configured sinks: each gets a delivery row per record. */
  readonly sinks: readonly string[];
  /** The most that the file and its log may take; at most 5 % of the disk's free space at start, but never less than they hold then. */
  readonly maxMegabytes: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Of this build: the version that an older build names as the one to install. */
  readonly version: string;
}

export interface Outbox {
  /** After the last append, also when that is only in memory. */
  readonly state: LifecycleState;
  /** The same object while `state` continues its predecessor; another one once it was replaced by that of a file. */
  readonly history: object;
  /** Null before the first one is remembered. */
  readonly storedObserver: StoredObserver | null;
  readonly storage: Storage;
  readonly fill: Fill;
  /** The last time a damaged file was replaced. */
  readonly recovery: Recovery | null;
  /**
   * One transaction: changed events, state, records, one delivery row per sink and record; of more than 500 rows or 256 KB
   * several, with a turn of the event loop between, of which only the last makes them count. Never throws. A poll that
   * changes nothing but `lastDocumentAt` is written once a minute. `concluded`: outcomes of approvals, in the same
   * transaction as the `Approved` records; an event whose approval was refused is not `state.approved` afterwards.
   */
  append(state: LifecycleState, records: readonly LifecycleRecord[], concluded?: readonly ConcludedApproval[]): void;
  rememberObserver(observer: Observer, bootId: string | null): void;
  /** The file belongs to another VM: it is moved aside unsent, and a new stream begins. `reason` is for the log. */
  archive(reason: string): void;
  /** After COMMIT, or after falling back to memory. @returns a function that removes the listener. */
  onAppended(listener: (records: readonly LifecycleRecord[]) => void): () => void;
  /** After a fault of the disk has ended: what could not be read until then may be pending. @returns as {@link Outbox.onAppended}. */
  onRecovered(listener: () => void): () => void;
  /** Oldest first, those in memory included. Never throws; a sink that is not configured has none. */
  pending(sink: string, query: PendingQuery): PendingDelivery[];
  /**
   * Writes updates of deliveries and the progress of the sink in one transaction, together with others where the disk would
   * be busy with that: 100 ms later at most. Never throws: what cannot be written is remembered, nothing is offered again in
   * this process, and the next transaction that succeeds writes it.
   */
  settle(sink: string, updates: readonly DeliveryUpdate[], progress: SinkProgress): void;
  /**
   * An event is about to be approved: committed before this returns true, and `state.approved` from then on. False: the disk
   * takes no writes, so the event must not be approved, since a crash would leave no trace of it. Never throws.
   */
  intend(intent: ApprovalIntent): boolean;
  /** Intents without an outcome, oldest first: after a restart they are settled. Never throws. */
  openApprovals(): readonly ApprovalIntent[];
  /** Unanswered requests of other processes, oldest first, a hundred at most. Never throws. */
  requests(): readonly FiledRequest[];
  /** `answer` is anything that JSON can represent. Never throws: an answer that cannot be written is kept until it can. */
  answer(number: number, answer: unknown): void;
  /**
   * Dead letters become pending again, ids kept. Notifies no relay: wake it. Never throws.
   * @returns how many; 0 while the disk takes no writes.
   */
  retryDeadLetters(which: Selection): number;
  /**
   * Discards pending deliveries or dead letters, each with a tombstone and counted as expired. What is in flight may arrive
   * all the same. Notifies no relay: wake it. Never throws.
   * @returns how many; 0 while the disk takes no writes.
   */
  purge(which: PurgeSelection): number;
  progress(sink: string): SinkProgress;
  /** By the sink's name, as committed; while the disk takes no writes, with what happened since. Sinks that left stay in it. */
  counters(): Readonly<Record<string, SinkCounters>>;
  /** Of every configured sink, in that order. Reads no disk. */
  backlog(): SinkBacklog[];
  /**
   * Tries to write what is only in memory, checks that the files are still where they were opened, and logs a problem
   * that lasts. Costs a few µs when all is well: meant for every poll.
   */
  retry(): void;
  /** Retention, quota, log, reserve; about once a minute. */
  maintain(): void;
  /** Writes what it can, and lets the next instance in. */
  close(): void;
}

/** The identity of the observer, and the boot under which it was learned: a clone has another. */
export interface StoredObserver {
  readonly observer: Observer;
  readonly bootId: string | null;
}

/** Durable, or in memory for as long as the disk takes no writes. */
export interface Storage {
  /** Since when and why nothing can be written; null while all is well. */
  readonly fault: (StorageFault & { readonly since: string }) | null;
  /** Records that are in memory only. */
  readonly undurable: number;
}

/** What keeps the outbox from being written or read. */
export interface StorageFault {
  /**
   * `full`: no room on the disk, or the outbox reached its own bound. `damaged`: the file is not (or no longer) a sound
   * outbox. `busy`: another process holds it for a moment. `unavailable`: anything else.
   */
  readonly kind: 'full' | 'damaged' | 'busy' | 'unavailable';
  /** Bounded vocabulary: `sqlite-13`, `EROFS`, `damaged`, `in-use`, … */
  readonly code: string;
  readonly reason: string;
}

/** How much of its bound the outbox takes. */
export interface Fill {
  /** The file in use and its log. */
  readonly bytes: number;
  readonly limitBytes: number;
  /** 70 % were reached, and it has not been under 60 % since. */
  readonly isAlarming: boolean;
}

/** A file that could not be used and was replaced. Kept in the new one, for a later investigation. */
export interface Recovery {
  readonly at: string;
  /** What was wrong with it, in words. */
  readonly reason: string;
  /** The folder that holds it now. */
  readonly movedTo: string;
  readonly salvaged: Salvaged;
}

/** What could be read of a damaged outbox. */
export interface Salvaged {
  /** The stream continues: the row of the lifecycle was sound. */
  readonly stream: boolean;
  readonly events: number;
  readonly records: number;
  /** Deliveries that were due and are lost, over all sinks, as far as the counters still show. */
  readonly lost: number;
}

/** A record that a sink has yet to get. It belongs to the relay that asked for it, until it is settled. */
export interface PendingDelivery {
  readonly position: number;
  /** Lower-case EventId. */
  readonly eventKey: string;
  /** Written once, when the record was appended: every retry sends the same bytes, unless the relay had to shorten them. */
  json: Buffer;
  /** Failed ones so far. */
  attempts: number;
  /** By the wall clock. */
  readonly appendedAt: string;
  /** Set by the relay: only deliveries of one group share a batch. Absent from all that were never refused. */
  group?: number;
}

/** A query of a relay. Without sets of events: of all of them. */
export interface PendingQuery {
  readonly limit: number;
  readonly exceptEvents?: ReadonlySet<string>;
  readonly onlyEvents?: ReadonlySet<string>;
}

/** `dead`: refused permanently, kept with its reason. `abandoned`: its sink left the configuration, or an operator discarded it. */
export type DeliveryState = 'pending' | 'delivered' | 'dead' | 'abandoned';

/** The state of a delivery after an attempt. `pending`: it failed and is attempted again. */
export type DeliveryUpdate =
  | { readonly position: number; readonly state: 'delivered' }
  | {
      readonly position: number;
      readonly state: 'pending' | 'dead';
      readonly code: string;
      readonly reason: string;
    };

/** Backoff of a relay and the last results of its sink. Survives a restart, so that a crash loop does not hammer a failing sink. */
export interface SinkProgress {
  /** Backoff step, 0 = healthy. */
  readonly step: number;
  /** Wall clock: a hint only. */
  readonly retryAt: string | null;
  readonly lastSuccessAt: string | null;
  readonly lastErrorAt: string | null;
  readonly lastErrorCode: string | null;
  readonly lastErrorReason: string | null;
}

export const noProgress: SinkProgress = {
  step: 0,
  retryAt: null,
  lastSuccessAt: null,
  lastErrorAt: null,
  lastErrorCode: null,
  lastErrorReason: null,
};

/** Deliveries of one sink by their state. At every moment `accepted = delivered + pending + dead + expired + abandoned`. */
export type SinkCounters = Readonly<typeof noCounters>;

export const noCounters = {
  /** Records for this sink, counted again when it returns to the configuration. */
  accepted: 0,
  delivered: 0,
  /** Not settled now. */
  pending: 0,
  /** Dead letters now: refused, kept with their reason. */
  dead: 0,
  /** Discarded for lack of room before this sink had them, purged, or lost with a damaged file. */
  expired: 0,
  /** Not settled when the sink left the configuration. */
  abandoned: 0,
  /** Of those delivered: sent from memory, never on disk before. */
  undurable: 0,
};

/** What one sink has yet to get. */
export interface SinkBacklog {
  readonly sink: string;
  /** Those that are in memory only included. */
  readonly pending: number;
  /** Of those, what is lost when this process ends: on no disk, and not sent to this sink. */
  readonly onlyInMemory: number;
}

/** Deliveries that an operator selects: of one sink or of all that are configured, of one record or of all. */
export interface Selection {
  readonly sink?: string | undefined;
  readonly position?: number | undefined;
}

/** Deliveries to discard. */
export interface PurgeSelection extends Selection {
  readonly state: 'dead' | 'pending';
  /** At most this many, oldest first, so that polling does not wait for a large backlog. Default: all. */
  readonly limit?: number | undefined;
}

/** A request of another process to the service that writes the outbox. */
export interface FiledRequest {
  readonly number: number;
  readonly verb: string;
  /** Parsed JSON of unknown origin; undefined where it is not JSON. */
  readonly argument: unknown;
  readonly requestedAt: string;
}

/** That an event is about to be approved: committed before Azure is asked, so that a crash in between leaves a trace. */
export interface ApprovalIntent {
  readonly eventId: string;
  /** The user or the rule that wanted it, in words. */
  readonly cause: string;
  readonly at: Date;
  /** The event as it was then; null: unknown, so the approval is not sent again. */
  readonly terms?: ApprovalTerms | null;
}

/** The outcome of an intent: written with its `Approved` record. */
export interface ConcludedApproval {
  readonly eventId: string;
  readonly outcome: 'accepted' | 'refused' | 'outcome-unknown';
  readonly at: Date;
  /** Null where the outcome needs none. */
  readonly reason: string | null;
}
