/**
 * Whether Scheduled Events is on for the group: its first request turns it on, which may take two minutes to answer; 24 hours without
 * any turn it off, and document numbers begin again.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#enabling-and-disabling-scheduled-events
 */
export interface FeatureSwitch {
  /** Takes note of a request. @returns how many milliseconds its answer has to wait. */
  asked(now: number): number;
  /** Turns it off now, as after 24 hours. */
  switchOff(): void;
  /** How long the first answer takes from now on; 0 at start. */
  firstCallDelay(ms: number): void;
}

const idleMs = 24 * 3_600_000;

/** @param wentOff is called when it is turned off. */
export function createFeatureSwitch(wentOff: () => void): FeatureSwitch {
  let delayMs = 0;
  let readyAt: number | null = null;
  let lastAskedAt = 0;
  const switchOff = (): void => {
    readyAt = null;
    wentOff();
  };
  return {
    asked(now) {
      if (readyAt !== null && now - lastAskedAt >= idleMs) switchOff();
      readyAt ??= now + delayMs;
      lastAskedAt = now;
      return Math.max(0, readyAt - now);
    },
    switchOff,
    firstCallDelay(ms) {
      delayMs = ms;
    },
  };
}
