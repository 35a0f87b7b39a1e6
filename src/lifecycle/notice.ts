import type { IsoTime, Phase } from './record.ts';
import type { EventMemory } from './state.ts';

/** How an event that has ended was listed last. */
export interface Departure {
  /** Azure's time of the last look at which it had not ended. */
  readonly lastListedAt: IsoTime | null;
  /** Nobody looked for a while before it was gone. */
  readonly gap: boolean;
}

/**
 * The warning really given, in seconds of Azure's time: from the first sight to the earliest proof that the impact had
 * begun; where there is none, until `notBefore`. Null where only bounds are known: it was there before we looked, or it started
 * or left while nobody looked. Never negative: an event that began before our name joined gave none.
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
  // A start that nobody saw is proof of nothing earlier than itself.
  if (proof !== null) return proof === startedAt && !memory.startSeen ? null : proof;
  if (departure === undefined || phase === 'Canceled') return notBefore;
  return departure.gap ? null : earliest([notBefore, departure.lastListedAt]);
}

const earliest = (times: readonly (IsoTime | null)[]): IsoTime | null =>
  times.filter((time) => time !== null).sort()[0] ?? null;
