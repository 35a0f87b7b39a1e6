/** Between two steps at any speed: a bridge polls once a second. */
export const minimumStepSeconds = 2;

/** Of a freeze at any speed: a shorter one is hard to distinguish from a busy machine. */
export const minimumImpactSeconds = 2;
