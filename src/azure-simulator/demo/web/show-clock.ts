import { type Clock, systemClock } from '../../../clock.ts';

/** The time of the show. It runs `speed` times as fast as ours, until it has caught up with it. */
export interface ShowClock extends Clock {
  /** Milliseconds since 1970, in whole seconds. */
  readonly beginsAt: number;
}

/** What is shown lies in the past, and ends when it is the present: then no time on the page is in the future. */
export function createShowClock(lengthSeconds: number, speed: number, clock: Clock = systemClock): ShowClock {
  const lengthMs = 1000 * lengthSeconds;
  const endsAt = 1000 * Math.ceil((clock.now().getTime() + lengthMs / speed) / 1000);
  return {
    beginsAt: endsAt - lengthMs,
    now() {
      const left = endsAt - clock.now().getTime();
      return new Date(endsAt - (left > 0 ? left * speed : left));
    },
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}
