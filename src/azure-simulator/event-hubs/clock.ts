/** Time as a namespace counts it, for what expires: a test owns it. */
export interface ServiceClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back about once a second and keeps no process alive. @returns how to stop that. */
  everySecond(act: () => void): () => void;
}

export const realClock: ServiceClock = {
  now: Date.now,
  everySecond(act) {
    const timer = setInterval(act, 1_000).unref();
    return () => clearInterval(timer);
  },
};
