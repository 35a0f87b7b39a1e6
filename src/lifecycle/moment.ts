import type { IsoTime } from './record.ts';

/** A point in time that can be compared with a later one even if this machine's clock is set. */
export interface Moment {
  /** Azure's time: the `Date` of the answer, else our clock put right by the offset known last. */
  readonly azureAt: IsoTime;
  /** Of the clock that counts from the boot of this machine; null where it was not kept. */
  readonly monotonicMs: number | null;
  readonly bootId: string | null;
}

/** Azure's `Date` has whole seconds: an offset that moves by less than this did not move. */
export const offsetNoiseSeconds = 2;

/**
 * Milliseconds from one moment to a later one: by the monotonic clock within a boot, by Azure's time across boots.
 * Negative where Azure's time went backwards and nothing else is known.
 */
export function msBetween(from: Moment, to: Moment): number {
  const ms = monotonicBetween(from, to);
  return ms !== null && ms >= 0 ? ms : Date.parse(to.azureAt) - Date.parse(from.azureAt);
}

/** By the monotonic clock alone; null if it is not comparable, as across boots. */
export function monotonicBetween(from: Omit<Moment, 'azureAt'>, to: Omit<Moment, 'azureAt'>): number | null {
  const isOneBoot = from.bootId !== null && from.bootId === to.bootId;
  return isOneBoot && from.monotonicMs !== null && to.monotonicMs !== null ? to.monotonicMs - from.monotonicMs : null;
}

/** How far Azure's time ran ahead of the monotonic clock: the time that a frozen machine lost. 0 if they are not comparable. */
export function lostBetween(from: Moment, to: Moment): number {
  const ms = monotonicBetween(from, to);
  return ms === null ? 0 : Date.parse(to.azureAt) - Date.parse(from.azureAt) - ms;
}

/** Azure's `Date` has whole seconds, and half a round trip of doubt: closer than this two clocks do not differ. */
const clockNoiseMs = 2000;

/**
 * The same for how long something lasted: the monotonic clock of a machine that is frozen may stop, and then Azure's
 * time is that much ahead.
 */
export function longestBetween(from: Moment, to: Moment): number {
  const ms = msBetween(from, to);
  const azureMs = Date.parse(to.azureAt) - Date.parse(from.azureAt);
  return azureMs - ms >= clockNoiseMs ? azureMs : ms;
}

/** Whether at most `ms` milliseconds have passed. False where there is no `from`, and where the time went backwards. */
export const isWithin = (from: Moment | null, to: Moment, ms: number): boolean =>
  from !== null && msBetween(from, to) >= 0 && msBetween(from, to) <= ms;

/** The ISO time `ms` milliseconds after another. */
export const isoAfter = (time: IsoTime, ms: number): IsoTime => new Date(Date.parse(time) + ms).toISOString();
