import type { LifecycleRecord } from '../../lifecycle/record.ts';
import { isUrgent } from '../../lifecycle/urgency.ts';

/** A record of an event further ahead than this can wait for a connection. */
const farAwayMs = 10 * 60_000;
/** After an attempt to connect ahead of need that failed. */
const reopenPauseMs = 30_000;

export interface ConnectionFacts {
  readonly connected: boolean;
  /** Something is about to happen to this VM, or happening. */
  readonly near: boolean;
  /** Since the last send ended. */
  readonly idleMs: number;
  readonly idleCloseMs: number;
  /** Since a connection attempt ahead of need failed; null: none did since the last success. */
  readonly sinceFailedOpenMs: number | null;
}

/**
 * What to do with the connection between sends. Near an event it is open before it is needed, since opening one costs
 * a token, a TLS handshake and three AMQP exchanges out of the 30 s that a Preempt gives; otherwise it goes.
 */
export function nextMove({
  connected,
  near,
  idleMs,
  idleCloseMs,
  sinceFailedOpenMs,
}: ConnectionFacts): 'open' | 'close' | 'stay' {
  if (near) return connected || (sinceFailedOpenMs !== null && sinceFailedOpenMs < reopenPauseMs) ? 'stay' : 'open';
  return connected && idleMs >= idleCloseMs ? 'close' : 'stay';
}

/** May this batch wait for a cold connection? Only when the event of each of its records is known to be far ahead. */
export function mayWait(records: readonly LifecycleRecord[], at: Date): boolean {
  return records.every((record) => !isUrgent(record) && Date.parse(record.notBefore ?? '') - at.getTime() > farAwayMs);
}

/** How long such a batch waits, evenly spread: a fleet that sees one event must not connect in one second. */
export const jitterMs = (connectJitterSeconds: number, random: () => number): number =>
  Math.floor(random() * connectJitterSeconds * 1000);
