/** However fast a story is told, what waits waits at least so long: a bridge looks once a second. */
export const minimumStepSeconds = 2;

/** However fast a story is told: a shorter freeze is hard to tell from a busy machine. */
export const minimumImpactSeconds = 2;
