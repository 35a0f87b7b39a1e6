import { formatDuration } from '../clock.ts';
import type { SinkProgress } from '../outbox/outbox.ts';
import { isRefusal } from './refusal.ts';

/** What one destination is judged by. Times are ISO 8601. */
export interface SinkFigures {
  readonly configured: boolean;
  /** Records that it has yet to get. */
  readonly waiting: number;
  /** When the oldest of them was appended. */
  readonly oldestWaitingAt: string | null;
  readonly progress: SinkProgress;
}

/**
 * `idle`: nothing waits. `delivering`: something waits, and nothing has failed since the last success. `retrying`: it failed for
 * a reason that passes by itself. `refused`: a person has to act. `stopped`: no service runs.
 */
export type SinkState = 'idle' | 'delivering' | 'retrying' | 'refused' | 'stopped' | 'not-configured';

/** This long without a delivery while records wait needs an operator's attention. */
export const lateAfterSeconds = 120;

export function sinkState({ configured, waiting, progress }: SinkFigures, isRunning: boolean): SinkState {
  if (!configured) return 'not-configured';
  const { step, lastErrorCode: code, lastErrorAt, lastSuccessAt } = progress;
  // A batch that is taken apart to find the record that is refused counts as no failed step.
  const isFailing = step > 0 || (waiting > 0 && (lastErrorAt ?? '') > (lastSuccessAt ?? ''));
  if (isFailing && isRefusal(code)) return 'refused';
  if (!isRunning) return 'stopped';
  if (isFailing) return 'retrying';
  return waiting > 0 ? 'delivering' : 'idle';
}

/** Since when it has taken nothing: what waits was not delivered since, and nothing was since the last success. */
export function takenNothingSince({ oldestWaitingAt, progress }: SinkFigures): string | null {
  const times = [oldestWaitingAt, progress.lastSuccessAt].filter((time) => time !== null).toSorted();
  return times.at(-1) ?? progress.lastErrorAt;
}

/**
 * For how long a configured destination has taken nothing although something waits; null where nothing does.
 * @param graceSeconds that a record may wait on purpose while nothing has failed.
 */
export function lateSeconds(figures: SinkFigures, now: Date, graceSeconds = 0): number | null {
  const since = takenNothingSince(figures);
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
