import { formatDuration } from '../clock.ts';
import type { SinkProgress } from '../outbox/outbox.ts';
import { isRefusal } from './refusal.ts';

/** The figures by which one destination is judged. Times are ISO 8601. */
export interface SinkFigures {
  readonly configured: boolean;
  /** Records that are pending for it. */
  readonly waiting: number;
  /** When the oldest of them was appended. */
  readonly oldestWaitingAt: string | null;
  readonly progress: SinkProgress;
}

/**
 * `idle`: nothing waits. `delivering`: something waits, and nothing has failed since the last success. `retrying`: it failed for
 * a reason that passes without action. `refused`: operator action required. `stopped`: no service runs.
 */
export type SinkState = 'idle' | 'delivering' | 'retrying' | 'refused' | 'stopped' | 'not-configured';

/** This long without a delivery while records wait needs an operator's attention. */
export const lateAfterSeconds = 120;

export function sinkState({ configured, waiting, progress }: SinkFigures, isRunning: boolean): SinkState {
  if (!configured) return 'not-configured';
  const { step, lastErrorCode: code, lastErrorAt, lastSuccessAt } = progress;
  // A batch that is split to find the refused record is no failed attempt.
  const isFailing = step > 0 || (waiting > 0 && (lastErrorAt ?? '') > (lastSuccessAt ?? ''));
  if (isFailing && isRefusal(code)) return 'refused';
  if (!isRunning) return 'stopped';
  if (isFailing) return 'retrying';
  return waiting > 0 ? 'delivering' : 'idle';
}

/** The later of the last delivery and the arrival of the oldest pending record: since then nothing was delivered. */
export function nothingDeliveredSince({ oldestWaitingAt, progress }: SinkFigures): string | null {
  const times = [oldestWaitingAt, progress.lastSuccessAt].filter((time) => time !== null).toSorted();
  return times.at(-1) ?? progress.lastErrorAt;
}

/**
 * Seconds without a delivery to a configured destination for which records are pending; null where none are, or it is not late.
 * @param graceSeconds for which a record may be held while nothing has failed.
 */
export function lateSeconds(figures: SinkFigures, now: Date, graceSeconds = 0): number | null {
  const since = nothingDeliveredSince(figures);
  const state = sinkState(figures, true);
  if (state === 'not-configured' || figures.waiting === 0 || since === null) return null;
  const seconds = (now.getTime() - Date.parse(since)) / 1000;
  const limit = lateAfterSeconds + (state === 'delivering' ? graceSeconds : 0);
  return seconds > limit ? seconds : null;
}

/** For `/healthz` and `systemctl status`: one clause, or null where nothing is wrong. `status` says more. */
export function sinkClause(name: string, figures: SinkFigures, now: Date, graceSeconds?: number): string | null {
  const state = sinkState(figures, true);
  const late = lateSeconds(figures, now, graceSeconds);
  if (late === null && state !== 'refused' && state !== 'retrying') return null;
  const code = state === 'delivering' ? '' : ` (${figures.progress.lastErrorCode ?? 'unknown'})`;
  const since = late === null ? '' : `, nothing delivered for ${formatDuration(late)}`;
  return `${name} is ${state}${code}${since}, ${figures.waiting} waiting`;
}
