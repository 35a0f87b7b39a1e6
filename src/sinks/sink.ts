import type { LifecycleRecord } from '../lifecycle/record.ts';

/** One record on its way to a sink. `json` is written once, when the record is appended: every retry sends the same bytes. */
export interface Entry {
  readonly json: Buffer;
}

/** An entry for those that read the record: a sink that sends the bytes as they are never pays for that. */
export interface ParsedEntry extends Entry {
  readonly record: LifecycleRecord;
}

/** @throws SyntaxError */
export const parsed = ({ json }: Entry): ParsedEntry => ({ json, record: JSON.parse(json.toString()) });

/**
 * A destination. The relay owns order, retries and durability; a sink only sends.
 *
 * A sink keeps no queue, retries nothing by itself and never throws for what the destination answers: every answer is
 * a {@link SendResult}. It answers within its own deadline even when the library under it hangs.
 * `test/sinks/contract.ts` is this comment as tests; every sink passes it.
 */
export interface Sink {
  /** Keys this sink's delivery rows in the outbox: changing it makes a new sink. */
  readonly name: string;
  /** `event`: a batch holds records of one EventId only (it becomes the partition key). `any`: a batch may mix events. */
  readonly batchBy: 'event' | 'any';
  /** Batches in flight at once. One EventId is never in two of them: that is how order per event is kept. */
  readonly inFlight: number;
  /** The most a batch may hold. The relay cuts by these; a sink may still answer `too-large`. */
  readonly limits: { readonly records: number; readonly bytes: number };
  /**
   * Sends a batch, oldest first, all or nothing: `delivered` means every entry has been accepted by the destination.
   * Must be safe to repeat: after a crash, a time-out or a dropped connection the relay sends the same bytes again.
   * Answers within 60 s by its own deadlines (a configured wait for a connection comes on top), and at once when `signal`
   * is aborted.
   */
  send(batch: readonly Entry[], signal: AbortSignal): Promise<SendResult>;
  /** Proves address, credential and role without writing a record. Backs `check`. */
  check(signal: AbortSignal): Promise<CheckResult>;
  /** Called once, after the last `send` has settled. Never rejects and never takes longer than 3 s. */
  close(): Promise<void>;
}

/** The answer of a sink to one batch. `delivered`: every entry is stored at the destination. */
export type SendResult = { readonly kind: 'delivered' } | Failure;

/** Why a destination did not take a batch. */
export type Failure =
  /**
   * Nothing is known to be stored (it may be); the same batch is to be sent again later.
   * `transient`: network, time-out, 5xx. `throttled`: the destination asked for less. `configuration`: an address, an
   * identity or a role is wrong; the records are kept and an operator has to act.
   */
  | {
      readonly kind: 'retry';
      readonly cause: 'transient' | 'throttled' | 'configuration';
      /** Bounded vocabulary, fit for a metric label: `http-503`, `token-timeout`, `link-detached`, … */
      readonly code: string;
      /** One sentence for the operator: what happened, where, what to do. */
      readonly reason: string;
      readonly retryAfterMs?: number;
    }
  /**
   * The destination will always refuse this batch. `too-large`: halve it. `poison`: an entry of it is malformed in the
   * destination's eyes. The relay finds the culprit; a batch of one that is refused becomes a dead
   * letter once another one got through, or after a day.
   */
  | {
      readonly kind: 'rejected';
      readonly cause: 'too-large' | 'poison';
      readonly code: string;
      readonly reason: string;
    };

/** Verdict of {@link Sink.check}. */
export interface CheckResult {
  readonly ok: boolean;
  /** Bounded vocabulary, as in {@link SendResult}. `ok` when all is well. */
  readonly code: string;
  /** One sentence for the operator. */
  readonly detail: string;
  /** The destination's own words, where it had any: one line, cut. */
  readonly said?: string;
}
