import type { SendResult } from '../sinks/sink.ts';

/** A batch that was sent, as far as its outcome depends on it. */
export interface Attempt {
  readonly records: number;
  /** The destination got something less than the whole record would be: fields of it can still be shortened. */
  readonly canShorten: boolean;
  /**
   * This very record was refused alone before, and another record got through between that refusal and this attempt:
   * the destination takes records, just not this one.
   */
  readonly refusedBefore: boolean;
  /** It has been refused alone for a day, and nothing else was sent that could show whose fault it is. */
  readonly isHopeless: boolean;
}

/** What the relay does with a batch after its {@link SendResult}. */
export type BatchDecision =
  /** `delivered`: they are done. `retry`: they stay, and the sink is paused for a while. */
  | Extract<SendResult, { kind: 'delivered' | 'retry' }>
  /** One of them spoils the batch, or it is too large: each half goes by itself. */
  | { readonly kind: 'halved' }
  /** The one record goes again with less in it. */
  | { readonly kind: 'shortened' }
  /**
   * The one record is refused, but nothing shows yet that it is the record's fault and not the destination's: a table
   * whose schema is broken refuses every row, a proxy with a low limit every size. It waits until another record got through, or for a day.
   */
  | { readonly kind: 'suspected'; readonly code: string; readonly reason: string }
  /** The one record becomes a dead letter with its reason; its event continues. */
  | { readonly kind: 'dead'; readonly code: string; readonly reason: string };

/** The policy of the relay in one place: pure, and exhaustive over {@link SendResult}. */
export function settle(attempt: Attempt, result: SendResult): BatchDecision {
  if (result.kind !== 'rejected') return result;
  const { cause, code, reason } = result;
  if (attempt.records > 1) return { kind: 'halved' };
  if (cause === 'too-large' && attempt.canShorten) return { kind: 'shortened' };
  return { kind: attempt.refusedBefore || attempt.isHopeless ? 'dead' : 'suspected', code, reason };
}
