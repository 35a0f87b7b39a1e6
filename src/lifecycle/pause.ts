import type { HostEvidence } from './scheduled-event.ts';

/** A pause of the VM as one observation shows it, in milliseconds. */
export interface Pause {
  readonly longestMs: number;
  readonly totalMs: number;
}

/** A pause of this length or more is evidence that an event had its impact. */
export const pauseIsEvidenceMs = 1000;

/** The machine measured a pause, or its clock was set by as much. */
export const isPauseMeasured = ({ tick, wallStepMs }: HostEvidence): boolean =>
  (tick?.longestMs ?? 0) > 0 || Math.abs(wallStepMs) >= pauseIsEvidenceMs;

// assumption: host-freeze-measured
/**
 * The pause between two observations, or null if nothing measured it. A frozen VM shows it in up to three ways: the tick
 * comes late; the wall clock, corrected by the hypervisor, runs ahead of the monotonic one; or it was not corrected and
 * Azure's `Date` runs ahead of ours. The last two are the same after an NTP step, so they count only together with a
 * late tick or with a document that was skipped. (A process stopped for 3 s shows 2,978 ms on the tick, 1 ms on wall
 * minus monotonic.)
 */
export function pauseBetween(
  host: HostEvidence,
  clue: { readonly incarnationSkipped: boolean; readonly azureRanAheadMs: number },
): Pause | null {
  const tick = host.tick ?? { longestMs: 0, totalMs: 0 };
  const corroborated = tick.longestMs > 0 || clue.incarnationSkipped;
  // Of a clock that was set by NTP one is as much ahead as the other is behind.
  const lostMs = host.wallStepMs + clue.azureRanAheadMs;
  const longestMs = corroborated ? Math.max(tick.longestMs, lostMs) : tick.longestMs;
  if (host.tick === null && longestMs < pauseIsEvidenceMs) return null;
  return { longestMs: Math.round(longestMs), totalMs: Math.round(tick.totalMs + longestMs - tick.longestMs) };
}
