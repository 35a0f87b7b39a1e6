import type { Clock } from '../../clock.ts';
import type { LifecycleRecord } from '../../lifecycle/record.ts';
import { isUrgent } from '../../lifecycle/urgency.ts';

/** A record of an event further ahead than this can wait for a connection. */
const farAwayMs = 10 * 60_000;
/** After an attempt to connect ahead of need that failed. */
const reopenPauseMs = 30_000;

export interface ConnectionFacts {
  readonly connected: boolean;
  /** An event of this VM is about to start. */
  readonly startDue: boolean;
  /** Since the last send ended. */
  readonly idleMs: number;
  readonly idleCloseMs: number;
  /** Since a connection attempt ahead of need failed; null: none did since the last success. */
  readonly sinceFailedOpenMs: number | null;
}

/**
 * What to do with the connection between sends. It is opened a moment before an event starts, so that the record of the start does
 * not wait for a TLS handshake and three AMQP exchanges; otherwise it goes, because all VMs of a namespace share 5,000 connections.
 */
export function nextMove({
  connected,
  startDue,
  idleMs,
  idleCloseMs,
  sinceFailedOpenMs,
}: ConnectionFacts): 'open' | 'close' | 'stay' {
  if (startDue) {
    const hasJustFailed = sinceFailedOpenMs !== null && sinceFailedOpenMs < reopenPauseMs;
    return connected || hasJustFailed ? 'stay' : 'open';
  }
  return connected && idleMs >= idleCloseMs ? 'close' : 'stay';
}

/** May this batch wait for a cold connection? Only when the event of each of its records is known to be far ahead. */
export function mayWait(records: readonly LifecycleRecord[], at: Date): boolean {
  return records.every((record) => !isUrgent(record) && Date.parse(record.notBefore ?? '') - at.getTime() > farAwayMs);
}

/** A shorter interval while a batch waits: for the connection that another batch opened, and for an event that has come near. */
const jitterStepMs = 1000;

export interface WaitOptions {
  readonly connectJitterSeconds: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** There is a connection, or the sink is closed. */
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
}

/** A fleet that sees one event must not connect in one second: what can wait waits a little for a cold connection. */
export async function waitForConnection(
  records: readonly LifecycleRecord[],
  { connectJitterSeconds, clock, random, isOver, signal }: WaitOptions,
): Promise<void> {
  if (connectJitterSeconds <= 0) return;
  const until = clock.monotonicMs() + jitterMs(connectJitterSeconds, random);
  const left = (): number => until - clock.monotonicMs();
  while (left() > 0 && !isOver() && mayWait(records, clock.now()))
    await clock.sleep(Math.min(left(), jitterStepMs), signal);
}

/** How long such a batch waits, evenly spread. */
export const jitterMs = (connectJitterSeconds: number, random: () => number): number =>
  Math.floor(random() * connectJitterSeconds * 1000);
