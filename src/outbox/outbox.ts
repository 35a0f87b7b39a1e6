/**
 * The durable middle: one SQLite file that remembers what the lifecycle knows and what every sink has yet to get.
 *
 * Constraints, each with a test by its name:
 * - State and records of one observation are one transaction, committed before anybody hears of them.
 * - A commit that fails loses nothing while the process lives: what it held stays in memory, is offered to the relays from
 *   there, and is written by the next transaction that succeeds.
 * - Nothing found on the disk keeps the bridge from starting. Two things do: a second instance, and a file of a newer major.
 * - One process writes. Any number may read, at any time.
 * - Files that are removed while they are open are made again from what is open, in the same stream.
 * - Everything is bounded: the file, its log, what is kept in memory, what is kept of damaged files.
 *
 * On disk, in the state directory: `outbox.sqlite` with SQLite's `-wal` and `-shm`; `lock.sqlite`, empty, held for life;
 * `outbox.position`, the highest positions that were committed and sent; `reserve.bin`, room for a full disk; `corrupt-<time>/` and
 * `archived-<time>/`, three of each. The tables are in `store/schema/0001.ts`; what survives which death stands in the README beside
 * this file.
 */
import type { Clock } from '../clock.ts';
import type { LifecycleRecord } from '../lifecycle/record.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import type { LifecycleState } from '../lifecycle/state.ts';
import type { Log } from '../log.ts';
import type { ApprovalIntent, ConcludedApproval } from './control/approvals.ts';
import type { Chosen, Purged } from './control/manual-actions.ts';
import type { FiledRequest } from './control/requests.ts';
import { DurableOutbox } from './durable-outbox.ts';
import type { OutboxCounters, SinkProgress } from './store/counters.ts';
import type { DeliveryUpdate, PendingDelivery, PendingQuery } from './store/deliveries.ts';
import type { StorageTrouble } from './store/errors.ts';
import type { Recovery } from './store/open.ts';
import type { Fill } from './store/retention.ts';

export type { ApprovalIntent, ConcludedApproval } from './control/approvals.ts';
export type { Chosen, Purged } from './control/manual-actions.ts';
export type { FiledRequest } from './control/requests.ts';
export { noProgress, type OutboxCounters, type SinkCounters, type SinkProgress } from './store/counters.ts';
export type { DeliveryUpdate, PendingDelivery, PendingQuery } from './store/deliveries.ts';
export { OutboxInUse, OutboxTooNew } from './store/errors.ts';
export type { Recovery } from './store/open.ts';
export type { Fill } from './store/retention.ts';

export interface OutboxOptions {
  /** The state directory. Made when it is missing. */
  readonly directory: string;
  /** Names of the configured sinks: each gets a delivery row per record. */
  readonly sinks: readonly string[];
  /** The most that the file and its log may take; at most 5 % of the disk's free space at start, but never less than they hold then. */
  readonly maxMegabytes: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Of this build: what an older one has to tell its operator to install. */
  readonly version: string;
}

/** How the outbox stands: durable, or in memory for as long as the disk takes no writes. */
export interface Storage {
  /** Since when and why nothing can be written; null while all is well. */
  readonly trouble: (StorageTrouble & { readonly since: string }) | null;
  /** Records that are in memory only. */
  readonly undurable: number;
}

/** What one sink has yet to get. */
export interface Backlog {
  readonly sink: string;
  /** Those that are in memory only included. */
  readonly pending: number;
  /** Of those, what ends with this process: on no disk, and not sent to this sink. */
  readonly onlyInMemory: number;
}

export interface Outbox {
  /** After the last append, also when that is only in memory. */
  readonly state: LifecycleState;
  /** The same object for as long as `state` goes on from what it was; another one when it was replaced by that of a file. */
  readonly history: object;
  /** Identity of the observer as stored. */
  readonly observer: Observer | null;
  /** Boot id under which the observer was stored: a clone has another. */
  readonly observerBootId: string | null;
  readonly storage: Storage;
  readonly fill: Fill;
  /** The last time a damaged file was replaced. */
  readonly recovery: Recovery | null;
  /**
   * One transaction: changed events, state, records, one delivery row per sink and record; of more than 500 rows or 256 KB
   * several, with a turn of the event loop between, of which only the last makes them count. Never throws. A turn that
   * changes nothing but `lastDocumentAt` is written once a minute. `concluded`: outcomes of approvals, in the same
   * transaction as the `Approved` records; an event whose approval was refused is not `state.approved` afterwards.
   */
  append(state: LifecycleState, records: readonly LifecycleRecord[], concluded?: readonly ConcludedApproval[]): void;
  rememberObserver(observer: Observer, bootId: string | null): void;
  /** The file tells of another VM: it is moved away unsent, and a new stream begins. `reason` is for the log. */
  archive(reason: string): void;
  /** After COMMIT, or after falling back to memory. @returns how to listen no longer. */
  onAppended(listener: (records: readonly LifecycleRecord[]) => void): () => void;
  /** Oldest first, those in memory included. Never throws; a sink that is not configured has none. */
  pending(sink: string, query: PendingQuery): PendingDelivery[];
  /**
   * Writes the consequence of deliveries and how the sink stands, in one transaction. Never throws: what cannot be written
   * is remembered, nothing is offered again in this process, and the next transaction that succeeds writes it.
   */
  settle(sink: string, outcomes: readonly DeliveryUpdate[], state: SinkProgress): void;
  /**
   * An event is about to be approved: committed before this returns true, and `state.approved` from then on. False: the disk
   * takes no writes, so nothing is to be approved, since a crash would leave no trace of it. Never throws.
   */
  intend(intent: ApprovalIntent): boolean;
  /** Intents without an outcome, oldest first: after a restart they are settled. Never throws. */
  openApprovals(): readonly ApprovalIntent[];
  /** What other processes ask, unanswered, oldest first, a hundred at most. Never throws. */
  requests(): readonly FiledRequest[];
  /** `answer` is anything that JSON can say. Never throws: an answer that cannot be written is kept until it can. */
  answer(number: number, answer: unknown): void;
  /**
   * Dead letters become pending again, ids kept. Tells no relay: wake it. Never throws.
   * @returns how many; 0 while the disk takes no writes.
   */
  retryDeadLetters(which: Chosen): number;
  /**
   * Gives up what waits or is dead, each with a tombstone and counted as expired. What is on its way to a sink may arrive
   * all the same. Tells no relay: wake it. Never throws.
   * @returns how many; 0 while the disk takes no writes.
   */
  purge(which: Purged): number;
  progress(sink: string): SinkProgress;
  counters(): OutboxCounters;
  /** Of every configured sink, in that order. Asks no disk. */
  backlog(): Backlog[];
  /**
   * Tries to write what is only in memory, looks whether the files are still where they were opened, and tells of a trouble
   * that lasts. Costs a few µs when all is well: meant for every turn.
   */
  retry(): void;
  /** Retention, bound, log, reserve; about once a minute. */
  maintain(): void;
  /** Writes what it can, and lets the next instance in. */
  close(): void;
}

/**
 * Opens the outbox of a state directory, whatever is found there; where nothing can be written it goes on in memory.
 * @throws OutboxInUse, OutboxTooNew: each with a sentence for the operator.
 */
export const openOutbox = (options: OutboxOptions): Outbox => new DurableOutbox(options);
