/** The current fault of a stand-in: until cleared, or for a number of times. */
export interface FaultQueue<F> {
  /** Replaces whatever was set. `null` clears. `times` counts the occasions on which the fault is played. */
  set(fault: F | null, times?: number): void;
  /** The fault to play now, if it fits this occasion: each answer uses up one of its times. */
  take(fits?: (fault: F) => boolean): F | null;
  /** How many were played. */
  readonly played: number;
}

export function createFaultQueue<F>(): FaultQueue<F> {
  let current: { readonly fault: F; left: number } | null = null;
  let played = 0;
  return {
    set(fault, times = Number.POSITIVE_INFINITY) {
      current = fault === null || times <= 0 ? null : { fault, left: times };
    },
    take(fits = () => true) {
      if (current === null || !fits(current.fault)) return null;
      const { fault } = current;
      current.left -= 1;
      played += 1;
      if (current.left <= 0) current = null;
      return fault;
    },
    get played() {
      return played;
    },
  };
}
