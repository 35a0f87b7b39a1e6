import type { IsoTime, Phase } from './record.ts';
import type { EventMemory } from './state.ts';

/** How an event that has ended was listed last. */
export interface Departure {
  /** Azure's time of the last observation in which it had not ended. */
  readonly lastListedAt: IsoTime | null;
  /** A gap lies between that observation and its departure. */
  readonly gap: boolean;
}

/**
 * The actual warning, in seconds of Azure's time: from the first observation to the earliest proof that the impact had
 * begun; without proof, until `notBefore`. Null if only bounds are known: the event was listed before the first observation, or it
 * started or left in a gap. Never negative: an event that began before it listed this VM gave no warning.
 */
export function noticeSeconds(
  memory: EventMemory,
  { phase, departure }: { readonly phase: Phase; readonly departure?: Departure },
): number | null {
  const until = endOfNotice(memory, phase, departure);
  if (memory.presentAtFirstLook || until === null) return null;
  return Math.max(0, (Date.parse(until) - Date.parse(memory.firstSeen.azureAt)) / 1000);
}

function endOfNotice(memory: EventMemory, phase: Phase, departure: Departure | undefined): IsoTime | null {
  const { notBefore } = memory.last;
  const startedAt = memory.started?.azureAt ?? null;
  const proof = earliest([memory.impactAt, startedAt]);
  // A start within a gap proves nothing earlier than itself.
  if (proof !== null) return proof === startedAt && !memory.startSeen ? null : proof;
  if (departure === undefined || phase === 'Canceled') return notBefore;
  return departure.gap ? null : earliest([notBefore, departure.lastListedAt]);
}

const earliest = (times: readonly (IsoTime | null)[]): IsoTime | null =>
  times.filter((time) => time !== null).sort()[0] ?? null;
